/**
 * What is known of the store's health: every reading of a content comes here, whoever made it. A fault is noted at the
 * content, so that it is neither served nor shared with new uploads (D9, D10), kept as a finding, and told to
 * administrators and to the owners of its files. Nothing is ever removed or replaced here.
 */
import type { Database } from "bun:sqlite";
import type { BlobStore } from "../../../blobs/blob-store.ts";
import { type Digest, toChecksum } from "../../../blobs/digest.ts";
import type { Writer } from "../../../db/transaction.ts";
import type { Events } from "../../../events/events.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import type { BlobRows } from "./blob-rows.ts";
import { AffectedFiles } from "./affected-files.ts";
import { Findings, type FindingQuery } from "./findings.ts";
import { HashReader } from "./hash-reader.ts";
import { ReadingRows } from "./reading-rows.ts";
import type { Finding, OpenFindings, Reading } from "./types.ts";

/** What {@link Integrity} works with. */
export interface IntegrityOptions {
  readonly sqlite: Database;
  readonly rows: BlobRows;
  readonly blobs: Pick<BlobStore, "stat" | "pathOf" | "isLeased">;
  readonly writer: Pick<Writer, "run">;
  readonly events: Events;
  readonly clock: Clock;
  readonly log: Log;
  /** Throws where the store's disk is not the one it was at the start: then nothing is missing, the disk is (D7). */
  readonly checkStore: () => void;
}

/** The store's health in figures, for metrics and statistics. */
export interface IntegrityFigures {
  readonly open: OpenFindings;
  /** When the content was read, or stored, that was read longest ago; undefined in an empty store. */
  readonly oldestReadingMs: number | undefined;
}

/** Readings that are noted in one transaction. */
const NOTED_AT_ONCE = 500;
/** People are told at once, and of what is found afterwards once in so long. */
const REPORT_INTERVAL_MS = 60 * 60 * 1000;
/** Contents that wait to be read again because sending them failed. */
const SUSPECTS_MAX = 100;
/** A content is read again for that reason once in so long. */
const SUSPECT_REST_MS = 10 * 60 * 1000;

/** See the head of this file. */
export class Integrity {
  readonly readings: ReadingRows;
  readonly #options: IntegrityOptions;
  readonly #findings: Findings;
  readonly #concerned: AffectedFiles;
  /** When each was last taken up, by the clock that only goes on. */
  readonly #suspects = new Map<Digest, number>();
  #working: Promise<void> = Promise.resolve();
  #toldMs = Number.NEGATIVE_INFINITY;
  #telling: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;
  /** Reads a suspect just now. */
  #reader: HashReader | undefined;

  constructor(options: IntegrityOptions) {
    this.#options = options;
    this.readings = new ReadingRows(options.sqlite);
    this.#findings = new Findings(options.sqlite);
    this.#concerned = new AffectedFiles(options.sqlite);
  }

