import type { Database } from "bun:sqlite";
import { readMeta, writeMeta } from "./index-file.ts";
import type { WaitingBlob } from "./types.ts";

/** A text that could not be read this often waits for the next start. */
const ATTEMPTS_MAX = 5;

/** How far the index has followed the files: the positions in their journals, and the blobs that are to be read. */
export class IndexProgress {
  readonly #sqlite: Database;
  /** The oldest and the newest blob take turns: many that wait, or that take long, don't keep new ones waiting for hours. */
  #takesNewest = false;

  constructor(sqlite: Database) {
    this.#sqlite = sqlite;
    sqlite.run("UPDATE queue SET attempts = 0 WHERE attempts > 0");
  }

  readMeta(key: string): string | undefined {
    return readMeta(this.#sqlite, key);
  }

  writeMeta(key: string, value: string): void {
    writeMeta(this.#sqlite, key, value);
  }

  cursors(): Map<number, number> {
    const found = this.#sqlite
      .query<{ id: number; seq: number }, []>("SELECT account_id AS id, seq FROM cursors")
      .all();
    return new Map(found.map(({ id, seq }) => [id, seq]));
  }

  setCursor(accountId: number, seq: number): void {
    this.#sqlite.query("INSERT OR REPLACE INTO cursors (account_id, seq) VALUES (?1, ?2)").run(accountId, seq);
  }

  removeCursor(accountId: number): void {
    this.#sqlite.query("DELETE FROM cursors WHERE account_id = ?1").run(accountId);
  }

  enqueue({ blobId, digest, mediaType }: WaitingBlob): void {
    this.#sqlite
      .query("INSERT OR IGNORE INTO queue (blob_id, digest, media_type) VALUES (?1, ?2, ?3)")
      .run(blobId, digest, mediaType);
  }

  /** The next blob to read: the same until it is dequeued or postponed. */
  next(): WaitingBlob | undefined {
    const found = this.#sqlite.query<WaitingBlob, []>(
      `SELECT blob_id AS blobId, digest, media_type AS mediaType FROM queue
       WHERE attempts = (SELECT min(attempts) FROM queue WHERE attempts < ${ATTEMPTS_MAX})
       ORDER BY blob_id ${this.#takesNewest ? "DESC" : "ASC"} LIMIT 1`,
    );
    return found.get() ?? undefined;
  }

  dequeue(blobId: number): void {
    this.#sqlite.query("DELETE FROM queue WHERE blob_id = ?1").run(blobId);
    this.#takesNewest = !this.#takesNewest;
  }

  postpone(blobId: number): void {
    this.#sqlite.query("UPDATE queue SET attempts = attempts + 1 WHERE blob_id = ?1").run(blobId);
    this.#takesNewest = !this.#takesNewest;
  }
}
