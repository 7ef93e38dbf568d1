import type { Database } from "bun:sqlite";
import type { BlobIndex } from "../../../blobs/blob-store.ts";
import { type Digest, digestFromBytes, digestToBytes } from "../../../blobs/digest.ts";

/** A blob without references. */
export interface UnreferencedBlob {
  readonly id: number;
  readonly digest: Digest;
  readonly sizeBytes: number;
  /** When its last reference was deleted. */
  readonly touchedAtMs: number;
}

/**
 * The rows of blobs, for the store, integrity checks and garbage collection. The tree counts their references.
 */
export class BlobRows implements BlobIndex {
  readonly #find;
  readonly #mark;
  readonly #verify;
  readonly #health;
  readonly #unreferenced;
  readonly #delete;
  readonly #quarantine;
  readonly #quarantined;
  readonly #forget;
  readonly #damaged;
  /** Blobs that may be damaged; the row says whether one was healed since. Usually empty. */
  #suspects = new Set<Digest>();

  constructor(sqlite: Database) {
    this.#find = sqlite.prepare<{ sizeBytes: number; damagedAt: number | null }, [Uint8Array]>(
      "SELECT size_bytes AS sizeBytes, damaged_at AS damagedAt FROM blobs WHERE digest = ?1",
    );
    this.#mark = sqlite.prepare<void, [Uint8Array, number | null]>(
      "UPDATE blobs SET damaged_at = ?2 WHERE digest = ?1",
    );
    this.#verify = sqlite.prepare<void, [Uint8Array, number]>(
      "UPDATE blobs SET verified_at = ?2, damaged_at = NULL WHERE digest = ?1",
    );
    this.#health = sqlite.prepare<{ verifiedAtMs: number | null; damagedAtMs: number | null }, [Uint8Array]>(
      "SELECT verified_at AS verifiedAtMs, damaged_at AS damagedAtMs FROM blobs WHERE digest = ?1",
    );
    // By index blobs_unreferenced: only what waits for collection is in it.
    this.#unreferenced = sqlite.prepare<
      { id: number; digest: Uint8Array; sizeBytes: number; touchedAtMs: number },
      [number, number, number, number]
    >(
      `SELECT id, digest, size_bytes AS sizeBytes, touched_at AS touchedAtMs FROM blobs INDEXED BY blobs_unreferenced
       WHERE refs = 0 AND touched_at <= ?1 AND (touched_at, id) > (?2, ?3) ORDER BY touched_at, id LIMIT ?4`,
    );
    this.#delete = sqlite.prepare<void, [number, number]>(
      "DELETE FROM blobs WHERE id = ?1 AND refs = 0 AND touched_at = ?2",
    );
    this.#quarantine = sqlite.prepare<void, [Uint8Array, number, number]>(
      "INSERT OR REPLACE INTO quarantine (digest, size_bytes, since) VALUES (?1, ?2, ?3)",
    );
    this.#quarantined = sqlite.prepare<{ digest: Uint8Array; sizeBytes: number }, [number, Uint8Array, number]>(
      "SELECT digest, size_bytes AS sizeBytes FROM quarantine WHERE since <= ?1 AND digest > ?2 ORDER BY digest LIMIT ?3",
    );
    this.#forget = sqlite.prepare<void, [Uint8Array]>("DELETE FROM quarantine WHERE digest = ?1");
    // Index blobs_damaged.
    this.#damaged = sqlite.prepare<{ digest: Uint8Array }, []>("SELECT digest FROM blobs WHERE damaged_at IS NOT NULL");
    this.dropCaches();
  }

  /** Whether the last reading found a blob damaged or missing. Costs nothing while none is. */
  isDamaged(digest: Digest): boolean {
    if (this.#suspects.size === 0 || !this.#suspects.has(digest)) return false;
    if (this.find(digest)?.isDamaged === true) return true;
    this.#suspects.delete(digest);
    return false;
  }

  /** Drops cached rows, because another process has changed the database. */
  dropCaches(): void {
    this.#suspects = new Set(this.#damaged.all().map(({ digest }) => digestFromBytes(digest)));
  }

  find(digest: Digest): { sizeBytes: number; isDamaged: boolean } | undefined {
    const row = this.#find.get(digestToBytes(digest));
    return row === null ? undefined : { sizeBytes: row.sizeBytes, isDamaged: row.damagedAt !== null };
  }

  /** When a blob was last found whole, and when damaged; undefined without a row. */
  findHealth(digest: Digest): { verifiedAtMs: number | null; damagedAtMs: number | null } | undefined {
    return this.#health.get(digestToBytes(digest)) ?? undefined;
  }

  /** Records that a blob matched its digest. Called inside a transaction. */
  markVerified(digest: Digest, atMs: number): void {
    this.#verify.run(digestToBytes(digest), atMs);
  }

  /** Records when a blob was found damaged; null: it is whole. Called inside a transaction. */
  markDamaged(digest: Digest, atMs: number | null): void {
    if (atMs !== null) this.#suspects.add(digest);
    this.#mark.run(digestToBytes(digest), atMs);
  }

  /**
   * Lists blobs without references since `untilMs`, oldest first.
   * @param after the last one of the previous page; undefined for the first page
   */
  listUnreferenced(untilMs: number, limit: number, after?: UnreferencedBlob): UnreferencedBlob[] {
    return this.#unreferenced
      .all(untilMs, after?.touchedAtMs ?? -1, after?.id ?? 0, limit)
      .map((row) => ({ ...row, digest: digestFromBytes(row.digest) }));
  }

  /**
   * Deletes a blob's row and records it as quarantined. Called inside a transaction.
   * @returns false if it got a reference since
   */
  setAside(blob: UnreferencedBlob, nowMs: number): boolean {
    if (this.#delete.run(blob.id, blob.touchedAtMs).changes === 0) return false;
    this.noteAside(blob.digest, blob.sizeBytes, nowMs);
    return true;
  }

  /** Records a file without a row as quarantined. Called inside a transaction. */
  noteAside(digest: Digest, sizeBytes: number, nowMs: number): void {
    this.#quarantine.run(digestToBytes(digest), sizeBytes, nowMs);
  }

  /**
   * Lists blobs that were quarantined no later than `untilMs`, by digest.
   * @param after the last one of the previous page
   */
  listSetAside(untilMs: number, limit: number, after?: Digest): { digest: Digest; sizeBytes: number }[] {
    return this.#quarantined
      .all(untilMs, after === undefined ? new Uint8Array() : digestToBytes(after), limit)
      .map((row) => ({ digest: digestFromBytes(row.digest), sizeBytes: row.sizeBytes }));
  }

  /** Deletes the record of a quarantined blob. Called inside a transaction. */
  forget(digest: Digest): void {
    this.#forget.run(digestToBytes(digest));
  }
}