  /** Has a content read again soon, because it could not be sent, or is known to be damaged and was asked for. Never throws. */
  suspect(digest: Digest): void {
    const nowMs = performance.now();
    const lastMs = this.#suspects.get(digest);
    if (this.#isClosed || (lastMs !== undefined && nowMs - lastMs < SUSPECT_REST_MS)) return;
    if (lastMs === undefined && this.#suspects.size >= SUSPECTS_MAX) this.#forgetSuspects(nowMs);
    if (this.#suspects.size >= SUSPECTS_MAX) return;
    this.#suspects.set(digest, nowMs);
    this.#working = this.#working.then(() => this.#readSuspect(digest));
  }

  /**
   * Takes what readings gave. Durable on return.
   * @returns how many faults were not known before
   * @throws AppError store_missing where the store's disk has gone: nothing is noted
   */
  async note(readings: readonly Reading[]): Promise<number> {
    if (readings.length === 0) return 0;
    const { writer, checkStore } = this.#options;
    if (readings.some(({ fault }) => fault !== null)) checkStore();
    const isQuiet = readings.every(({ fault }) => fault === null);
    const added: Reading[] = [];
    for (let at = 0; at < readings.length; at += NOTED_AT_ONCE) {
      const some = readings.slice(at, at + NOTED_AT_ONCE);
      added.push(...(await writer.run(() => some.filter((reading) => this.#noteOne(reading)), { isQuiet })));
    }
    this.#logFaults(added, "Stored blobs are damaged or missing. To list the affected files: larder verify");
    if (added.length > 0) this.#reportSoon();
    return added.length;
  }

  /**
   * Takes that objects in the bucket are damaged or missing whose contents are whole on this disk. They are sent again
   * without anybody's doing, so nobody is notified. Durable on return.
   * @returns how many were not known before
   */
  async noteSpare(readings: readonly Reading[]): Promise<number> {
    const added: Reading[] = [];
    for (let at = 0; at < readings.length; at += NOTED_AT_ONCE) {
      const some = readings.slice(at, at + NOTED_AT_ONCE);
      added.push(...(await this.#options.writer.run(() => some.filter((reading) => this.#noteSpareOne(reading)))));
    }
    this.#logFaults(added, "Bucket objects are damaged or missing; sending them again from this disk.");
    return added.length;
  }

  /** Takes what a look through the database's structure gave. Durable on return, where such a database can be written. */
  async noteDatabase(problems: readonly string[]): Promise<void> {
    const { writer, clock, log } = this.#options;
    if (problems.length > 0) {
      log.error("The database is damaged. Stop the server, then run: larder verify", { problems });
      try {
        await writer.run(() => this.#findings.note("database", undefined, problems.join("; "), clock.nowMs()));
        this.#reportSoon();
      } catch (error) {
        log.error("Could not record the damage in the database.", { error });
      }
    } else if (this.#findings.countOpen().database > 0) {
      await writer.run(() => this.#findings.resolveDatabase(clock.nowMs()));
      log.info("The database is intact again.");
    }
  }

  /** Forgets findings that were resolved before `beforeMs`. */
  async sweep(beforeMs: number): Promise<void> {
    await this.#options.writer.run(() => this.#findings.sweep(beforeMs), { isQuiet: true });
  }

  /** A page of the findings, and how many there are. */
  list(query: FindingQuery): { findings: Finding[]; total: number } {
    return this.#findings.list(query);
  }

  /** Cheap: two look-ups. */
  figures(): IntegrityFigures {
    return { open: this.#findings.countOpen(), oldestReadingMs: this.readings.oldestReadingMs() };
  }

  /** Ends what is done behind the answers. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#telling);
    this.#reader?.close();
    await this.#working;
  }

  /** @returns whether it is a fault that was not known */
  #noteOne({ digest, fault }: Reading): boolean {
    const { rows, blobs, clock } = this.#options;
    const nowMs = clock.nowMs();
    if (fault === null) {
      rows.markVerified(digest, nowMs);
      return false;
    }
    const row = rows.find(digest);
    // Removed since, or just being stored anew.
    if (row === undefined || blobs.isLeased(digest)) return false;
    // Put back since, or kept in a bucket.
    if (fault.kind === "missing" && blobs.stat(digest)?.sizeBytes === row.sizeBytes) return false;
    if (!row.isDamaged) rows.markDamaged(digest, nowMs);
    const isNew = this.#findings.note(fault.kind, { digest, sizeBytes: row.sizeBytes }, fault.detail, nowMs);
    // Its object in the bucket was at fault before, of which nobody was notified.
    if (!isNew && !row.isDamaged) this.#findings.notifyAgain(digest);
    return isNew || !row.isDamaged;
  }

  #noteSpareOne({ digest, fault }: Reading): boolean {
    const { rows, clock } = this.#options;
    const row = rows.find(digest);
    if (row === undefined || row.isDamaged || fault === null) return false;
    const nowMs = clock.nowMs();
    const detail = `${fault.detail}; this disk has a good copy`;
    return this.#findings.note(fault.kind, { digest, sizeBytes: row.sizeBytes }, detail, nowMs, nowMs);
  }

  /** One line, however many there are. */
  #logFaults(faults: readonly Reading[], message: string): void {
    const [first] = faults;
    if (first === undefined) return;
    this.#options.log.error(message, {
      contents: faults.length,
      checksum: toChecksum(first.digest),
      ...first.fault,
    });
  }

  async #readSuspect(digest: Digest): Promise<void> {
    if (this.#isClosed) return;
    const { rows, log } = this.#options;
    const reader = new HashReader();
    this.#reader = reader;
    try {
      const row = rows.find(digest);
      if (row !== undefined) await this.note(await this.readAgain(reader, [{ digest, sizeBytes: row.sizeBytes }]));
    } catch (error) {
      if (!this.#isClosed) log.warn("Could not read a blob again after a failed download.", { error });
    } finally {
      reader.close();
    }
  }

  /**
   * Reads contents; what is found wrong is read a second time before it counts, because it may have been replaced by a
   * good copy meanwhile, or the fault may be one of memory or cable.
   * @throws Error where nothing can be read at all
   */
  async readAgain(
    reader: HashReader,
    contents: readonly { readonly digest: Digest; readonly sizeBytes: number }[],
  ): Promise<Reading[]> {
    const once = async (wanted: typeof contents) => {
      const paths = wanted.map((content) => ({ ...content, path: this.#options.blobs.pathOf(content.digest) }));
      return new Map((await reader.read(paths)).faults.map(({ index, kind, detail }) => [index, { kind, detail }]));
    };
    const first = await once(contents);
    const doubtful = [...first.keys()].flatMap((index) => contents[index] ?? []);
    const second = doubtful.length === 0 ? new Map() : await once(doubtful);
    const certain = new Map([...second].map(([index, fault]) => [doubtful[index]?.digest, fault]));
    return contents.flatMap(({ digest, sizeBytes }) => {
      const fault = certain.get(digest) ?? null;
      // What is not on this disk because it lies in a bucket was not read, and nothing is said of it.
      const isElsewhere = fault?.kind === "missing" && this.#options.blobs.stat(digest)?.sizeBytes === sizeBytes;
      return isElsewhere ? [] : [{ digest, fault }];
    });
  }

  #forgetSuspects(nowMs: number): void {
    for (const [digest, lastMs] of this.#suspects) {
      if (nowMs - lastMs >= SUSPECT_REST_MS) this.#suspects.delete(digest);
    }
  }

  /** At once, or when it is time again. */
  #reportSoon(): void {
    if (this.#telling !== undefined || this.#isClosed) return;
    const waitMs = Math.max(0, this.#toldMs + REPORT_INTERVAL_MS - performance.now());
    this.#telling = setTimeout(() => {
      this.#telling = undefined;
      void this.tell();
    }, waitMs);
    this.#telling.unref();
  }

  /** Tells administrators and owners of what nobody was told of yet. Never throws. */
  async tell(): Promise<void> {
    const { writer, events, clock, log } = this.#options;
    try {
      await writer.run((tx) => {
        const news = this.#concerned.takeNews(clock.nowMs());
        if (news === undefined) return;
        const { contents, database, administrators, owners } = news;
        for (const accountId of administrators) events.emit(tx, "server.damaged", { accountId, contents, database });
        for (const [accountId, concerned] of owners) events.emit(tx, "storage.damaged", { accountId, ...concerned });
      });
      this.#toldMs = performance.now();
    } catch (error) {
      log.warn("Could not notify anyone about the damage; will retry at the next scrub.", { error });
    }
  }
}
