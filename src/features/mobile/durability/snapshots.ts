import { openReadOnly } from "../../../db/open.ts";
import { listSnapshots } from "../../../db/snapshot.ts";
import { digestToBytes } from "../../../blobs/digest.ts";
import type { Log } from "../../../lib/log.ts";
import type { FileNode } from "../../../tree/model/types.ts";

/** Snapshots that one question looks into, the newest. */
const LOOKED_INTO_MAX = 8;
/** Look-ups between which others have their turn. */
const PIECE = 50;

/**
 * When the newest copy of the database was taken that really has this file with this content, by the file's public id.
 * What no copy has is left out. A copy that can't be read counts as none.
 */
export async function findInSnapshots(
  folder: string,
  files: readonly FileNode[],
  log: Log,
): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  let looked = 0;
  for (const { path, takenAtMs } of listSnapshots(folder)) {
    const missing = files.filter((file) => !found.has(file.publicId) && file.contentAtMs <= takenAtMs);
    if (missing.length === 0) continue;
    if (looked++ >= LOOKED_INTO_MAX) break;
    try {
      for (const publicId of await lookInto(path, missing)) found.set(publicId, takenAtMs);
    } catch (error) {
      log.warn("Could not read a snapshot of the database.", { path, error });
    }
  }
  return found;
}

async function lookInto(path: string, files: readonly FileNode[]): Promise<string[]> {
  const db = openReadOnly(path);
  try {
    const has = db.sqlite.prepare<{ one: 1 }, [string, Uint8Array]>(
      "SELECT 1 AS one FROM nodes n JOIN blobs b ON b.id = n.blob_id WHERE n.public_id = ?1 AND b.digest = ?2",
    );
    const found: string[] = [];
    for (const [index, { publicId, digest }] of files.entries()) {
      if (has.get(publicId, digestToBytes(digest)) !== null) found.push(publicId);
      if (index % PIECE === PIECE - 1) await Bun.sleep(0);
    }
    return found;
  } finally {
    db.close();
  }
}
