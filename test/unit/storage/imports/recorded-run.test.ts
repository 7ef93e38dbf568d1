import { expect, test } from "bun:test";
import { RecordedRun } from "../../../../src/features/storage/imports/recorded-run.ts";
import { type ImportRun, newCounts } from "../../../../src/features/storage/imports/types.ts";
import { silentLog } from "../../../../src/lib/log.ts";
import { eventually } from "../../../support/expect.ts";

/** A run, and what is recorded of it: the state with the number of imported files. */
function recordedRun(): { run: RecordedRun; records: string[] } {
  const records: string[] = [];
  const rows = {
    addProblems: () => {},
    removeProblems: () => {},
    change: (_: number, { state, counts }: { state: string; counts: { imported: number } }) =>
      void records.push(`${state} ${counts.imported}`),
  };
  const writer = { run: async <T>(work: (tx: never) => T) => work(undefined as never) };
  const clock = { nowMs: () => 0 };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a run that begins has only these
  const row = { id: 1, counts: newCounts() } as ImportRun;
  return { run: new RecordedRun({ rows, writer, clock, log: silentLog }, row), records };
}

test("what is reported soon after a record is recorded, although nothing is reported afterwards", async () => {
  // It was dropped. If the last file took long, the page showed one file too few until its end.
  const { run, records } = recordedRun();
  run.progress.report();
  await eventually("the first record", () => records.length === 1);
  run.progress.addImported(1);
  run.progress.report();
  run.progress.addImported(1);
  run.progress.report();
  await eventually("the second record", () => records.length === 2);
  expect(records).toEqual(["running 0", "running 2"]);
  await run.end("completed", null);
});
