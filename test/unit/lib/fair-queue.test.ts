import { expect, test } from "bun:test";
import { FairQueue } from "../../../src/lib/fair-queue.ts";

/** Tasks that end when the test says so, in the order in which they started. */
function setUp(limits: { runningMax: number; waitingMax: number }) {
  const queue = new FairQueue(limits);
  const begun: string[] = [];
  const refused: string[] = [];
  const ends: (() => void)[] = [];
  const add = (line: string, name = line) =>
    queue
      .run(
        line,
        () => {
          begun.push(name);
          return new Promise<void>((resolve) => ends.push(resolve));
        },
        () => new Error("full"),
      )
      .catch(() => void refused.push(name));
  const turns = async () => {
    for (let i = 0; i < 10; i++) await Promise.resolve();
  };
  const endOne = async () => {
    ends.shift()?.();
    await turns();
  };
  return { add, begun, refused, endOne, turns };
}

test("a queue of hundreds delays another key by one task", async () => {
  // Once sign-ins from one address filled the queue for password hashes: others waited 5 s or got 503.
  const { add, begun, endOne } = setUp({ runningMax: 1, waitingMax: 300 });
  for (let i = 0; i < 200; i++) void add("attacker");
  void add("owner");
  void add("neighbour");
  for (let i = 0; i < 4; i++) await endOne();
  expect(begun).toEqual(["attacker", "attacker", "owner", "neighbour", "attacker"]);
});

test("a full queue drops the last task of the longest line in favor of a shorter line", async () => {
  const { add, begun, refused, endOne, turns } = setUp({ runningMax: 1, waitingMax: 5 });
  for (let i = 0; i < 7; i++) void add("attacker", `attacker ${i}`);
  void add("owner");
  await turns();
  expect(refused).toEqual(["attacker 6", "attacker 5"]);
  for (let i = 0; i < 6; i++) await endOne();
  expect(begun).toEqual(["attacker 0", "attacker 1", "owner", "attacker 2", "attacker 3", "attacker 4"]);
});

test("a full queue rejects a task if no other line is longer", async () => {
  const { add, refused, turns } = setUp({ runningMax: 1, waitingMax: 3 });
  for (const line of ["a", "a", "b", "c", "d"]) void add(line);
  await turns();
  expect(refused).toEqual(["d"]);
});

test("as many tasks run concurrently as allowed, also after an error", async () => {
  const queue = new FairQueue({ runningMax: 2, waitingMax: 10 });
  let running = 0;
  let most = 0;
  const outcomes = await Promise.allSettled(
    Array.from({ length: 9 }, (_, i) =>
      queue.run(
        `${i % 3}`,
        async () => {
          most = Math.max(most, ++running);
          await Promise.resolve();
          running--;
          if (i % 2 === 0) throw new Error("failed");
        },
        () => new Error("full"),
      ),
    ),
  );
  expect(most).toBe(2);
  expect(outcomes.filter(({ status }) => status === "rejected")).toHaveLength(5);
});

test("work that waits leaves the queue when its signal is aborted", async () => {
  // Pausing or canceling an import that waited for others did not respond before they had ended.
  const queue = new FairQueue({ runningMax: 1, waitingMax: 1 });
  const { promise: isEnded, resolve: end } = Promise.withResolvers<void>();
  const full = () => new Error("full");
  const running = queue.run("a", () => isEnded, full);
  const controller = new AbortController();
  const waiting = queue.run("b", async () => "ran", full, controller.signal);
  controller.abort(new Error("canceled"));
  expect(await waiting.catch(String)).toBe("Error: canceled");
  const next = queue.run("c", async () => "ran", full);
  end();
  await running;
  expect(await next).toBe("ran");
});
