import type { Database } from "bun:sqlite";
import { type Digest, digestFromBytes, digestToBytes } from "../../../blobs/digest.ts";
import type { SizedBlob } from "./types.ts";

/** A blob in the bucket. */
interface RemoteRow {
  readonly sizeBytes: number;
  readonly storedAtMs: number;
  readonly verifiedAtMs: number | null;
  /** When its copy on this disk was last used; null if there is none. */
  readonly usedAtMs: number | null;
  /** The ETag without quotes; null if it was never requested. */
  readonly etag: string | null;
  /** Since when it is known to be damaged there. */
  readonly damagedAtMs: number | null;
}

/** A copy on this disk that the bucket has too. */
export interface UnusedCopy extends SizedBlob {
  readonly usedAtMs: number;
  readonly etag: string | null;
}

/** A new object in the bucket. */
interface StoredObject {
  readonly digest: Digest;
  readonly sizeBytes: number;
  /** When its copy here was last used; null without one. */
  readonly usedAtMs: number | null;
  /** The ETag without quotes; undefined if it was not requested. */
  readonly etag?: string | undefined;
}

/** The rows of `remote_blobs`. Changes are made inside the caller's transaction. */
export class RemoteRows {
  readonly #find;
  readonly #add;
  readonly #use;
  readonly #whole;
  readonly #drop;
  readonly #oldest;
  readonly #mark;
  readonly #forget;
  readonly #alone;
  readonly #blob;
  readonly #known;
  readonly #any;
  readonly #isMarkedForDeletion;
  readonly #setEtag;
  readonly #damage;
  readonly #lose;
  readonly #administrators;

