import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { Writer } from "../../../../src/db/transaction.ts";
import { AppError } from "../../../../src/errors.ts";
import { carryOut } from "../../../../src/features/storage/import-export/batch-writes.ts";
import { createLog } from "../../../../src/lib/log.ts";

/** Keeps numbers; refuses those given, after it has written them. */
async function keep(numbers: readonly number[], refuses: (number: number) => Error | undefined, stopsAt = Infinity) {
  const sqlite = new Database(":memory:", { strict: true });
  sqlite.run("CREATE TABLE kept (number INTEGER)");
  const writer = new Writer(
    sqlite,
    createLog("pretty", "error", () => {}),
  );
  const [told, refused]: [number[], number[]] = [[], []];
  let commits = 0;
  const error = await carryOut(writer, numbers, {
    hasServer: false,
    deed: (_tx, number) => {
      sqlite.run("INSERT INTO kept VALUES (?1)", [number]);
      const failure = refuses(number);
      if (failure !== undefined) throw failure;
      return () => told.push(number);
    },
    onRejected: (number) => refused.push(number),
    onBegin: () => {},
    onCommitted: () => commits++,
    isStopped: () => refused.length >= stopsAt,
  }).catch((caught: unknown) => caught);
  const kept = sqlite.query<{ number: number }, []>("SELECT number FROM kept ORDER BY rowid").all();
  return { kept: kept.map(({ number }) => number), told, refused, commits, error };
}

const numbers = Array.from({ length: 100 }, (_, index) => index);

describe("deeds for many", () => {
  test("share their commits", async () => {
    const { kept, told, commits } = await keep(numbers, () => undefined);
    expect(kept).toEqual(numbers);
    expect(told).toEqual(numbers);
    expect(commits).toBeLessThan(50);
  });

  test.each([[[0]], [[99]], [[50]], [[0, 1, 2]], [[10, 11, 40, 99]], [numbers]])(
    "leave out only what is refused: %j",
    async (bad) => {
      const { kept, told, refused } = await keep(numbers, (number) =>
        bad.includes(number) ? new AppError("name_taken", "taken") : undefined,
      );
      const good = numbers.filter((number) => !bad.includes(number));
      expect({ kept, told, refused }).toEqual({ kept: good, told: good, refused: bad });
    },
  );

  test("end where they are stopped, and keep what came before", async () => {
    const refuse = (number: number) => (number === 30 ? new AppError("quota_exceeded", "full") : undefined);
    const { kept, refused } = await keep(numbers, refuse, 1);
    expect({ kept, refused }).toEqual({ kept: numbers.slice(0, 30), refused: [30] });
  });

  test("end with an error that is no item's own", async () => {
    const { kept, refused, error } = await keep(numbers, (number) =>
      number === 30 ? new AppError("disk_full", "full") : undefined,
    );
    expect({ kept, refused, error }).toMatchObject({ kept: [], refused: [], error: { reason: "disk_full" } });
  });

  test("of nothing do nothing", async () => {
    expect(await keep([], () => undefined)).toMatchObject({ kept: [], commits: 0, error: undefined });
  });
});
