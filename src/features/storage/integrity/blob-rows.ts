import type { Database } from "bun:sqlite";
import type { BlobIndex } from "../../../blobs/blob-store.ts";
import { type Digest, digestFromBytes, digestToBytes } from "../../../blobs/digest.ts";

/** A content that nothing refers to. */
export interface Unreferenced {
  readonly id: number;
  readonly digest: Digest;
  readonly sizeBytes: number;
  /** Since when. */
  readonly touchedAtMs: number;
}

/**
 * The rows of contents as the store, the check of a file and the collector see them. What refers to a content is counted
 * by the tree.
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
  /** Contents that may be damaged: what was healed since is found by asking for its row. Empty as a rule. */
  #suspects = new Set<Digest>();

  constructor(sqlite: Database) {
    this.#find = sqlite.query<{ sizeBytes: number; damagedAt: number | null }, [Uint8Array]>(
      "SELECT size_bytes AS sizeBytes, damaged_at AS damagedAt FROM blobs WHERE digest = ?1",
    );
    this.#mark = sqlite.query<void, [Uint8Array, number | null]>("UPDATE blobs SET damaged_at = ?2 WHERE digest = ?1");
    this.#verify = sqlite.query<void, [Uint8Array, number]>(
      "UPDATE blobs SET verified_at = ?2, damaged_at = NULL WHERE digest = ?1",
    );
    this.#health = sqlite.query<{ verifiedAtMs: number | null; damagedAtMs: number | null }, [Uint8Array]>(
      "SELECT verified_at AS verifiedAtMs, damaged_at AS damagedAtMs FROM blobs WHERE digest = ?1",
    );
    // By index blobs_unreferenced: only what waits for collection is in it.
    this.#unreferenced = sqlite.query<
      { id: number; digest: Uint8Array; sizeBytes: number; touchedAtMs: number },
      [number, number, number, number]
    >(
      `SELECT id, digest, size_bytes AS sizeBytes, touched_at AS touchedAtMs FROM blobs INDEXED BY blobs_unreferenced
       WHERE refs = 0 AND touched_at <= ?1 AND (touched_at, id) > (?2, ?3) ORDER BY touched_at, id LIMIT ?4`,
    );
    this.#delete = sqlite.query<void, [number, number]>(
      "DELETE FROM blobs WHERE id = ?1 AND refs = 0 AND touched_at = ?2",
    );
    this.#quarantine = sqlite.query<void, [Uint8Array, number, number]>(
      "INSERT OR REPLACE INTO quarantine (digest, size_bytes, since) VALUES (?1, ?2, ?3)",
    );
    this.#quarantined = sqlite.query<{ digest: Uint8Array; sizeBytes: number }, [number, Uint8Array, number]>(
      "SELECT digest, size_bytes AS sizeBytes FROM quarantine WHERE since <= ?1 AND digest > ?2 ORDER BY digest LIMIT ?3",
    );
    this.#forget = sqlite.query<void, [Uint8Array]>("DELETE FROM quarantine WHERE digest = ?1");
    // Index blobs_damaged.
    this.#damaged = sqlite.query<{ digest: Uint8Array }, []>("SELECT digest FROM blobs WHERE damaged_at IS NOT NULL");
    this.dropCaches();
  }

  /** Whether its last reading found a content damaged or missing. Costs nothing while none is. */
  isDamaged(digest: Digest): boolean {
    if (this.#suspects.size === 0 || !this.#suspects.has(digest)) return false;
    if (this.find(digest)?.isDamaged === true) return true;
    this.#suspects.delete(digest);
    return false;
  }

  /** Forgets what was kept of the database: another process has changed it. */
  dropCaches(): void {
    this.#suspects = new Set(this.#damaged.all().map(({ digest }) => digestFromBytes(digest)));
  }

  find(digest: Digest): { sizeBytes: number; isDamaged: boolean } | undefined {
    const row = this.#find.get(digestToBytes(digest));
    return row === null ? undefined : { sizeBytes: row.sizeBytes, isDamaged: row.damagedAt !== null };
  }

  /** When a content was last read and found whole, and when damaged; undefined for one without a row. */
  findHealth(digest: Digest): { verifiedAtMs: number | null; damagedAtMs: number | null } | undefined {
    return this.#health.get(digestToBytes(digest)) ?? undefined;
  }

  /** Notes when a content was read and found equal to its digest (D26). A deed. */
  markVerified(digest: Digest, atMs: number): void {
    this.#verify.run(digestToBytes(digest), atMs);
  }

  /** Notes when a content was found damaged; null: it is whole. A deed. */
  markDamaged(digest: Digest, atMs: number | null): void {
    if (atMs !== null) this.#suspects.add(digest);
    this.#mark.run(digestToBytes(digest), atMs);
  }

  /**
   * Contents that nothing has referred to since `untilMs`, oldest first.
   * @param after the last of those before; undefined for the first
   */
  listUnreferenced(untilMs: number, limit: number, after?: Unreferenced): Unreferenced[] {
    return this.#unreferenced
      .all(untilMs, after?.touchedAtMs ?? -1, after?.id ?? 0, limit)
      .map((row) => ({ ...row, digest: digestFromBytes(row.digest) }));
  }

  /** Takes a content's row away and notes it as set aside. A deed. @returns whether nothing had referred to it since */
  setAside(blob: Unreferenced, nowMs: number): boolean {
    if (this.#delete.run(blob.id, blob.touchedAtMs).changes === 0) return false;
    this.noteAside(blob.digest, blob.sizeBytes, nowMs);
    return true;
  }

  /** Notes a file without a row as set aside. A deed. */
  noteAside(digest: Digest, sizeBytes: number, nowMs: number): void {
    this.#quarantine.run(digestToBytes(digest), sizeBytes, nowMs);
  }

  /** Contents set aside no later than `untilMs`, by digest. @param after the last of those before */
  listSetAside(untilMs: number, limit: number, after?: Digest): { digest: Digest; sizeBytes: number }[] {
    return this.#quarantined
      .all(untilMs, after === undefined ? new Uint8Array() : digestToBytes(after), limit)
      .map((row) => ({ digest: digestFromBytes(row.digest), sizeBytes: row.sizeBytes }));
  }

  /** Forgets that a content was set aside. A deed. */
  forget(digest: Digest): void {
    this.#forget.run(digestToBytes(digest));
  }
}
