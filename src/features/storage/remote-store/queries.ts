import type { Database } from "bun:sqlite";
import { type Digest, digestFromBytes, digestToBytes } from "../../../blobs/digest.ts";
import type { SizedBlob } from "./types.ts";

/** A blob in the bucket. */
export interface RemoteRow {
  readonly sizeBytes: number;
  readonly storedAtMs: number;
  readonly verifiedAtMs: number | null;
  /** When its copy on this disk was last used; null where there is none. */
  readonly usedAtMs: number | null;
  /** The ETag without quotes; null where it was never requested. */
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
export interface StoredObject {
  readonly digest: Digest;
  readonly sizeBytes: number;
  /** When its copy here was last used; null without one. */
  readonly usedAtMs: number | null;
  /** The ETag without quotes; undefined where it was not requested. */
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
  readonly #leave;
  readonly #forget;
  readonly #leaving;
  readonly #alone;
  readonly #blob;
  readonly #known;
  readonly #any;
  readonly #isLeaving;
  readonly #setEtag;
  readonly #damage;
  readonly #lose;
  readonly #administrators;

  constructor(sqlite: Database) {
    this.#find = sqlite.query<RemoteRow, [Uint8Array]>(
      `SELECT size_bytes AS sizeBytes, stored_at AS storedAtMs, verified_at AS verifiedAtMs, used_at AS usedAtMs, etag,
         damaged_at AS damagedAtMs
       FROM remote_blobs WHERE digest = ?1 AND leaving_at IS NULL`,
    );
    this.#add = sqlite.query<void, [Uint8Array, number, number, number | null, string | null]>(
      `INSERT INTO remote_blobs (digest, size_bytes, stored_at, used_at, etag) VALUES (?1, ?2, ?3, ?4, ?5)
       ON CONFLICT DO UPDATE SET stored_at = ?3, used_at = ?4, etag = ?5, leaving_at = NULL, damaged_at = NULL`,
    );
    this.#use = sqlite.query<void, [Uint8Array, number]>("UPDATE remote_blobs SET used_at = ?2 WHERE digest = ?1");
    this.#whole = sqlite.query<void, [Uint8Array, number, number]>(
      `INSERT INTO remote_blobs (digest, size_bytes, stored_at, verified_at) VALUES (?1, ?3, ?2, ?2)
       ON CONFLICT DO UPDATE SET verified_at = ?2, damaged_at = NULL`,
    );
    this.#setEtag = sqlite.query<void, [Uint8Array, string]>("UPDATE remote_blobs SET etag = ?2 WHERE digest = ?1");
    this.#damage = sqlite.query<void, [Uint8Array, number]>(
      "UPDATE remote_blobs SET damaged_at = coalesce(damaged_at, ?2) WHERE digest = ?1 AND leaving_at IS NULL",
    );
    this.#lose = sqlite.query<void, [Uint8Array]>("DELETE FROM remote_blobs WHERE digest = ?1 AND leaving_at IS NULL");
    this.#drop = sqlite.query<void, [Uint8Array, number]>(
      `UPDATE remote_blobs SET used_at = NULL
       WHERE digest = ?1 AND used_at = ?2 AND leaving_at IS NULL AND damaged_at IS NULL`,
    );
    this.#oldest = sqlite.query<
      { digest: Uint8Array; sizeBytes: number; usedAtMs: number; etag: string | null },
      [number, number, number]
    >(
      `SELECT digest, size_bytes AS sizeBytes, used_at AS usedAtMs, etag FROM remote_blobs
       WHERE used_at IS NOT NULL AND used_at <= ?1 AND stored_at < ?2 AND leaving_at IS NULL AND damaged_at IS NULL
       ORDER BY used_at LIMIT ?3`,
    );
    this.#administrators = sqlite.query<{ id: number }, []>(
      "SELECT id FROM users WHERE role = 'admin' AND disabled_at IS NULL AND email <> ''",
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
    this.#isLeaving = sqlite.query<{ one: 1 }, [Uint8Array]>(
      "SELECT 1 AS one FROM remote_blobs WHERE digest = ?1 AND leaving_at IS NOT NULL",
    );
    this.#known = sqlite.query<{ one: 1 }, [Uint8Array]>("SELECT 1 AS one FROM remote_blobs WHERE digest = ?1");
  }

  /** The row of a blob that is in the bucket and not marked for deletion. */
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

  /** Notes that an object was found damaged. */
  markDamaged(digest: Digest, nowMs: number): void {
    this.#damage.run(digestToBytes(digest), nowMs);
  }

  /** Notes that the bucket has lost an object. */
  lose(digest: Digest): void {
    this.#lose.run(digestToBytes(digest));
  }

  /** Notes that the copy here was used. */
  use(digest: Digest, atMs: number): void {
    this.#use.run(digestToBytes(digest), atMs);
  }

  /** Records that an object was read and is whole; inserts a missing row. */
  noteWhole(digest: Digest, sizeBytes: number, atMs: number): void {
    this.#whole.run(digestToBytes(digest), atMs, sizeBytes);
  }

  /** Notes that there is no copy here any more. @returns false where it was used since `usedAtMs`, or its object is damaged or on its way out of the bucket */
  drop(digest: Digest, usedAtMs: number): boolean {
    return this.#drop.run(digestToBytes(digest), usedAtMs).changes > 0;
  }

  /** Accounts that are notified of what concerns the server. */
  listAdministrators(): number[] {
    return this.#administrators.all().map(({ id }) => id);
  }

  /** Those that were stored before `storedMs` and whose copy here was not used since `untilMs`, the longest unused first. */
  listUnused(untilMs: number, storedMs: number, limit: number): UnusedCopy[] {
    return this.#oldest.all(untilMs, storedMs, limit).map((row) => ({ ...row, digest: digestFromBytes(row.digest) }));
  }

  /** Marks an object for deletion. */
  leave(digest: Digest, nowMs: number): void {
    this.#leave.run(digestToBytes(digest), nowMs);
  }

  /** Deletes the row of a deleted object. */
  forget(digest: Digest): void {
    this.#forget.run(digestToBytes(digest));
  }

  /** Whether an object is marked for deletion. */
  isLeaving(digest: Digest): boolean {
    return this.#isLeaving.get(digestToBytes(digest)) !== null;
  }

  /** Objects that are marked for deletion. */
  listLeaving(limit: number): SizedBlob[] {
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
    AND NOT EXISTS (SELECT 1 FROM remote_blobs r
      WHERE r.digest = b.digest AND r.leaving_at IS NULL AND r.damaged_at IS NULL)
  ORDER BY b.id LIMIT ?2`;

/** Contents up to an id whose object is damaged and is to be sent again; parameters: that id, and how many. */
export const RESENT = `SELECT b.id, b.digest, b.size_bytes AS sizeBytes
  FROM remote_blobs r INDEXED BY remote_blobs_damaged CROSS JOIN blobs b ON b.digest = r.digest
  WHERE r.damaged_at IS NOT NULL AND r.leaving_at IS NULL AND b.refs > 0 AND b.damaged_at IS NULL AND b.id <= ?1
  LIMIT ?2`;

/** How many of both there are, each at most so many; parameters: that id, and that limit. For a reader's thread. */
export const UNMOVED_COUNT = `SELECT (SELECT count(*) FROM (${UNMOVED})) + (SELECT count(*) FROM (${RESENT})) AS contents`;

/** Objects that should be in the bucket; parameters: after which digest (in hex), up to which, and how many. */
export const EXPECTED = `SELECT digest, size_bytes AS sizeBytes, stored_at AS storedAtMs FROM remote_blobs
  WHERE digest > unhex(?1) AND digest <= unhex(?2) AND leaving_at IS NULL AND damaged_at IS NULL ORDER BY digest LIMIT ?3`;

/**
 * Objects without a copy on this disk that were last read before some instant, the longest unread first; parameters: that
 * instant, after which reading, after which digest (in hex), and how many. Without what is known to be damaged.
 */
export const UNREAD = `SELECT r.digest, r.size_bytes AS sizeBytes, coalesce(r.verified_at, r.stored_at) AS readAtMs
  FROM remote_blobs r INDEXED BY remote_blobs_reading
  WHERE r.used_at IS NULL AND r.leaving_at IS NULL AND r.damaged_at IS NULL
    AND coalesce(r.verified_at, r.stored_at) < ?1 AND (coalesce(r.verified_at, r.stored_at), r.digest) > (?2, unhex(?3))
    AND EXISTS (SELECT 1 FROM blobs b WHERE b.digest = r.digest AND b.refs > 0)
  ORDER BY coalesce(r.verified_at, r.stored_at), r.digest LIMIT ?4`;

/** Those of them that are known to be damaged; parameters: after which digest (in hex), and how many. */
export const DAMAGED_ALONE = `SELECT r.digest, r.size_bytes AS sizeBytes, 0 AS readAtMs
  FROM remote_blobs r INDEXED BY remote_blobs_damaged
  WHERE r.damaged_at IS NOT NULL AND r.used_at IS NULL AND r.leaving_at IS NULL AND r.digest > unhex(?1)
    AND EXISTS (SELECT 1 FROM blobs b WHERE b.digest = r.digest AND b.refs > 0)
  ORDER BY r.digest LIMIT ?2`;

/** Contents and bytes of which the bucket has the only copy. */
export const ALONE = `SELECT count(*) AS contents, ifnull(sum(r.size_bytes), 0) AS bytes
  FROM remote_blobs r INDEXED BY remote_blobs_reading
  WHERE r.used_at IS NULL AND r.leaving_at IS NULL AND EXISTS (SELECT 1 FROM blobs b WHERE b.digest = r.digest AND b.refs > 0)`;

/** Contents that are in the bucket alone, by digest; parameters: after which digest (in hex), and how many. For a reader's thread. */
export const AWAY = `SELECT r.digest, r.size_bytes AS sizeBytes FROM remote_blobs r
  WHERE r.digest > unhex(?1) AND r.used_at IS NULL AND EXISTS (SELECT 1 FROM blobs b WHERE b.digest = r.digest)
  ORDER BY r.digest LIMIT ?2`;

/** Contents that were found damaged here, and are in the bucket, too; parameters as before. */
export const DAMAGED = `SELECT b.digest, b.size_bytes AS sizeBytes FROM blobs b INDEXED BY blobs_damaged
  WHERE b.damaged_at IS NOT NULL AND b.digest > unhex(?1)
    AND EXISTS (SELECT 1 FROM remote_blobs r
      WHERE r.digest = b.digest AND r.leaving_at IS NULL AND r.damaged_at IS NULL)
  ORDER BY b.digest LIMIT ?2`;

/** Objects in the bucket whose content is not in the store any more, nor set aside by the collector. For a reader's thread. */
export const ORPHANS = `SELECT r.digest, r.size_bytes AS sizeBytes FROM remote_blobs r
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

/**
 * How many contents lie on this disk alone, and are to go to the bucket. Goes through all rows: for commands.
 * @returns undefined where the database is of an earlier version
 */
export function countOnlyHere(sqlite: Database): number | undefined {
  const known = sqlite.query("SELECT 1 FROM pragma_table_info('remote_blobs') WHERE name = 'damaged_at'").get();
  if (known === null) return undefined;
  return sqlite.query<{ contents: number }, [number, number]>(UNMOVED_COUNT).get(0, Number.MAX_SAFE_INTEGER)?.contents;
}
