/**
 * The tables of the text index: a database of its own, derived from the files. It may be lost at any time, and is then
 * built again.
 *
 * The index has a row for each segment of a text: which words are in it, without their positions. Phrases are looked for
 * in the text of the hits. It is read from the file if that is plain text, and is stored compressed otherwise. Removing a
 * text removes its words from the index itself, and overwrites them with zeros.
 */
import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { parseNumbers } from "../../../db/parse-numbers.ts";
import { foldText, toIndexText } from "./fold.ts";
import { openIndex, readMeta, writeMeta } from "./index-file.ts";
import { beginRewrite, continueRewrite, hasForeignKeys } from "./page-keys.ts";
import { type SegmentRange, SegmentRanges } from "./segment-ranges.ts";
import type { Segment } from "./segments.ts";
import { loadSegment, type StoredSegment, storeSegment } from "./stored-segment.ts";
import type { TextIndexStatus, WaitingBlob } from "./types.ts";

/** Segments of a text: ten megabytes have 320. */
const SEGMENTS_MAX = 512;
/** States of a text: being written, searchable, none (with the reason), being removed. */
const WRITING = 0;
const READY = 1;
const NONE = 2;
const REMOVING = 3;
/** A text that could not be read this often waits for the next start. */
const ATTEMPTS_MAX = 5;
/** Empty pages that are given back in one step. */
const SHRINK_PAGES = 64;
const EMPTY_PAGES = "SELECT freelist_count AS pages FROM pragma_freelist_count";
/** Whether removed words may still be in the list of pages. */
const TRACES = "traces";

interface TextRow {
  readonly blobId: number;
  readonly digest: Uint8Array;
  readonly state: number;
  readonly first: number;
  readonly segments: number;
  readonly bytes: number;
}

const TEXT_ROW = "blob_id AS blobId, digest, state, first_segment AS first, segments, bytes FROM texts";

/** A text that has to be removed is not in its file any more: only a new index is without its words. */
export class LostTextError extends Error {}

/** A segment of a text that contains the words of a search. */
export interface FoundSegment {
  readonly page: number | null;
  readonly text: string;
}

/** The file of a blob, which stays on this disk; undefined if blobs are in a bucket. */
export type PathOf = (digest: Uint8Array) => string | undefined;

/** Reads and writes the index. */
export class IndexTables {
  readonly #sqlite: Database;
  readonly #path: string;
  readonly #pathOf: PathOf;
  readonly #ranges = new SegmentRanges();
  #hasTraces: boolean;
  #isRewriting = false;

  /** Opens the index; creates it if it is missing, damaged, of another format, or of another database. */
  constructor(path: string, source: string, pathOf: PathOf) {
    this.#path = path;
    this.#pathOf = pathOf;
    const sqlite = openIndex(path, source);
    this.#sqlite = sqlite;
    this.#hasTraces = readMeta(sqlite, TRACES) === "yes";
    sqlite.run("UPDATE queue SET attempts = 0 WHERE attempts > 0");
    sqlite.run(`UPDATE texts SET state = ${REMOVING} WHERE state = ${WRITING}`);
    const found = sqlite.query<SegmentRange, []>(
      `SELECT blob_id AS blobId, first_segment AS first, segments AS count FROM texts WHERE state = ${READY}
       ORDER BY first_segment`,
    );
    for (const range of found.iterate()) this.#ranges.add(range);
  }

  close(): void {
    this.#sqlite.close();
  }

