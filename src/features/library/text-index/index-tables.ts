/**
 * The tables of the text index: a database of its own, derived from the files. It may be lost at any time, and is then
 * built again.
 *
 * The index has a row for each segment of a text: which words are in it, without their positions. Phrases are looked for
 * in the text of the hits. It is read from the file if that is plain text, and is stored compressed otherwise, while
 * there is space. What is not there is read again from the file, which the caller does: see `restore`. Removing a text
 * removes its words from the index itself, and overwrites them with zeros.
 */
import type { Database } from "bun:sqlite";
import { FileSpace } from "./file-space.ts";
import { foldText, toIndexText } from "./fold.ts";
import { checkpoint, openIndex } from "./index-file.ts";
import { IndexProgress } from "./index-progress.ts";
import { bytesInState, readStatus } from "./index-status.ts";
import { WordTraces } from "./page-keys.ts";
import { RestoredTexts } from "./restored-texts.ts";
import { type SegmentRange, SegmentRanges } from "./segment-ranges.ts";
import type { Segment } from "./segments.ts";
import { isInText, loadSegment, type StoredSegment, storeSegment } from "./stored-segment.ts";
import { NONE, READY, REMOVING, TEXT_ROW, type TextRow, WRITING } from "./text-row.ts";
import type { TextIndexStatus, WaitingBlob } from "./types.ts";
import { matchAll, matchBetween, wordsFrom } from "./word-queries.ts";

/** Ten megabytes of text have 320. */
const SEGMENTS_MAX = 512;
/** Removed texts that are reported in one step, because they have to be read again. */
const UNREAD_MAX = 8;
/** When a text that can't be read now is tried again. */
const RETRY_MS = 10 * 60_000;

const SEGMENT = "c.text, s.position, s.length, s.hash";

/** A text that has to be removed can't be read any more: only a new index is without its words. */
export class LostTextError extends Error {}

/** A segment of a text that contains the words of a search. */
export interface FoundSegment {
  readonly page: number | null;
  readonly text: string;
}

/** Reads and writes the index. */
export class IndexTables {
  readonly progress: IndexProgress;
  readonly #sqlite: Database;
  readonly #path: string;
  readonly #pathOf: (digest: Uint8Array) => string | undefined;
  readonly #ranges = new SegmentRanges();
  readonly #space: FileSpace;
  readonly #traces: WordTraces;
  readonly #restored = new RestoredTexts();
  /** Removed texts that can't be read now, with the time of the next attempt. */
  readonly #unavailable = new Map<number, number>();
  #unread: WaitingBlob[] = [];
  /** Of the text that is being written. */
  #bytesWritten = 0;
  /** Of the texts that are being removed: until then, they take space. */
  #bytesRemoving: number;

  /**
   * Opens the index; creates it if it is missing, damaged, of another format, or of another database.
   * @param pathOf the file of a blob, which stays on this disk; undefined if blobs are in a bucket
   */
  constructor(path: string, source: string, pathOf: (digest: Uint8Array) => string | undefined) {
    this.#path = path;
    this.#pathOf = pathOf;
    const sqlite = openIndex(path, source);
    this.#sqlite = sqlite;
    this.#space = new FileSpace(sqlite);
    this.#traces = new WordTraces(sqlite);
    this.progress = new IndexProgress(sqlite);
    sqlite.run(`UPDATE texts SET state = ${REMOVING}, read_ms = NULL WHERE state = ${WRITING}`);
    this.#bytesRemoving = bytesInState(sqlite, REMOVING);
    const found = sqlite.query<SegmentRange, []>(
      `SELECT blob_id AS blobId, first_segment AS first, segments AS count, bytes FROM texts WHERE state = ${READY}
       ORDER BY first_segment`,
    );
    for (const range of found.iterate()) this.#ranges.add(range);
  }

  close(): void {
    this.#sqlite.close();
  }

  /** Runs changes together. */
  transaction<T>(body: () => T): T {
    return this.#sqlite.transaction(body).immediate();
  }

  /** Whether nothing has to be read for a blob: it has a text, has none, or waits. */
  isKnown(blobId: number, digest: Uint8Array): boolean {
    const row = this.#find(blobId);
    return row !== undefined && row.state !== REMOVING && Buffer.compare(row.digest, digest) === 0;
  }

