import { openReadOnly } from "../../../db/open.ts";
import { listSnapshots } from "../../../db/snapshot.ts";
import { digestToBytes } from "../../../blobs/digest.ts";
import type { Log } from "../../../lib/log.ts";
import type { FileNode } from "../../../tree/model/types.ts";

/** How many snapshots one request searches, newest first. */
const SEARCHED_MAX = 8;
/** Queries between two yields to the event loop. */
const YIELD_AFTER = 50;

/**
 * The time of the newest database snapshot that has the file with its current content, by the file's public id. Files
 * in no snapshot are left out. An unreadable snapshot is skipped.
 */
export async function findInSnapshots(
  folder: string,
  files: readonly FileNode[],
  log: Log,
): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  let searched = 0;
  for (const { path, takenAtMs } of listSnapshots(folder)) {
    const missing = files.filter((file) => !found.has(file.publicId) && file.contentAtMs <= takenAtMs);
    if (missing.length === 0) continue;
    if (searched++ >= SEARCHED_MAX) break;
    try {
      for (const publicId of await findInSnapshot(path, missing)) found.set(publicId, takenAtMs);
    } catch (error) {
      log.warn("Could not read a snapshot of the database.", { path, error });
    }
  }
  return found;
}

async function findInSnapshot(path: string, files: readonly FileNode[]): Promise<string[]> {
  const db = openReadOnly(path);
  try {
    const has = db.sqlite.prepare<{ one: 1 }, [string, Uint8Array]>(
      "SELECT 1 AS one FROM nodes n JOIN blobs b ON b.id = n.blob_id WHERE n.public_id = ?1 AND b.digest = ?2",
    );
    const found: string[] = [];
    for (const [index, { publicId, digest }] of files.entries()) {
      if (has.get(publicId, digestToBytes(digest)) !== null) found.push(publicId);
      if (index % YIELD_AFTER === YIELD_AFTER - 1) await Bun.sleep(0);
    }
    return found;
  } finally {
    db.close();
  }
}