  readMeta(key: string): string | undefined {
    return readMeta(this.#sqlite, key);
  }

  writeMeta(key: string, value: string): void {
    writeMeta(this.#sqlite, key, value);
  }

  /** Runs changes together. */
  transaction<T>(body: () => T): T {
    return this.#sqlite.transaction(body).immediate();
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

  /** Whether nothing has to be read for a blob: it has a text, has none, or waits. */
  isKnown(blobId: number, digest: Uint8Array, version: string): boolean {
    const row = this.#sqlite
      .query<{ digest: Uint8Array; state: number; reason: string | null }, [number]>(
        "SELECT digest, state, reason FROM texts WHERE blob_id = ?1",
      )
      .get(blobId);
    if (row === null || row.state === REMOVING || Buffer.compare(row.digest, digest) !== 0) return false;
    return row.state !== NONE || (row.reason ?? "").startsWith(`${version} `);
  }

  enqueue({ blobId, digest, mediaType }: WaitingBlob): void {
    this.#sqlite
      .query("INSERT OR IGNORE INTO queue (blob_id, digest, media_type) VALUES (?1, ?2, ?3)")
      .run(blobId, digest, mediaType);
  }

  /** The next blob to read. */
  next(): WaitingBlob | undefined {
    const found = this.#sqlite.query<WaitingBlob, []>(
      `SELECT blob_id AS blobId, digest, media_type AS mediaType FROM queue WHERE attempts < ${ATTEMPTS_MAX}
       ORDER BY attempts, blob_id LIMIT 1`,
    );
    return found.get() ?? undefined;
  }

  dequeue(blobId: number): void {
    this.#sqlite.query("DELETE FROM queue WHERE blob_id = ?1").run(blobId);
  }

  postpone(blobId: number): void {
    this.#sqlite.query("UPDATE queue SET attempts = attempts + 1 WHERE blob_id = ?1").run(blobId);
  }

  /** Begins a text, in place of an earlier one. */
  begin({ blobId, digest }: WaitingBlob): void {
    this.#remove(blobId, Number.POSITIVE_INFINITY);
    const former = this.#sqlite.query<{ id: number }, [Uint8Array]>(
      "SELECT blob_id AS id FROM texts WHERE digest = ?1",
    );
    const formerId = former.get(digest)?.id;
    if (formerId !== undefined) this.#remove(formerId, Number.POSITIVE_INFINITY);
    this.#sqlite.query(`INSERT INTO texts (blob_id, digest, state) VALUES (?1, ?2, ${WRITING})`).run(blobId, digest);
  }

  /** Adds segments to a text that was begun. */
  add(blobId: number, segments: readonly Segment[]): void {
    const row = this.#find(blobId);
    if (row?.state !== WRITING) return;
    const put = this.#sqlite.query(
      "INSERT INTO segments (id, page, text, position, length, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    );
    const index = this.#sqlite.query("INSERT INTO words (rowid, text) VALUES (?1, ?2)");
    // Without gaps, because the index stores how far each row is from the one before.
    const first = row.segments > 0 ? row.first : this.#nextSegment();
    let { segments: count, bytes } = row;
    for (const { page, text } of segments.slice(0, SEGMENTS_MAX - count)) {
      const id = first + count++;
      const plain = Buffer.from(text);
      const stored = storeSegment(plain, bytes, this.#pathOf(row.digest));
      bytes += plain.byteLength;
      put.run(id, page, stored.text, stored.position, stored.length, stored.hash);
      index.run(id, toIndexText(foldText(text)));
    }
    this.#sqlite
      .query("UPDATE texts SET first_segment = ?2, segments = ?3, bytes = ?4 WHERE blob_id = ?1")
      .run(blobId, first, count, bytes);
  }

  /** Makes a text searchable. */
  finish(blobId: number, isTruncated: boolean, hasPages: boolean): void {
    const row = this.#find(blobId);
    if (row?.state !== WRITING) return;
    this.#sqlite
      .query(`UPDATE texts SET state = ${READY}, is_truncated = ?2, has_pages = ?3 WHERE blob_id = ?1`)
      .run(blobId, isTruncated ? 1 : 0, hasPages ? 1 : 0);
    this.dequeue(blobId);
    this.#ranges.add({ blobId, first: row.first, count: row.segments });
  }

  /** Records that a blob has no text. */
  skip({ blobId, digest }: Pick<WaitingBlob, "blobId" | "digest">, reason: string): void {
    this.begin({ blobId, digest, mediaType: "" });
    this.#sqlite.query(`UPDATE texts SET state = ${NONE}, reason = ?2 WHERE blob_id = ?1`).run(blobId, reason);
    this.dequeue(blobId);
  }

  /** Removes a text from searches; {@link removeSome} then removes its words. */
  markRemoved(blobId: number): void {
    this.dequeue(blobId);
    this.#ranges.remove(blobId);
    this.#sqlite.query(`UPDATE texts SET state = ${REMOVING} WHERE blob_id = ?1`).run(blobId);
  }

  /** Removes words of texts that are marked, until a time. @returns whether there may be more */
  removeSome(untilMs: number): boolean {
    const next = this.#sqlite.query<{ blobId: number }, []>(
      `SELECT blob_id AS blobId FROM texts WHERE state = ${REMOVING} LIMIT 1`,
    );
    for (let row = next.get(); row !== null; row = next.get()) {
      const { blobId } = row;
      if (!this.transaction(() => this.#remove(blobId, untilMs))) return true;
      if (performance.now() > untilMs) return true;
    }
    return false;
  }

  /** Whether some removed words may still be in the list of pages: {@link cleanSome} removes them. */
  get hasTraces(): boolean {
    return this.#hasTraces;
  }

  /** Removes the traces of removed words, until a time. @returns whether there may be more */
  cleanSome(untilMs: number): boolean {
    if (!this.#isRewriting) {
      this.#isRewriting = this.#hasTraces && hasForeignKeys(this.#sqlite);
      this.writeMeta(TRACES, this.#isRewriting ? "yes" : "no");
      this.#hasTraces = false;
      if (this.#isRewriting) this.transaction(() => beginRewrite(this.#sqlite));
    }
    while (this.#isRewriting) {
      if (performance.now() > untilMs) return true;
      this.#isRewriting = this.transaction(() => continueRewrite(this.#sqlite));
      if (this.#isRewriting) continue;
      if (!this.#hasTraces) this.writeMeta(TRACES, "no");
      this.checkpoint();
    }
    return false;
  }

  /** Overwrites what removed texts left in the log, and gives back space. */
  checkpoint(): void {
    this.#sqlite.query("PRAGMA wal_checkpoint(TRUNCATE)").all();
  }

  /** Gives back empty pages at the end of the file, a few milliseconds of work. @returns whether there are many more */
  shrinkSome(): boolean {
    const empty = () => this.#sqlite.query<{ pages: number }, []>(EMPTY_PAGES).get()?.pages ?? 0;
    if (empty() < SHRINK_PAGES) return false;
    this.#sqlite.query(`PRAGMA incremental_vacuum(${SHRINK_PAGES})`).all();
    return true;
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
    const found = this.#sqlite
      .query<{ ids: string | null }, [string]>("SELECT group_concat(rowid) AS ids FROM words WHERE words MATCH ?1")
      .get(query);
    return parseNumbers(found?.ids);
  }

  /** The ids of the segments of one text that a query of the index finds. */
  matchIn(blobId: number, query: string): number[] {
    const range = this.#ranges.find(blobId);
    if (range === undefined) return [];
    return this.#sqlite
      .query<{ id: number }, [string, number, number]>(
        "SELECT rowid AS id FROM words WHERE words MATCH ?1 AND rowid BETWEEN ?2 AND ?3",
      )
      .all(query, range.first, range.first + range.count - 1)
      .map(({ id }) => id);
  }

  /** Undefined if its file is gone or damaged. */
  segment(id: number): FoundSegment | undefined {
    const row = this.#sqlite
      .query<StoredSegment & { page: number; hasPages: number; digest: Uint8Array }, [number, number]>(
        `SELECT s.page, s.text, s.position, s.length, s.hash, t.has_pages AS hasPages, t.digest
         FROM segments s JOIN texts t ON t.blob_id = ?2 WHERE s.id = ?1`,
      )
      .get(id, this.blobOf(id));
    const text = row === null ? undefined : loadSegment(row, this.#pathOf(row.digest));
    return row === null || text === undefined ? undefined : { page: row.hasPages === 1 ? row.page : null, text };
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
    const found = this.#sqlite.query<{ id: number }, [Uint8Array]>(
      `SELECT blob_id AS id FROM texts WHERE digest = ?1 AND state = ${READY}`,
    );
    return found.get(digest)?.id;
  }

  /** The average number of segments of a text, and the number of texts. */
  get size(): { readonly texts: number; readonly averageLength: number } {
    const { texts, segments } = this.#ranges;
    return { texts, averageLength: texts === 0 ? 1 : segments / texts };
  }

  /** Words from one on, each with the segments that contain it, in their order. */
  vocabulary(fromWord: string): Iterable<{ readonly word: string; readonly segmentId: number }> {
    return this.#sqlite
      .query<{ word: string; segmentId: number }, [string]>(
        "SELECT term AS word, doc AS segmentId FROM temp.vocabulary WHERE term >= ?1",
      )
      .iterate(fromWord);
  }

  status(): Omit<TextIndexStatus, "isFilling"> {
    const one = (sql: string): number => this.#sqlite.query<{ value: number }, []>(sql).get()?.value ?? 0;
    return {
      indexed: this.#ranges.texts,
      waiting: one("SELECT count(*) AS value FROM queue"),
      unread: this.#sqlite
        .query<{ reason: string; count: number }, []>(
          `SELECT substr(reason, instr(reason, ' ') + 1) AS reason, count(*) AS count FROM texts WHERE state = ${NONE}
           GROUP BY 1 ORDER BY 2 DESC LIMIT 20`,
        )
        .all(),
      textBytes: one(`SELECT coalesce(sum(bytes), 0) AS value FROM texts WHERE state = ${READY}`),
      indexBytes: one("SELECT coalesce(sum(length(block)), 0) AS value FROM words_data"),
      fileBytes: statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0,
    };
  }

  #find(blobId: number): TextRow | undefined {
    const found = this.#sqlite.query<TextRow, [number]>(`SELECT ${TEXT_ROW} WHERE blob_id = ?1`);
    return found.get(blobId) ?? undefined;
  }

  #nextSegment(): number {
    const last = this.#sqlite.query<{ id: number | null }, []>("SELECT max(id) AS id FROM segments").get();
    return (last?.id ?? 0) + 1;
  }

  /** From the last segment on. @returns whether everything is removed */
  #remove(blobId: number, untilMs: number): boolean {
    this.#ranges.remove(blobId);
    const row = this.#find(blobId);
    if (row === undefined) return true;
    const stored = this.#sqlite.query<StoredSegment, [number]>(
      "SELECT text, position, length, hash FROM segments WHERE id = ?1",
    );
    const unindex = this.#sqlite.query("INSERT INTO words (words, rowid, text) VALUES ('delete', ?1, ?2)");
    const remove = this.#sqlite.query("DELETE FROM segments WHERE id = ?1");
    const shorten = this.#sqlite.query("UPDATE texts SET segments = segments - 1 WHERE blob_id = ?1");
    for (let id = row.first + row.segments - 1; row.segments > 0 && id >= row.first; id--) {
      const segment = stored.get(id);
      const text = segment === null ? undefined : loadSegment(segment, this.#pathOf(row.digest));
      if (text === undefined) throw new LostTextError("The text of a removed file can't be read any more.");
      if (!this.#hasTraces) this.writeMeta(TRACES, "yes");
      this.#hasTraces = true;
      unindex.run(id, toIndexText(foldText(text)));
      remove.run(id);
      shorten.run(blobId);
      if (performance.now() > untilMs) return false;
    }
    this.#sqlite.query("DELETE FROM texts WHERE blob_id = ?1").run(blobId);
    return true;
  }
}
