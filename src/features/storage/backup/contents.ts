/** What a database names, and what lies in a store: both by the first byte of the digests, so that memory stays small. */
import type { Database } from "bun:sqlite";
import * as fs from "node:fs";
import { join } from "node:path";
import { type Digest, digestFromBytes, digestToBytes } from "../../../blobs/digest.ts";
import { Layout } from "../../../blobs/layout.ts";
import type { Content, LostContent } from "./types.ts";

/** The first bytes that digests may have, as folders are named: `00` to `ff`. */
export const FIRST_BYTES: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, "0"),
);

const DIGEST_BYTES = 32;
const NAMES_MAX = 5;

/** The contents that a database names under one first byte, in the order of their digests. */
export function listNamed(sqlite: Database, firstByte: string): Content[] {
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

/** How many contents a database names, and their bytes. */
export function countNamed(sqlite: Database): { contents: number; bytes: number } {
  const row = sqlite
    .query<{ contents: number; bytes: number }, []>(
      "SELECT count(*) AS contents, coalesce(sum(size_bytes), 0) AS bytes FROM blobs WHERE refs > 0",
    )
    .get();
  return row ?? { contents: 0, bytes: 0 };
}

/** Whether a database names a content. */
export function isNamed(sqlite: Database, digest: Digest): boolean {
  return (
    sqlite
      .query<{ one: 1 }, [Uint8Array]>("SELECT 1 AS one FROM blobs WHERE digest = ?1 AND refs > 0")
      .get(digestToBytes(digest)) !== null
  );
}

/** Whether a database knows a content to lie in a bucket as well, or there alone: missing here, it is not lost. */
export function isInBucket(sqlite: Database, digest: Digest): boolean {
  // A database of an earlier version knows no buckets.
  const known = sqlite.query("SELECT 1 FROM sqlite_schema WHERE name = 'remote_blobs'").get();
  if (known === null) return false;
  return (
    sqlite
      .query<{ one: 1 }, [Uint8Array]>("SELECT 1 AS one FROM remote_blobs WHERE digest = ?1 AND leaving_at IS NULL")
      .get(digestToBytes(digest)) !== null
  );
}

/** Names of some of the files that are or were a content. */
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

/** The digests of all files of a store under one first byte. Names only: no file is looked at. */
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
 * What a database names and the store has not: how many, and of some of them the names. What the collector has set aside
 * is there: going back to that database brings it back; and so is what the database knows in a bucket.
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
    // No folder: nothing begins like this. Not a folder: nothing of ours.
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR")) return [];
    throw error;
  }
}