  constructor(sqlite: Database) {
    this.#find = sqlite.prepare<RemoteRow, [Uint8Array]>(
      `SELECT size_bytes AS sizeBytes, stored_at AS storedAtMs, verified_at AS verifiedAtMs, used_at AS usedAtMs, etag,
         damaged_at AS damagedAtMs
       FROM remote_blobs WHERE digest = ?1 AND leaving_at IS NULL`,
    );
    this.#add = sqlite.prepare<void, [Uint8Array, number, number, number | null, string | null]>(
      `INSERT INTO remote_blobs (digest, size_bytes, stored_at, used_at, etag) VALUES (?1, ?2, ?3, ?4, ?5)
       ON CONFLICT DO UPDATE SET stored_at = ?3, used_at = ?4, etag = ?5, leaving_at = NULL, damaged_at = NULL`,
    );
    this.#use = sqlite.prepare<void, [Uint8Array, number]>("UPDATE remote_blobs SET used_at = ?2 WHERE digest = ?1");
    this.#whole = sqlite.prepare<void, [Uint8Array, number, number]>(
      `INSERT INTO remote_blobs (digest, size_bytes, stored_at, verified_at) VALUES (?1, ?3, ?2, ?2)
       ON CONFLICT DO UPDATE SET verified_at = ?2, damaged_at = NULL`,
    );
    this.#setEtag = sqlite.prepare<void, [Uint8Array, string]>("UPDATE remote_blobs SET etag = ?2 WHERE digest = ?1");
    this.#damage = sqlite.prepare<void, [Uint8Array, number]>(
      "UPDATE remote_blobs SET damaged_at = coalesce(damaged_at, ?2) WHERE digest = ?1 AND leaving_at IS NULL",
    );
    this.#lose = sqlite.prepare<void, [Uint8Array]>(
      "DELETE FROM remote_blobs WHERE digest = ?1 AND leaving_at IS NULL",
    );
    this.#drop = sqlite.prepare<void, [Uint8Array, number]>(
      `UPDATE remote_blobs SET used_at = NULL
       WHERE digest = ?1 AND used_at = ?2 AND leaving_at IS NULL AND damaged_at IS NULL`,
    );
    this.#oldest = sqlite.prepare<
      { digest: Uint8Array; sizeBytes: number; usedAtMs: number; etag: string | null },
      [number, number, number]
    >(
      `SELECT digest, size_bytes AS sizeBytes, used_at AS usedAtMs, etag FROM remote_blobs
       WHERE used_at IS NOT NULL AND used_at <= ?1 AND stored_at < ?2 AND leaving_at IS NULL AND damaged_at IS NULL
       ORDER BY used_at LIMIT ?3`,
    );
    this.#administrators = sqlite.prepare<{ id: number }, []>(
      "SELECT id FROM users WHERE role = 'admin' AND disabled_at IS NULL AND email <> ''",
    );
    this.#mark = sqlite.prepare<void, [Uint8Array, number]>(
      "UPDATE remote_blobs SET leaving_at = ?2 WHERE digest = ?1",
    );
    this.#forget = sqlite.prepare<void, [Uint8Array]>(
      "DELETE FROM remote_blobs WHERE digest = ?1 AND leaving_at IS NOT NULL",
    );
    this.#alone = sqlite.prepare<{ contents: number }, []>(
      `SELECT count(*) AS contents FROM remote_blobs r
       WHERE r.used_at IS NULL AND EXISTS (SELECT 1 FROM blobs b WHERE b.digest = r.digest)`,
    );
    this.#any = sqlite.prepare<{ one: 1 }, []>("SELECT 1 AS one FROM remote_blobs LIMIT 1");
    this.#blob = sqlite.prepare<{ sizeBytes: number }, [Uint8Array]>(
      "SELECT size_bytes AS sizeBytes FROM blobs WHERE digest = ?1",
    );
    this.#isMarkedForDeletion = sqlite.prepare<{ one: 1 }, [Uint8Array, number]>(
      "SELECT 1 AS one FROM remote_blobs WHERE digest = ?1 AND leaving_at < ?2",
    );
    this.#known = sqlite.prepare<{ one: 1 }, [Uint8Array]>("SELECT 1 AS one FROM remote_blobs WHERE digest = ?1");
  }

  /** The row of a blob that is in the bucket and not marked for deletion. */
  find(digest: Digest): RemoteRow | undefined {
    return this.#find.get(digestToBytes(digest)) ?? undefined;
  }

  /** Whether anything is in the bucket. */
  hasAny(): boolean {
    return this.#any.get() !== null;
  }

  /** Whether the store has a row for a blob. */
  isNamed(digest: Digest): boolean {
    return this.blobBytes(digest) !== undefined;
  }

  /** The size of a blob in the store. */
  blobBytes(digest: Digest): number | undefined {
    return this.#blob.get(digestToBytes(digest))?.sizeBytes;
  }

  /** Whether an object has a row, even if it is marked for deletion. */
  isKnown(digest: Digest): boolean {
    return this.#known.get(digestToBytes(digest)) !== null;
  }

  /** Records that the bucket has a whole object of a blob. */
  add({ digest, sizeBytes, usedAtMs, etag }: StoredObject, nowMs: number): void {
    this.#add.run(digestToBytes(digest), sizeBytes, nowMs, usedAtMs, etag ?? null);
  }

  /** Records the ETag of a whole object. */
  setEtag(digest: Digest, etag: string): void {
    this.#setEtag.run(digestToBytes(digest), etag);
  }

  /** Marks an object as damaged. */
  markDamaged(digest: Digest, nowMs: number): void {
    this.#damage.run(digestToBytes(digest), nowMs);
  }

  /** Deletes the row of a missing object. */
  markLost(digest: Digest): void {
    this.#lose.run(digestToBytes(digest));
  }

  /** Records when the local copy was used. */
  setUsed(digest: Digest, atMs: number): void {
    this.#use.run(digestToBytes(digest), atMs);
  }

  /** Records that an object was read and is whole; inserts a missing row. */
  noteWhole(digest: Digest, sizeBytes: number, atMs: number): void {
    this.#whole.run(digestToBytes(digest), atMs, sizeBytes);
  }

  /**
   * Records that the local copy is deleted.
   * @returns false if it was used since `usedAtMs`, or its object is damaged or marked for deletion
   */
  dropCopy(digest: Digest, usedAtMs: number): boolean {
    return this.#drop.run(digestToBytes(digest), usedAtMs).changes > 0;
  }

  /** Accounts of administrators, who are notified about the server. */
  listAdministrators(): number[] {
    return this.#administrators.all().map(({ id }) => id);
  }

  /**
   * Blobs that were stored before `storedMs` and whose local copy was not used since `untilMs`, least recently used
   * first.
   */
  listUnused(untilMs: number, storedMs: number, limit: number): UnusedCopy[] {
    return this.#oldest.all(untilMs, storedMs, limit).map((row) => ({ ...row, digest: digestFromBytes(row.digest) }));
  }

  /** Marks an object for deletion. */
  markForDeletion(digest: Digest, nowMs: number): void {
    this.#mark.run(digestToBytes(digest), nowMs);
  }

  /** Deletes the row of a deleted object. */
  remove(digest: Digest): void {
    this.#forget.run(digestToBytes(digest));
  }

  /** Whether an object is marked for deletion. */
  isMarkedForDeletion(digest: Digest, beforeMs: number): boolean {
    return this.#isMarkedForDeletion.get(digestToBytes(digest), beforeMs) !== null;
  }

  /** The number of blobs without a local copy. Scans all blobs in the bucket: only at start and for commands. */
  countRemoteOnly(): number {
    return this.#alone.get()?.contents ?? 0;
  }
}

