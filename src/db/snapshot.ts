import type { Database } from "bun:sqlite";
import * as fs from "node:fs";
import { join } from "node:path";

/** A copy of the database in `snapshots/`. */
export interface Snapshot {
  readonly path: string;
  /** When it was taken: it holds everything that was committed before. */
  readonly takenAtMs: number;
}

const NAME = /^larder-(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d)-(\d{3})Z-.*\.db$/;

/** The finished copies in `folder`, newest first; none where there is no such folder. */
export function listSnapshots(folder: string): Snapshot[] {
  if (!fs.existsSync(folder)) return [];
  return fs
    .readdirSync(folder)
    .flatMap((name) => {
      const takenAtMs = Date.parse(name.replace(NAME, "$1:$2:$3.$4Z"));
      return NAME.test(name) && !Number.isNaN(takenAtMs) ? [{ path: join(folder, name), takenAtMs }] : [];
    })
    .sort((a, b) => b.takenAtMs - a.takenAtMs);
}

/**
 * Copies the whole database, consistent, into `folder`, and makes the copy durable. It blocks for the length of the
 * copying: for the start of the program.
 * @returns the path of the copy
 */
export function takeSnapshot(sqlite: Database, folder: string, label: string): string {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stamp = new Date().toISOString().replaceAll(/[:.]/g, "-");
  const path = join(folder, `larder-${stamp}-${label}.db`);
  const partial = `${path}.partial`;
  sqlite.query("VACUUM INTO ?1").run(partial);
  for (const place of [partial, folder]) {
    const fd = fs.openSync(place, "r");
    try {
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
    if (place === partial) fs.renameSync(partial, path);
  }
  return path;
}