  /** Lets a blob wait that can't be read now. */
  postpone(blobId: number): void {
    this.progress.postpone(blobId);
    if (this.#find(blobId)?.state === REMOVING) this.#unavailable.set(blobId, performance.now() + RETRY_MS);
  }

  /**
   * Begins a text, in place of an earlier one.
   * @param readMs how long it took to read; null if it could be different the next time, so that it has to stay stored
   * @returns false if the earlier text with the same content has to be read again first: see {@link restore}
   */
  begin({ blobId, digest, mediaType }: WaitingBlob, readMs: number | null): boolean {
    const formerId = this.#findByDigest(digest)?.blobId;
    for (const id of new Set([formerId ?? blobId, blobId])) {
      if (this.#remove(id, Number.POSITIVE_INFINITY) !== "unread") continue;
      this.#setRemoving(id);
      if (id === formerId) return false;
      throw new LostTextError("The text of a replaced file can't be read any more.");
    }
    this.#sqlite.query("INSERT OR IGNORE INTO media_types (name) VALUES (?1)").run(mediaType);
    this.#sqlite
      .query(
        `INSERT INTO texts (blob_id, digest, state, read_ms, type_id)
         VALUES (?1, ?2, ${WRITING}, ?3, (SELECT id FROM media_types WHERE name = ?4))`,
      )
      .run(blobId, digest, readMs, mediaType);
    this.#bytesWritten = 0;
    return true;
  }

  /** Adds segments to a text that was begun. */
  add(blobId: number, segments: readonly Segment[]): void {
    const row = this.#find(blobId);
    if (row?.state !== WRITING) return;
    const put = this.#sqlite.query(
      "INSERT INTO segments (id, page, position, length, hash) VALUES (?1, ?2, ?3, ?4, ?5)",
    );
    // In a table of their own, because SQLite frees the pages of deleted rows, but not those of rows that get shorter.
    const store = this.#sqlite.query("INSERT INTO stored (segment_id, text) VALUES (?1, ?2)");
    const index = this.#sqlite.query("INSERT INTO words (rowid, text) VALUES (?1, ?2)");
    // Without gaps, because the index stores how far each row is from the one before.
    const first = row.segments > 0 ? row.first : this.#nextSegment();
    const hasSpace = this.#space.hasSpaceFor(row.readMs, this.#textBytes);
    let isStored = false;
    let { segments: count, bytes } = row;
    for (const { page, text } of segments.slice(0, SEGMENTS_MAX - count)) {
      const id = first + count++;
      const plain = Buffer.from(text);
      const stored = storeSegment(plain, bytes, this.#pathOf(row.digest), hasSpace);
      if (stored.text !== null) isStored = store.run(id, stored.text).changes > 0;
      bytes += plain.byteLength;
      put.run(id, page, stored.position, stored.length, stored.hash);
      index.run(id, toIndexText(foldText(text)));
    }
    this.#sqlite
      .query(
        `UPDATE texts SET first_segment = ?2, segments = ?3, bytes = ?4, is_stored = max(is_stored, ?5)
         WHERE blob_id = ?1`,
      )
      .run(blobId, first, count, bytes, isStored ? 1 : 0);
    this.#bytesWritten = bytes;
  }

  /** Makes a text searchable. */
  finish(blobId: number): void {
    const row = this.#find(blobId);
    if (row?.state !== WRITING) return;
    this.#sqlite.query(`UPDATE texts SET state = ${READY} WHERE blob_id = ?1`).run(blobId);
    this.progress.dequeue(blobId);
    this.#bytesWritten = 0;
    this.#ranges.add({ blobId, first: row.first, count: row.segments, bytes: row.bytes });
  }

  /** Records that a blob has no text. */
  skip(blob: WaitingBlob, reason: string): void {
    const { blobId } = blob;
    // The words of the same text are still being removed.
    if (!this.begin(blob, null)) return this.postpone(blobId);
    this.#sqlite.query(`UPDATE texts SET state = ${NONE}, reason = ?2 WHERE blob_id = ?1`).run(blobId, reason);
    this.progress.dequeue(blobId);
  }

  /** Drops stored texts while the file is too large, until a time. @returns whether there may be more */
  dropSome(untilMs: number): boolean {
    return this.transaction(() => this.#space.dropSome(this.#textBytes, untilMs));
  }

  /**
   * Takes a text that is not in the index and was read again. It stays in memory for a while.
   * @returns whether it is the same as before
   * @throws LostTextError if it is not, and its words have to be removed
   */
  restore(digest: Uint8Array, text: Uint8Array): boolean {
    const row = this.#findByDigest(digest);
    if (row === undefined || row.segments === 0) return true;
    const segments = this.#sqlite.query<Omit<StoredSegment, "text">, [number, number]>(
      "SELECT position, length, hash FROM segments WHERE id BETWEEN ?1 AND ?2",
    );
    const all = segments.all(row.first, row.first + row.segments - 1);
    if (all.length === row.segments && all.every((segment) => isInText(segment, text))) {
      this.#restored.set(row.blobId, text);
      return true;
    }
    if (row.state === REMOVING) throw new LostTextError("The text of a removed file can't be read any more.");
    return false;
  }

  /** Removes a text from searches; {@link removeSome} then removes its words. */
  markRemoved(blobId: number): void {
    this.progress.dequeue(blobId);
    this.#ranges.remove(blobId);
    this.#setRemoving(blobId);
  }

  /** Removes words of texts that are marked, until a time. @returns whether there may be more; see also {@link unread} */
  removeSome(untilMs: number): boolean {
    const next = this.#sqlite.query<{ blobId: number }, [number]>(
      `SELECT blob_id AS blobId FROM texts INDEXED BY texts_state
       WHERE state = ${REMOVING} AND reason IS NULL AND blob_id > ?1 ORDER BY blob_id LIMIT 1`,
    );
    this.#unread = [];
    let row = next.get(0);
    for (; row !== null && this.#unread.length < UNREAD_MAX; row = next.get(row.blobId)) {
      const { blobId } = row;
      if ((this.#unavailable.get(blobId) ?? 0) > performance.now()) continue;
      const result = this.transaction(() => this.#remove(blobId, untilMs));
      if (result === "unread") this.#unread.push(...this.toRead([blobId]));
      if (result === "more" || performance.now() > untilMs) return true;
    }
    return false;
  }

  /** Removed texts that have to be read again, so that {@link removeSome} can remove their words. */
  get unread(): readonly WaitingBlob[] {
    return this.#unread;
  }

  /** What is needed to read the texts of blobs again. */
  toRead(blobIds: readonly number[]): WaitingBlob[] {
    const found = this.#sqlite.query<WaitingBlob, [number]>(
      `SELECT t.blob_id AS blobId, t.digest, m.name AS mediaType FROM texts t JOIN media_types m ON m.id = t.type_id
       WHERE t.blob_id = ?1`,
    );
    return blobIds.flatMap((blobId) => found.get(blobId) ?? []);
  }

  /** Whether {@link cleanSome} has something to do. */
  get hasTraces(): boolean {
    return this.#traces.isPossible;
  }

  /** Removes the traces of removed words, until a time. @returns whether there may be more */
  cleanSome(untilMs: number): boolean {
    return this.#traces.cleanSome(untilMs);
  }

  /** Overwrites what removed texts left in the log. */
  checkpoint(): void {
    checkpoint(this.#sqlite);
  }

  /** Gives back empty pages. @returns whether there are many more */
  shrinkSome(isIdle: boolean): boolean {
    return this.#space.shrinkSome(this.#textBytes, isIdle);
  }

  /** The texts after an id, to check whether they are still used. */
  textsAfter(blobId: number, limit: number): TextRow[] {
    return this.#sqlite
      .query<TextRow, [number, number]>(
        `SELECT ${TEXT_ROW}
         WHERE blob_id > ?1 AND state <> ${REMOVING} ORDER BY blob_id LIMIT ?2`,
      )
      .all(blobId, limit);
  }

  /** The ids of the segments that a query of the index finds, ascending. */
  match(query: string): Float64Array {
    return matchAll(this.#sqlite, query);
  }

  /** The ids of the segments of one text that a query of the index finds. */
  matchIn(blobId: number, query: string): number[] {
    const range = this.#ranges.find(blobId);
    return range === undefined ? [] : matchBetween(this.#sqlite, query, range.first, range.first + range.count - 1);
  }

  /** Undefined if its file has to be read again. */
  segment(id: number): FoundSegment | undefined {
    const blobId = this.blobOf(id);
    const row = this.#sqlite
      .query<StoredSegment & { page: number; mediaType: string; digest: Uint8Array }, [number, number]>(
        `SELECT s.page, ${SEGMENT}, m.name AS mediaType, t.digest
         FROM segments s LEFT JOIN stored c ON c.segment_id = s.id
           JOIN texts t ON t.blob_id = ?2 JOIN media_types m ON m.id = t.type_id WHERE s.id = ?1`,
      )
      .get(id, blobId);
    const text = row === null ? undefined : this.#load(blobId, row.digest, row);
    if (row === null || text === undefined) return undefined;
    return { page: row.mediaType.startsWith("application/pdf") ? row.page : null, text };
  }

  /** The searchable blob whose text a segment belongs to; 0 if none. */
  blobOf(segmentId: number): number {
    return this.#ranges.blobOf(segmentId);
  }

  /** The number of segments of a searchable text; 0 for others. */
  lengthOf(blobId: number): number {
    return this.#ranges.find(blobId)?.count ?? 0;
  }

  /** The searchable text of a content. */
  findByDigest(digest: Uint8Array): number | undefined {
    const row = this.#findByDigest(digest);
    return row?.state === READY ? row.blobId : undefined;
  }

  /** The average number of segments of a text, and the number of texts. */
  get size(): { readonly texts: number; readonly averageLength: number } {
    const { texts, segments } = this.#ranges;
    return { texts, averageLength: texts === 0 ? 1 : segments / texts };
  }

  /** Changes whenever a text is removed: its ids may be used again. */
  get removals(): number {
    return this.#ranges.removals;
  }

  /** Words from one on, each with the segments that contain it, in their order. */
  vocabulary(fromWord: string): ReturnType<typeof wordsFrom> {
    return wordsFrom(this.#sqlite, fromWord);
  }

  status(): Omit<TextIndexStatus, "isFilling"> {
    return readStatus(this.#sqlite, this.#path, this.#ranges);
  }

  get #textBytes(): number {
    return this.#ranges.bytes + this.#bytesWritten + this.#bytesRemoving;
  }

  #load(blobId: number, digest: Uint8Array, segment: StoredSegment): string | undefined {
    return loadSegment(segment, { path: this.#pathOf(digest), restored: this.#restored.get(blobId) });
  }

  #find(blobId: number): TextRow | undefined {
    const found = this.#sqlite.query<TextRow, [number]>(`SELECT ${TEXT_ROW} WHERE blob_id = ?1`);
    return found.get(blobId) ?? undefined;
  }

  /** The index has a part of the digest, which takes less space beside short texts. */
  #findByDigest(digest: Uint8Array): TextRow | undefined {
    const found = this.#sqlite.query<TextRow, [Uint8Array]>(
      `SELECT ${TEXT_ROW} WHERE substr(digest, 1, 6) = substr(?1, 1, 6) AND digest = ?1`,
    );
    return found.get(digest) ?? undefined;
  }

  /** A text that is being removed stays stored. */
  #setRemoving(blobId: number): void {
    const row = this.#find(blobId);
    if (row !== undefined && row.state !== REMOVING) this.#bytesRemoving += row.bytes;
    if (row?.state === WRITING) this.#bytesWritten = 0;
    this.#sqlite
      .query(`UPDATE texts SET state = ${REMOVING}, reason = NULL, read_ms = NULL WHERE blob_id = ?1`)
      .run(blobId);
  }

  #nextSegment(): number {
    const last = this.#sqlite.query<{ id: number | null }, []>("SELECT max(id) AS id FROM segments").get();
    return (last?.id ?? 0) + 1;
  }

  /** From the last segment on; "unread" if the text has to be read again for it. */
  #remove(blobId: number, untilMs: number): "done" | "more" | "unread" {
    this.#ranges.remove(blobId);
    const row = this.#find(blobId);
    if (row === undefined) return "done";
    const stored = this.#sqlite.query<StoredSegment, [number]>(
      `SELECT ${SEGMENT} FROM segments s LEFT JOIN stored c ON c.segment_id = s.id WHERE s.id = ?1`,
    );
    const unindex = this.#sqlite.query("INSERT INTO words (words, rowid, text) VALUES ('delete', ?1, ?2)");
    const remove = this.#sqlite.query("DELETE FROM segments WHERE id = ?1");
    const drop = this.#sqlite.query("DELETE FROM stored WHERE segment_id = ?1");
    const shorten = this.#sqlite.query("UPDATE texts SET segments = segments - 1 WHERE blob_id = ?1");
    for (let id = row.first + row.segments - 1; row.segments > 0 && id >= row.first; id--) {
      const segment = stored.get(id);
      const text = segment === null ? undefined : this.#load(blobId, row.digest, segment);
      if (text === undefined) return "unread";
      this.#traces.note();
      unindex.run(id, toIndexText(foldText(text)));
      remove.run(id);
      drop.run(id);
      shorten.run(blobId);
      if (performance.now() > untilMs) return "more";
    }
    this.#sqlite.query("DELETE FROM texts WHERE blob_id = ?1").run(blobId);
    if (row.state === REMOVING) this.#bytesRemoving -= row.bytes;
    this.#restored.delete(blobId);
    this.#unavailable.delete(blobId);
    return "done";
  }
}
