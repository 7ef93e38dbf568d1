/**
 * Digests of the content an account has deleted, kept as long as the account exists. When an automatic backup offers
 * such content again, the server rejects it instead of restoring what the user deleted.
 */
import type { Database } from "bun:sqlite";
import { type Digest, digestToBytes } from "../../blobs/digest.ts";

/** The rows of `deleted_contents`. */
export class Deletions {
  readonly #note;
  readonly #forget;
  readonly #find;

  constructor(sqlite: Database) {
    this.#note = sqlite.prepare<undefined, [number, number, number]>(
      `INSERT INTO deleted_contents (account_id, digest, deleted_at)
       SELECT ?1, digest, ?3 FROM blobs WHERE id = ?2
       ON CONFLICT DO UPDATE SET deleted_at = excluded.deleted_at`,
    );
    this.#forget = sqlite.prepare<undefined, [number, number]>(
      "DELETE FROM deleted_contents WHERE account_id = ?1 AND digest = (SELECT digest FROM blobs WHERE id = ?2)",
    );
    this.#find = sqlite.prepare<{ deletedAtMs: number }, [number, Uint8Array]>(
      "SELECT deleted_at AS deletedAtMs FROM deleted_contents WHERE account_id = ?1 AND digest = ?2",
    );
  }

  /** Records that a file with this content was deleted. Inside a transaction. */
  note(accountId: number, blobId: number, nowMs: number): void {
    this.#note.run(accountId, blobId, nowMs);
  }

  /** Removes the record: the account has a file with this content again. Inside a transaction. */
  forget(accountId: number, blobId: number): void {
    this.#forget.run(accountId, blobId);
  }

  /** When a file with this content was last deleted, if none was created since. Other files may still have it. */
  find(accountId: number, digest: Digest): number | undefined {
    return this.#find.get(accountId, digestToBytes(digest))?.deletedAtMs;
  }
}
