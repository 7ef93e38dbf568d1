import type { Database } from "bun:sqlite";
import * as fs from "node:fs";
import { join } from "node:path";

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
