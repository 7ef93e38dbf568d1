import type { Database } from "bun:sqlite";
import { type Digest, digestFromBytes, digestToBytes } from "../../blobs/digest.ts";
import type { PlacedContent } from "./types.ts";

/** A content in the bucket. */
export interface RemoteRow {
  readonly sizeBytes: number;
  readonly storedAtMs: number;
  readonly verifiedAtMs: number | null;
  /** When its copy on this disk was last used; null where there is none. */
  readonly usedAtMs: number | null;
}

/** The rows of `remote_blobs`. Changes are made inside a deed. */
export class RemoteRows {
  readonly #find;
  readonly #add;
  readonly #use;
  readonly #whole;
  readonly #drop;
  readonly #oldest;
  readonly #leave;
  readonly #forget;
  readonly #leaving;
  readonly #alone;
  readonly #blob;
  readonly #known;
  readonly #any;

  constructor(sqlite: Database) {
    this.#find = sqlite.query<RemoteRow, [Uint8Array]>(
      `SELECT size_bytes AS sizeBytes, stored_at AS storedAtMs, verified_at AS verifiedAtMs, used_at AS usedAtMs
       FROM remote_blobs WHERE digest = ?1 AND leaving_at IS NULL`,
    );
    this.#add = sqlite.query<void, [Uint8Array, number, number, number | null]>(
      `INSERT INTO remote_blobs (digest, size_bytes, stored_at, used_at) VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT DO UPDATE SET stored_at = ?3, used_at = ?4, leaving_at = NULL`,
    );
    this.#use = sqlite.query<void, [Uint8Array, number]>("UPDATE remote_blobs SET used_at = ?2 WHERE digest = ?1");
    this.#whole = sqlite.query<void, [Uint8Array, number, number]>(
      `INSERT INTO remote_blobs (digest, size_bytes, stored_at, verified_at) VALUES (?1, ?3, ?2, ?2)
       ON CONFLICT DO UPDATE SET verified_at = ?2`,
    );
    this.#drop = sqlite.query<void, [Uint8Array, number]>(
      "UPDATE remote_blobs SET used_at = NULL WHERE digest = ?1 AND used_at = ?2 AND leaving_at IS NULL",
    );
    this.#oldest = sqlite.query<{ digest: Uint8Array; sizeBytes: number; usedAtMs: number }, [number, number, number]>(
      `SELECT digest, size_bytes AS sizeBytes, used_at AS usedAtMs FROM remote_blobs
       WHERE used_at IS NOT NULL AND used_at <= ?1 AND stored_at < ?2 AND leaving_at IS NULL ORDER BY used_at LIMIT ?3`,
    );
    this.#leave = sqlite.query<void, [Uint8Array, number]>("UPDATE remote_blobs SET leaving_at = ?2 WHERE digest = ?1");
    this.#forget = sqlite.query<void, [Uint8Array]>(
      "DELETE FROM remote_blobs WHERE digest = ?1 AND leaving_at IS NOT NULL",
    );
    this.#leaving = sqlite.query<{ digest: Uint8Array; sizeBytes: number }, [number]>(
      "SELECT digest, size_bytes AS sizeBytes FROM remote_blobs WHERE leaving_at IS NOT NULL LIMIT ?1",
    );
    this.#alone = sqlite.query<{ contents: number }, []>(
      `SELECT count(*) AS contents FROM remote_blobs r
       WHERE r.used_at IS NULL AND EXISTS (SELECT 1 FROM blobs b WHERE b.digest = r.digest)`,
    );
    this.#any = sqlite.query<{ one: 1 }, []>("SELECT 1 AS one FROM remote_blobs LIMIT 1");
    this.#blob = sqlite.query<{ sizeBytes: number }, [Uint8Array]>(
      "SELECT size_bytes AS sizeBytes FROM blobs WHERE digest = ?1",
    );
    this.#known = sqlite.query<{ one: 1 }, [Uint8Array]>("SELECT 1 AS one FROM remote_blobs WHERE digest = ?1");
  }

  /** A content that is in the bucket and stays there. */
  find(digest: Digest): RemoteRow | undefined {
    return this.#find.get(digestToBytes(digest)) ?? undefined;
  }

  /** Whether anything is in the bucket. */
  hasAny(): boolean {
    return this.#any.get() !== null;
  }

  /** Whether a content is one of the store's. */
  isNamed(digest: Digest): boolean {
    return this.blobBytes(digest) !== undefined;
  }

  /** Length of a content of the store. */
  blobBytes(digest: Digest): number | undefined {
    return this.#blob.get(digestToBytes(digest))?.sizeBytes;
  }

  /** Whether there is a row of an object, be it on its way out. */
  isKnown(digest: Digest): boolean {
    return this.#known.get(digestToBytes(digest)) !== null;
  }

  /** Notes that the bucket has a content. @param usedAtMs when its copy here was last used; null without one */
  add(digest: Digest, sizeBytes: number, nowMs: number, usedAtMs: number | null): void {
    this.#add.run(digestToBytes(digest), sizeBytes, nowMs, usedAtMs);
  }

  /** Notes that the copy here was used. */
  use(digest: Digest, atMs: number): void {
    this.#use.run(digestToBytes(digest), atMs);
  }

  /** Notes that all of it was read from the bucket and found whole; one that was not known to be there is from now on. */
  noteWhole(digest: Digest, sizeBytes: number, atMs: number): void {
    this.#whole.run(digestToBytes(digest), atMs, sizeBytes);
  }

  /** Notes that there is no copy here any more. @returns false where it was used since `usedAtMs`, or is on its way out of the bucket */
  drop(digest: Digest, usedAtMs: number): boolean {
    return this.#drop.run(digestToBytes(digest), usedAtMs).changes > 0;
  }

  /** Those that were stored before `storedMs` and whose copy here was not used since `untilMs`, the longest unused first. */
  listUnused(untilMs: number, storedMs: number, limit: number): (PlacedContent & { readonly usedAtMs: number })[] {
    return this.#oldest.all(untilMs, storedMs, limit).map((row) => ({ ...row, digest: digestFromBytes(row.digest) }));
  }

  /** Notes that a content is to be removed from the bucket. */
  leave(digest: Digest, nowMs: number): void {
    this.#leave.run(digestToBytes(digest), nowMs);
  }

  /** Forgets one that was removed from the bucket. */
  forget(digest: Digest): void {
    this.#forget.run(digestToBytes(digest));
  }

  /** Those that are to be removed from the bucket. */
  listLeaving(limit: number): PlacedContent[] {
    return this.#leaving.all(limit).map((row) => ({ ...row, digest: digestFromBytes(row.digest) }));
  }

  /** How many contents of the store have no copy here. Goes through all that are in the bucket: at start and for commands. */
  countAlone(): number {
    return this.#alone.get()?.contents ?? 0;
  }
}

