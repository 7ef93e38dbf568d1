/**
 * Keeps the file of the index below a share of the size of the texts. The words in it stay. Compressed texts are dropped,
 * and read again from their files when they are needed: first those that were read fastest, so that no search has to wait
 * for a slow one while there is a fast one to drop.
 */
import type { Database } from "bun:sqlite";

/** The largest part of the size of all texts that the file takes. */
const SHARE = 0.3;
/** What the file takes at least, if there are few texts. */
const FLOOR_BYTES = 1024 * 1024;
/** Empty pages that are given back in one step. */
const SHRINK_PAGES = 64;
const PAGES = `SELECT c.page_count AS pages, f.freelist_count AS empty, s.page_size AS pageBytes
  FROM pragma_page_count c, pragma_freelist_count f, pragma_page_size s`;
const FASTEST = `SELECT blob_id AS blobId, first_segment AS first, segments, read_ms AS readMs
  FROM texts INDEXED BY texts_stored WHERE is_stored = 1 AND read_ms IS NOT NULL ORDER BY read_ms LIMIT 1`;

interface StoredText {
  readonly blobId: number;
  readonly first: number;
  readonly segments: number;
  readonly readMs: number;
}

/** The space that the index takes. */
export class FileSpace {
  readonly #sqlite: Database;

  constructor(sqlite: Database) {
    this.#sqlite = sqlite;
  }

  /** Whether a text has space. @param readMs how long reading it takes; null if it could differ */
  hasSpaceFor(readMs: number | null, textBytes: number): boolean {
    return readMs === null || !this.#isFull(textBytes) || readMs > (this.#fastest()?.readMs ?? Infinity);
  }

  /** Drops texts while the file exceeds its share, until a time. In a transaction. @returns whether there may be more */
  dropSome(textBytes: number, untilMs: number): boolean {
    const drop = this.#sqlite.query("DELETE FROM stored WHERE segment_id BETWEEN ?1 AND ?2");
    const note = this.#sqlite.query("UPDATE texts SET is_stored = 0 WHERE blob_id = ?1");
    while (this.#isFull(textBytes)) {
      if (performance.now() > untilMs) return true;
      const text = this.#fastest();
      if (text === undefined) return false;
      drop.run(text.first, text.first + text.segments - 1);
      note.run(text.blobId);
    }
    return false;
  }

  /**
   * Gives back empty pages at the end of the file, a few milliseconds of work. While texts are added, or if there are few,
   * the pages are soon used again, so only those are given back with which the file exceeds its share.
   * @returns whether there are many more
   */
  shrinkSome(textBytes: number, isIdle: boolean): boolean {
    const { pages, empty, pageBytes } = this.#pages();
    const isTooLarge = pages * pageBytes > limitOf(textBytes);
    if (isTooLarge ? empty === 0 : empty < SHRINK_PAGES || !isIdle) return false;
    this.#sqlite.query(`PRAGMA incremental_vacuum(${SHRINK_PAGES})`).all();
    return true;
  }

  #isFull(textBytes: number): boolean {
    const { pages, empty, pageBytes } = this.#pages();
    return (pages - empty) * pageBytes > limitOf(textBytes);
  }

  #pages() {
    const found = this.#sqlite.query<{ pages: number; empty: number; pageBytes: number }, []>(PAGES).get();
    return found ?? { pages: 0, empty: 0, pageBytes: 0 };
  }

  /** Of the texts that may be dropped, the one that was read fastest. */
  #fastest(): StoredText | undefined {
    return this.#sqlite.query<StoredText, []>(FASTEST).get() ?? undefined;
  }
}

function limitOf(textBytes: number): number {
  return Math.max(FLOOR_BYTES, Math.floor(textBytes * SHARE));
}
