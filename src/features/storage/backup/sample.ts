import type { Database } from "bun:sqlite";
import { type Digest, digestFromBytes } from "../../../blobs/digest.ts";

/** A file that is fetched to test a backup. */
export interface Sample {
  readonly accountId: number;
  readonly fileId: string;
  readonly name: string;
  readonly digest: Digest;
  readonly sizeBytes: number;
}

/** The orders in which files are chosen: newest, oldest, largest, random. */
const ORDERS = ["b.id DESC", "b.id", "b.size_bytes DESC", "random()"];
/** Excludes nodes in the trash and detached nodes, whose parents don't lead to a root. The chains are short. */
const IS_IN_TREE = `EXISTS (
  WITH RECURSIVE up (id, parent_id) AS (
    SELECT id, parent_id FROM nodes WHERE id = n.id
    UNION SELECT p.id, p.parent_id FROM nodes p JOIN up ON p.id = up.parent_id)
  SELECT 1 FROM up JOIN accounts a ON a.root_id = up.id)`;

/**
 * Chooses at most `count` files of a database: some of the newest, oldest and largest blobs, the rest at random, each
 * blob once.
 */
export function chooseSample(sqlite: Database, count: number): Sample[] {
  const chosen = new Map<Digest, Sample>();
  const shares = ORDERS.map((_, index) => Math.ceil((count * (index + 1)) / ORDERS.length));
  for (const [index, order] of ORDERS.entries()) {
    // Twice as many as needed: some are chosen already, and some blobs belong to no visible file.
    for (const row of findCandidates(sqlite, order, count * 2)) {
      if (chosen.size >= (shares[index] ?? count)) break;
      const digest = digestFromBytes(row.digest);
      const { accountId, fileId, name, sizeBytes } = row;
      if (!chosen.has(digest)) chosen.set(digest, { accountId, fileId, name, digest, sizeBytes });
    }
  }
  return [...chosen.values()];
}

interface CandidateRow {
  readonly accountId: number;
  readonly fileId: string;
  readonly name: string;
  readonly digest: Uint8Array;
  readonly sizeBytes: number;
}

function findCandidates(sqlite: Database, order: string, limit: number): CandidateRow[] {
  return sqlite
    .query<CandidateRow, [number]>(
      `WITH some AS MATERIALIZED (SELECT b.id, b.digest, b.size_bytes FROM blobs b WHERE b.refs > 0 ORDER BY ${order} LIMIT ?1)
       SELECT n.account_id AS accountId, n.public_id AS fileId, n.name, some.digest, some.size_bytes AS sizeBytes
       FROM some JOIN nodes n ON n.blob_id = some.id WHERE ${IS_IN_TREE} LIMIT ?1`,
    )
    .all(limit);
}