/** Blobs that the bucket lacks, by id. Parameters: after this id, limit. For a reader's thread. */
export const UNSENT = `SELECT b.id, b.digest, b.size_bytes AS sizeBytes FROM blobs b
  WHERE b.id > ?1 AND b.refs > 0 AND b.damaged_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM remote_blobs r
      WHERE r.digest = b.digest AND r.leaving_at IS NULL AND r.damaged_at IS NULL)
  ORDER BY b.id LIMIT ?2`;

/** Blobs whose object is damaged, which must be sent again. Parameters: up to this id, limit. */
export const TO_RESEND = `SELECT b.id, b.digest, b.size_bytes AS sizeBytes
  FROM remote_blobs r INDEXED BY remote_blobs_damaged CROSS JOIN blobs b ON b.digest = r.digest
  WHERE r.damaged_at IS NOT NULL AND r.leaving_at IS NULL AND b.refs > 0 AND b.damaged_at IS NULL AND b.id <= ?1
  LIMIT ?2`;

/**
 * The number of blobs to send or to send again, each up to a limit. Parameters: the id, the limit. For a reader's
 * thread.
 */
export const UNSENT_COUNT = `SELECT (SELECT count(*) FROM (${UNSENT})) + (SELECT count(*) FROM (${TO_RESEND})) AS contents`;

/** Objects that should be in the bucket. Parameters: after this digest (in hex), up to this digest, limit. */
export const EXPECTED = `SELECT digest, size_bytes AS sizeBytes, stored_at AS storedAtMs FROM remote_blobs
  WHERE digest > unhex(?1) AND digest <= unhex(?2) AND leaving_at IS NULL AND damaged_at IS NULL ORDER BY digest LIMIT ?3`;

/**
 * Objects without a local copy that were last read before some time, least recently read first, except damaged ones.
 * Parameters: the time; the last read and the digest (in hex) of the previous row; limit.
 */
export const UNREAD_REMOTE_ONLY = `SELECT r.digest, r.size_bytes AS sizeBytes, coalesce(r.verified_at, r.stored_at) AS readAtMs
  FROM remote_blobs r INDEXED BY remote_blobs_reading
  WHERE r.used_at IS NULL AND r.leaving_at IS NULL AND r.damaged_at IS NULL
    AND coalesce(r.verified_at, r.stored_at) < ?1 AND (coalesce(r.verified_at, r.stored_at), r.digest) > (?2, unhex(?3))
    AND EXISTS (SELECT 1 FROM blobs b WHERE b.digest = r.digest AND b.refs > 0)
  ORDER BY coalesce(r.verified_at, r.stored_at), r.digest LIMIT ?4`;

/** Damaged objects without a local copy. Parameters: after this digest (in hex), limit. */
export const DAMAGED_REMOTE_ONLY = `SELECT r.digest, r.size_bytes AS sizeBytes, 0 AS readAtMs
  FROM remote_blobs r INDEXED BY remote_blobs_damaged
  WHERE r.damaged_at IS NOT NULL AND r.used_at IS NULL AND r.leaving_at IS NULL AND r.digest > unhex(?1)
    AND EXISTS (SELECT 1 FROM blobs b WHERE b.digest = r.digest AND b.refs > 0)
  ORDER BY r.digest LIMIT ?2`;

