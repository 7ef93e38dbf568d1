/**
 * Known blobs and how many files and versions refer to each. Only `tree` counts references; garbage collection deletes
 * rows without any.
 */
import type { Database } from "bun:sqlite";
import { type Digest, digestToBytes } from "../../blobs/digest.ts";
import { invariant } from "../../lib/invariant.ts";
import type { StoredBlob } from "../model/types.ts";

/** A row of `blobs`. */
export interface BlobRow {
  readonly id: number;
  readonly sizeBytes: number;
  readonly crc32: number;
  readonly refs: number;
  readonly createdAtMs: number;
  readonly touchedAtMs: number;
  readonly damagedAtMs: number | null;
}

/** The rows of `blobs`. `acquire` and `release` are called inside a transaction. */
export class BlobRows {
  readonly #insert;
  readonly #acquire;
  readonly #change;
  readonly #find;
  readonly #unreferenced;

  constructor(sqlite: Database) {
    this.#insert = sqlite.prepare<undefined, [Uint8Array, number, number, number]>(
      `INSERT INTO blobs (digest, size_bytes, crc32, refs, created_at, touched_at) VALUES (?1, ?2, ?3, 1, ?4, ?4)
       ON CONFLICT (digest) DO NOTHING`,
    );
    this.#acquire = sqlite.prepare<undefined, [number, number, number]>(
      `UPDATE blobs SET refs = refs + 1, touched_at = ?2, damaged_at = CASE WHEN ?3 THEN NULL ELSE damaged_at END
       WHERE id = ?1`,
    );
    this.#change = sqlite.prepare<undefined, [number, number, number]>(
      "UPDATE blobs SET refs = refs + ?2, touched_at = ?3 WHERE id = ?1",
    );
    this.#find = sqlite.prepare<BlobRow, [Uint8Array]>(
      `SELECT id, size_bytes AS sizeBytes, crc32, refs, created_at AS createdAtMs, touched_at AS touchedAtMs,
         damaged_at AS damagedAtMs FROM blobs WHERE digest = ?1`,
    );
    this.#unreferenced = sqlite.prepare<{ digest: string }, [string]>(
      `SELECT j.value AS digest FROM json_each(?1) j CROSS JOIN blobs b INDEXED BY blobs_digest
        ON b.digest = unhex(j.value) WHERE b.refs = 0`,
    );
  }

  /** The committed row of a blob; undefined if there is none, even if the bytes are on disk. */
  find(digest: Digest): BlobRow | undefined {
    return this.#find.get(digestToBytes(digest)) ?? undefined;
  }

  /** Those of these blobs whose committed row has no references, in one query. */
  findUnreferenced(digests: readonly Digest[]): ReadonlySet<string> {
    return new Set(this.#unreferenced.all(JSON.stringify(digests)).map(({ digest }) => digest));
  }

  /** Adds a reference; creates the row if missing. @returns its id */
  acquire(blob: StoredBlob, nowMs: number): number {
    const digest = digestToBytes(blob.digest);
    const inserted = this.#insert.run(digest, blob.sizeBytes, blob.crc32, nowMs);
    if (inserted.changes > 0) return Number(inserted.lastInsertRowid);
    const row = this.#find.get(digest);
    invariant(row !== null && row.sizeBytes === blob.sizeBytes, "one digest has one size");
    this.#acquire.run(row.id, nowMs, blob.isNew === true ? 1 : 0);
    return row.id;
  }

  /** Adds a reference to a blob that has a row. */
  share(blobId: number, nowMs: number): void {
    this.#change.run(blobId, 1, nowMs);
  }

  /** Removes a reference. The row stays for the grace period of garbage collection. */
  release(blobId: number, nowMs: number): void {
    this.#change.run(blobId, -1, nowMs);
  }
}
