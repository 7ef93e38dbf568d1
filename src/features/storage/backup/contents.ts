/** Lists the blobs that a database names, and those in a store, by the first byte of their digests to save memory. */
import type { Database } from "bun:sqlite";
import * as fs from "node:fs";
import { join } from "node:path";
import { type Digest, digestFromBytes, digestToBytes } from "../../../blobs/digest.ts";
import { Layout } from "../../../blobs/layout.ts";
import type { BackupBlob, CopyTotals, LostContent } from "./types.ts";

/** The first bytes that digests can have, written like the names of folders: `00` to `ff`. */
export const FIRST_BYTES: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, "0"),
);

const DIGEST_BYTES = 32;
const NAMES_MAX = 5;

/** The blobs with this first byte that a database names, by digest. */
export function listNamed(sqlite: Database, firstByte: string): BackupBlob[] {
  const byte = Number.parseInt(firstByte, 16);
  const from = Buffer.alloc(DIGEST_BYTES);
  from[0] = byte;
  // Longer than any digest, so that it comes after all of them.
  const until = Buffer.alloc(DIGEST_BYTES + 1, 0xff);
  until[0] = byte;
  return sqlite
    .query<{ digest: Uint8Array; sizeBytes: number; isDamaged: number }, [Uint8Array, Uint8Array]>(
      `SELECT digest, size_bytes AS sizeBytes, damaged_at IS NOT NULL AS isDamaged FROM blobs
       WHERE digest BETWEEN ?1 AND ?2 AND refs > 0 ORDER BY digest`,
    )
    .all(from, until)
    .map((row) => ({
      digest: digestFromBytes(row.digest),
      sizeBytes: row.sizeBytes,
      isDamaged: row.isDamaged === 1,
    }));
}

/** Number and bytes of the blobs that a database names. */
export function countNamed(sqlite: Database): { contents: number; bytes: number } {
  const row = sqlite
    .query<{ contents: number; bytes: number }, []>(
      "SELECT count(*) AS contents, coalesce(sum(size_bytes), 0) AS bytes FROM blobs WHERE refs > 0",
    )
    .get();
  return row ?? { contents: 0, bytes: 0 };
}

/** The totals of a copy that has not started. */
export function newTotals(sqlite: Database): CopyTotals {
  const counts = { elsewhere: 0, already: 0, linked: 0, cloned: 0, copied: 0, unshared: 0, newBytes: 0 };
  return { ...countNamed(sqlite), ...counts, lost: [] };
}

/** Whether a database names a blob. */
export function isNamed(sqlite: Database, digest: Digest): boolean {
  return (
    sqlite
      .query<{ one: 1 }, [Uint8Array]>("SELECT 1 AS one FROM blobs WHERE digest = ?1 AND refs > 0")
      .get(digestToBytes(digest)) !== null
  );
}

/** Whether the bucket has a blob, according to a database. */
export function isInBucket(sqlite: Database, digest: Digest): boolean {
  // A database of an earlier version has no such table.
  const known = sqlite.query("SELECT 1 FROM sqlite_schema WHERE name = 'remote_blobs'").get();
  if (known === null) return false;
  return (
    sqlite
      .query<{ one: 1 }, [Uint8Array]>("SELECT 1 AS one FROM remote_blobs WHERE digest = ?1 AND leaving_at IS NULL")
      .get(digestToBytes(digest)) !== null
  );
}

/** Names of some of the files that use a blob. */
export function namesOf(sqlite: Database, digest: Digest): string[] {
  return sqlite
    .query<{ name: string }, [Uint8Array, number]>(
      `WITH b AS (SELECT id FROM blobs WHERE digest = ?1)
       SELECT name FROM nodes WHERE blob_id = (SELECT id FROM b) UNION
       SELECT n.name FROM versions v JOIN nodes n ON n.id = v.node_id WHERE v.blob_id = (SELECT id FROM b) LIMIT ?2`,
    )
    .all(digestToBytes(digest), NAMES_MAX)
    .map(({ name }) => name);
}

/** The digests of all files of a store with this first byte, from their names alone. */
export function listStored(layout: Layout, firstByte: string): Set<Digest> {
  const found = new Set<Digest>();
  const top = layout.firstByteFolder(firstByte);
  for (const second of namesIn(top)) {
    for (const name of namesIn(join(top, second))) {
      const digest = Layout.digestOf(name);
      if (digest !== undefined) found.add(digest);
    }
  }
  return found;
}

/**
 * Counts blobs that a database names and the store does not have, with the names of some. Blobs in quarantine count as
 * stored, because restoring the database returns them, and so do blobs in the bucket.
 */
export function findAbsent(sqlite: Database, layout: Layout, listMax: number): { count: number; some: LostContent[] } {
  let count = 0;
  const some: LostContent[] = [];
  for (const firstByte of FIRST_BYTES) {
    const named = listNamed(sqlite, firstByte);
    if (named.length === 0) continue;
    const stored = listStored(layout, firstByte);
    for (const { digest, sizeBytes } of named) {
      if (stored.has(digest) || fs.existsSync(layout.quarantined(digest)) || isInBucket(sqlite, digest)) continue;
      count++;
      if (some.length < listMax) some.push({ digest, sizeBytes, why: "missing", names: namesOf(sqlite, digest) });
    }
  }
  return { count, some };
}

function namesIn(folder: string): string[] {
  try {
    return fs.readdirSync(folder);
  } catch (error) {
    // The folder is missing or not a folder: there is no digest with this prefix.
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR")) return [];
    throw error;
  }
}