/** The number and bytes of blobs that only the bucket has. */
export const REMOTE_ONLY_TOTALS = `SELECT count(*) AS contents, ifnull(sum(r.size_bytes), 0) AS bytes
  FROM remote_blobs r INDEXED BY remote_blobs_reading
  WHERE r.used_at IS NULL AND r.leaving_at IS NULL AND EXISTS (SELECT 1 FROM blobs b WHERE b.digest = r.digest AND b.refs > 0)`;

/** Blobs that only the bucket has, by digest. Parameters: after this digest (in hex), limit. For a reader's thread. */
export const REMOTE_ONLY = `SELECT r.digest, r.size_bytes AS sizeBytes FROM remote_blobs r
  WHERE r.digest > unhex(?1) AND r.used_at IS NULL AND EXISTS (SELECT 1 FROM blobs b WHERE b.digest = r.digest)
  ORDER BY r.digest LIMIT ?2`;

/** Blobs whose local copy is damaged and that the bucket has too. Same parameters. */
export const DAMAGED_LOCAL = `SELECT b.digest, b.size_bytes AS sizeBytes FROM blobs b INDEXED BY blobs_damaged
  WHERE b.damaged_at IS NOT NULL AND b.digest > unhex(?1)
    AND EXISTS (SELECT 1 FROM remote_blobs r
      WHERE r.digest = b.digest AND r.leaving_at IS NULL AND r.damaged_at IS NULL)
  ORDER BY b.digest LIMIT ?2`;

/** Objects whose blob is neither in the store nor in quarantine. Same parameters. For a reader's thread. */
export const ORPHANS = `SELECT r.digest, r.size_bytes AS sizeBytes FROM remote_blobs r
  WHERE r.digest > unhex(?1) AND r.leaving_at IS NULL AND NOT EXISTS (SELECT 1 FROM blobs b WHERE b.digest = r.digest)
    AND NOT EXISTS (SELECT 1 FROM quarantine q WHERE q.digest = r.digest)
  ORDER BY r.digest LIMIT ?2`;

/** Objects that are marked for deletion. Same parameters. Scans all rows: only for a reader's thread. */
export const MARKED = `SELECT digest, size_bytes AS sizeBytes FROM remote_blobs
  WHERE digest > unhex(?1) AND leaving_at IS NOT NULL ORDER BY digest LIMIT ?2`;

/** All objects that are not marked for deletion. Same parameters. */
export const REMOTE = `SELECT digest, size_bytes AS sizeBytes FROM remote_blobs
  WHERE digest > unhex(?1) AND leaving_at IS NULL ORDER BY digest LIMIT ?2`;

/** The number and bytes of local copies that can be evicted. For a reader's thread. */
export const CACHED = `SELECT count(*) AS contents, ifnull(sum(size_bytes), 0) AS bytes FROM remote_blobs
  INDEXED BY remote_blobs_local WHERE used_at IS NOT NULL`;

/** The number and bytes of all blobs, of blobs in the bucket, and of blobs only in the bucket. */
export const TOTALS = `SELECT count(*) AS contents, ifnull(sum(b.size_bytes), 0) AS bytes,
    count(r.digest) AS remoteContents, ifnull(sum(r.size_bytes), 0) AS remoteBytes,
    ifnull(sum(r.digest IS NOT NULL AND r.used_at IS NULL), 0) AS remoteOnlyContents,
    ifnull(sum(CASE WHEN r.used_at IS NULL THEN r.size_bytes END), 0) AS remoteOnlyBytes
  FROM blobs b LEFT JOIN remote_blobs r ON r.digest = b.digest AND r.leaving_at IS NULL WHERE b.refs > 0`;

/**
 * The number of blobs that are still to be sent. Scans all rows: only for commands.
 * @returns undefined for a database of an earlier version
 */
export function countUnsent(sqlite: Database): number | undefined {
  const known = sqlite.query("SELECT 1 FROM pragma_table_info('remote_blobs') WHERE name = 'damaged_at'").get();
  if (known === null) return undefined;
  return sqlite.query<{ contents: number }, [number, number]>(UNSENT_COUNT).get(0, Number.MAX_SAFE_INTEGER)?.contents;
}
