import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { Writer } from "../../../../src/db/transaction.ts";
import { AppError } from "../../../../src/errors.ts";
import { writeInBatches } from "../../../../src/features/storage/import-export/batch-writes.ts";
import { createLog } from "../../../../src/lib/log.ts";
import { say } from "../../../../src/translations/say.ts";

/** Writes numbers to a table. Throws the error of a rejected number after its write. */
async function write(
  numbers: readonly number[],
  rejectionOf: (number: number) => Error | undefined,
  stopsAt = Infinity,
) {
  const sqlite = new Database(":memory:", { strict: true });
  sqlite.run("CREATE TABLE written (number INTEGER)");
  const writer = new Writer(
    sqlite,
    createLog("pretty", "error", () => {}),
  );
  const [notified, rejected]: [number[], number[]] = [[], []];
  let commits = 0;
  const error = await writeInBatches(writer, numbers, {
    hasServer: false,
    write: (_tx, number) => {
      sqlite.run("INSERT INTO written VALUES (?1)", [number]);
      const failure = rejectionOf(number);
      if (failure !== undefined) throw failure;
      return () => notified.push(number);
    },
    onRejected: (number) => rejected.push(number),
    onBegin: () => {},
    onCommitted: () => commits++,
    isStopped: () => rejected.length >= stopsAt,
  }).catch((caught: unknown) => caught);
  const rows = sqlite.query<{ number: number }, []>("SELECT number FROM written ORDER BY rowid").all();
  return { stored: rows.map(({ number }) => number), notified, rejected, commits, error };
}

const numbers = Array.from({ length: 100 }, (_, index) => index);

describe("batch writes", () => {
  test("share transactions", async () => {
    const { stored, notified, commits } = await write(numbers, () => undefined);
    expect(stored).toEqual(numbers);
    expect(notified).toEqual(numbers);
    expect(commits).toBeLessThan(50);
  });

  test.each([[[0]], [[99]], [[50]], [[0, 1, 2]], [[10, 11, 40, 99]], [numbers]])(
    "skip only rejected items: %j",
    async (bad) => {
      const { stored, notified, rejected } = await write(numbers, (number) =>
        bad.includes(number) ? new AppError("name_taken", say`taken`) : undefined,
      );
      const good = numbers.filter((number) => !bad.includes(number));
      expect({ stored, notified, rejected }).toEqual({ stored: good, notified: good, rejected: bad });
    },
  );

  test("end when they are stopped, and preserve the earlier items", async () => {
    const rejectionOf = (number: number) => (number === 30 ? new AppError("quota_exceeded", say`full`) : undefined);
    const { stored, rejected } = await write(numbers, rejectionOf, 1);
    expect({ stored, rejected }).toEqual({ stored: numbers.slice(0, 30), rejected: [30] });
  });

  test("try again where space was freed on a full disk", async () => {
    let tries = 0;
    const { stored, notified, error } = await write(numbers, (number) =>
      number === 30 && tries++ === 0 ? new AppError("disk_full", say`full`) : undefined,
    );
    expect({ stored, notified, error }).toEqual({ stored: numbers, notified: numbers, error: undefined });
  });

  test("end with an error that concerns all items", async () => {
    const { stored, rejected, error } = await write(numbers, (number) =>
      number === 30 ? new AppError("disk_full", say`full`) : undefined,
    );
    expect({ stored, rejected, error }).toMatchObject({ stored: [], rejected: [], error: { reason: "disk_full" } });
  });

  test("of no items do nothing", async () => {
    expect(await write([], () => undefined)).toMatchObject({ stored: [], commits: 0, error: undefined });
  });
});
