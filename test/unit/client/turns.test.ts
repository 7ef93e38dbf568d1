import { expect, test } from "bun:test";
import { Turns } from "../../../src/client/entries/collection/turns.ts";

/** Tasks that end when the test says so, and what began so far. */
function openTasks(turns: Turns) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const begin = (name: string, signal = new AbortController().signal) =>
    turns.take(signal, async () => {
      begun.push(name);
      const { promise, resolve } = Promise.withResolvers<void>();
      ends.set(name, resolve);
      await promise;
      return name;
    });
  return { begun, begin, end: (name: string) => ends.get(name)?.() };
}

test("as many run as may; of those that wait, the last one is next", async () => {
  const { begun, begin, end } = openTasks(new Turns(2));
  const all = ["a", "b", "c", "d"].map((name) => begin(name));
  expect(begun).toEqual(["a", "b"]);
  end("a");
  expect(await all[0]).toBe("a");
  await Bun.sleep(0);
  expect(begun).toEqual(["a", "b", "d"]);
  end("b");
  await all[1];
  await Bun.sleep(0);
  expect(begun).toEqual(["a", "b", "d", "c"]);
  end("d");
  end("c");
  await Promise.all(all);
  const later = begin("e");
  expect(begun.at(-1)).toBe("e");
  end("e");
  await later;
});

test("a task that fails, and one that is no longer wanted, leave their turn to others", async () => {
  const turns = new Turns(1);
  const { begun, begin, end } = openTasks(turns);
  const failing = turns.take(new AbortController().signal, async () => {
    await Bun.sleep(0);
    throw new Error("failed");
  });
  const gone = new AbortController();
  const [first, unwanted] = [begin("first"), begin("unwanted", gone.signal)];
  gone.abort(new Error("gone"));
  expect(unwanted).rejects.toThrow("gone");
  expect(failing).rejects.toThrow("failed");
  await failing.catch(() => {});
  await Bun.sleep(0);
  expect(begun).toEqual(["first"]);

  // One is aborted at the moment at which its turn comes.
  const late = new AbortController();
  const [second, aborted] = [begin("second"), begin("aborted", late.signal)];
  end("first");
  await first;
  late.abort(new Error("late"));
  expect(aborted).rejects.toThrow("late");
  await aborted.catch(() => {});
  await Bun.sleep(0);
  expect(begun.at(-1)).toBe("second");
  end("second");
  await second;
});
