/**
 * What a server costs while nobody uses it, by the number of files: the database on the disk, a start, memory, and the
 * snapshots of the database that are taken while it changes.
 */
import { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Bench } from "../bench.ts";
import type { Larder } from "../larder.ts";
import { anonymousMib, median, peakResidentMib, residentMib } from "../measure.ts";
import { run } from "../processes.ts";
import { formatAmount } from "../table.ts";

const STARTS = 3;
/** Jobs that are due run right after the start. */
const SETTLE_MS = 10_000;
const MB = 1e6;

export interface AtRest {
  files: number;
  databaseMb: number;
  /** Of it, the journal of changes for synchronization. */
  journalMb: number;
  startMs: number;
  anonymousMib: number;
  residentMib: number;
  /** Of all operations before. */
  peakMib: number;
  snapshotSeconds: number;
  snapshotCpuSeconds: number;
}

/** Stops the server, and starts it again. */
export async function measureAtRest(bench: Bench, larder: Larder, files: number): Promise<[Larder, AtRest]> {
  const peakMib = peakResidentMib(larder.pid);
  await larder.stop();
  const database = join(larder.directory, "data", "larder.db");
  const sizes = { databaseMb: statSync(database).size / MB, journalMb: journalBytes(database) / MB };
  const snapshot = await measureSnapshot(database, bench.directory("snapshot"));
  const startsMs: number[] = [];
  let last = larder;
  for (let number = 1; number <= STARTS; number += 1) {
    if (number > 1) await last.stop();
    last = await bench.startLarder(larder.subject, larder);
    startsMs.push(last.startMs);
  }
  await Bun.sleep(SETTLE_MS);
  const startMs = median(startsMs);
  const memory = { anonymousMib: anonymousMib(last.pid), residentMib: residentMib(last.pid), peakMib };
  return [last, { files, ...sizes, startMs, ...memory, ...snapshot }];
}

function journalBytes(path: string): number {
  const database = new Database(path, { readonly: true });
  const [found] = database
    .query<{ bytes: number }, []>(
      `SELECT sum(pgsize) AS bytes FROM dbstat
        WHERE aggregate = TRUE AND name IN (SELECT name FROM sqlite_schema WHERE tbl_name = 'journal')`,
    )
    .all();
  database.close();
  return found?.bytes ?? 0;
}

/** Takes a snapshot as the server does, in a process of its own. */
async function measureSnapshot(database: string, folder: string) {
  const source = join(import.meta.dir, "..", "..", "..", "src", "db", "snapshot.ts");
  const code = `import { takeSnapshotOf } from ${JSON.stringify(source)};
    const [startedAt, before] = [performance.now(), process.cpuUsage()];
    takeSnapshotOf(...${JSON.stringify([database, folder, "bench"])});
    const { user, system } = process.cpuUsage(before);
    console.log(JSON.stringify([(performance.now() - startedAt) / 1000, (user + system) / 1e6]));`;
  const [snapshotSeconds = 0, snapshotCpuSeconds = 0]: number[] = JSON.parse(await run([process.execPath, "-e", code]));
  return { snapshotSeconds, snapshotCpuSeconds };
}

/** A table for docs/scaling.md. */
export function renderAtRest(sizes: AtRest[]): string {
  const lines: [string, keyof AtRest][] = [
    ["database, MB", "databaseMb"],
    ["of it the journal of changes, MB", "journalMb"],
    ["start to the first listing, ms", "startMs"],
    ["anonymous memory at rest, MiB", "anonymousMib"],
    ["resident memory at rest, MiB", "residentMib"],
    ["peak of resident memory, MiB", "peakMib"],
    ["snapshot of the database, s", "snapshotSeconds"],
    ["CPU time of the snapshot, s", "snapshotCpuSeconds"],
  ];
  const header = ["at rest", ...sizes.map(({ files }) => `${files.toLocaleString("en")} files`)];
  const rule = header.map((_, column) => (column === 0 ? "---" : "---:"));
  const rows = lines.map(([name, key]) => [name, ...sizes.map((size) => formatAmount(size[key]))]);
  return [header, rule, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
