import type { Database } from "bun:sqlite";
import { type Digest, digestFromBytes } from "../../../blobs/digest.ts";

/** A file whose content is fetched to see whether a backup gives it back. */
export interface Sample {
  readonly accountId: number;
  readonly fileId: string;
  readonly name: string;
  readonly digest: Digest;
  readonly sizeBytes: number;
}

/** How the candidates of a sample are found: the newest, the oldest, the largest, and from anywhere. */
const ORDERS = ["b.id DESC", "b.id", "b.size_bytes DESC", "random()"];
/** What lies in the trash, or was cut off, ends in no account's root; chains are short. */
const IS_IN_TREE = `EXISTS (
  WITH RECURSIVE up (id, parent_id) AS (
    SELECT id, parent_id FROM nodes WHERE id = n.id
    UNION SELECT p.id, p.parent_id FROM nodes p JOIN up ON p.id = up.parent_id)
  SELECT 1 FROM up JOIN accounts a ON a.root_id = up.id)`;

/**
 * Chooses files of a database, at most `count`: some of the newest, oldest and largest contents, the rest at random, each
 * content once.
 */
export function chooseSample(sqlite: Database, count: number): Sample[] {
  const chosen = new Map<Digest, Sample>();
  const shares = ORDERS.map((_, index) => Math.ceil((count * (index + 1)) / ORDERS.length));
  for (const [index, order] of ORDERS.entries()) {
    // More than needed: some are there already, and some are of no file that one could fetch.
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