/** Contents that the bucket has not, by id; parameters: after which id, and how many. For a reader's thread. */
export const UNMOVED = `SELECT b.id, b.digest, b.size_bytes AS sizeBytes FROM blobs b
  WHERE b.id > ?1 AND b.refs > 0 AND b.damaged_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM remote_blobs r WHERE r.digest = b.digest AND r.leaving_at IS NULL)
  ORDER BY b.id LIMIT ?2`;

/** How many of them there are, at most so many; parameters: after which id, and that limit. For a reader's thread. */
export const UNMOVED_COUNT = `SELECT count(*) AS contents FROM (${UNMOVED})`;

/** Contents that are in the bucket alone, by digest; parameters: after which digest (in hex), and how many. For a reader's thread. */
export const AWAY = `SELECT r.digest, r.size_bytes AS sizeBytes FROM remote_blobs r
  WHERE r.digest > unhex(?1) AND r.used_at IS NULL AND EXISTS (SELECT 1 FROM blobs b WHERE b.digest = r.digest)
  ORDER BY r.digest LIMIT ?2`;

/** Contents that were found damaged here, and are in the bucket, too; parameters as before. */
export const DAMAGED = `SELECT b.digest, b.size_bytes AS sizeBytes FROM blobs b INDEXED BY blobs_damaged
  WHERE b.damaged_at IS NOT NULL AND b.digest > unhex(?1)
    AND EXISTS (SELECT 1 FROM remote_blobs r WHERE r.digest = b.digest AND r.leaving_at IS NULL)
  ORDER BY b.digest LIMIT ?2`;

/** Objects in the bucket whose content is not in the store any more, nor set aside by the collector. For a reader's thread. */
export const UNNAMED = `SELECT r.digest, r.size_bytes AS sizeBytes FROM remote_blobs r
  WHERE r.digest > unhex(?1) AND NOT EXISTS (SELECT 1 FROM blobs b WHERE b.digest = r.digest)
    AND NOT EXISTS (SELECT 1 FROM quarantine q WHERE q.digest = r.digest)
  ORDER BY r.digest LIMIT ?2`;

/** All that is in the bucket and stays there; parameters as before. */
export const REMOTE = `SELECT digest, size_bytes AS sizeBytes FROM remote_blobs
  WHERE digest > unhex(?1) AND leaving_at IS NULL ORDER BY digest LIMIT ?2`;

/** Contents and bytes of copies here that could be let go. For a reader's thread. */
export const CACHED = `SELECT count(*) AS contents, ifnull(sum(size_bytes), 0) AS bytes FROM remote_blobs
  INDEXED BY remote_blobs_local WHERE used_at IS NOT NULL`;

/** Contents and bytes in the store, in the bucket, and in the bucket alone. */
export const TOTALS = `SELECT count(*) AS contents, ifnull(sum(b.size_bytes), 0) AS bytes,
    count(r.digest) AS remoteContents, ifnull(sum(r.size_bytes), 0) AS remoteBytes,
    ifnull(sum(r.digest IS NOT NULL AND r.used_at IS NULL), 0) AS awayContents,
    ifnull(sum(CASE WHEN r.used_at IS NULL THEN r.size_bytes END), 0) AS awayBytes
  FROM blobs b LEFT JOIN remote_blobs r ON r.digest = b.digest AND r.leaving_at IS NULL WHERE b.refs > 0`;
