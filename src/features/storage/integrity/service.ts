/**
 * The health of the store. All results of reading blobs are recorded here. A damaged blob is marked in its row, so that
 * it is neither sent nor reused for new uploads; it is stored as a finding and reported to administrators and to the
 * owners of its files. Nothing is deleted or replaced here.
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

/** Dependencies of {@link Integrity}. */
interface IntegrityOptions {
  readonly sqlite: Database;
  readonly rows: BlobRows;
  readonly blobs: Pick<BlobStore, "stat" | "pathOf" | "isLeased">;
  readonly writer: Pick<Writer, "run">;
  readonly events: Events;
  readonly clock: Clock;
  readonly log: Log;
  /** Throws if the store's disk is not the one of the start: then the disk is missing, not the blobs. */
  readonly checkStore: () => void;
}

/** The store's health in figures, for metrics and statistics. */
export interface IntegrityFigures {
  readonly open: OpenFindings;
  /** The oldest time at which a blob was last read or stored; undefined in an empty store. */
  readonly oldestReadingMs: number | undefined;
}

/** Readings that are recorded in one transaction. */
const NOTE_BATCH = 500;
/** The first report is sent at once, later ones at this interval. */
const REPORT_INTERVAL_MS = 60 * 60 * 1000;
/** Queued blobs that are read again because sending them failed. */
const SUSPECTS_MAX = 100;
/** Shortest interval between two such reads of a blob. */
const SUSPECT_INTERVAL_MS = 10 * 60 * 1000;

/** Records and reports damage. */
export class Integrity {
  readonly readings: ReadingRows;
  readonly #options: IntegrityOptions;
  readonly #findings: Findings;
  readonly #affected: AffectedFiles;
  /** When each was last queued, by the monotonic clock. */
  readonly #suspects = new Map<Digest, number>();
  #working: Promise<void> = Promise.resolve();
  #reportedMs = Number.NEGATIVE_INFINITY;
  #reportTimer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;
  /** Reader of the suspect that is being read. */
  #reader: HashReader | undefined;

  constructor(options: IntegrityOptions) {
    this.#options = options;
    this.readings = new ReadingRows(options.sqlite);
    this.#findings = new Findings(options.sqlite);
    this.#affected = new AffectedFiles(options.sqlite);
  }

  /** Queues a blob to be read again, because it could not be sent, or is damaged and was requested. Never throws. */
  suspect(digest: Digest): void {
    const nowMs = performance.now();
    const lastMs = this.#suspects.get(digest);
    if (this.#isClosed || (lastMs !== undefined && nowMs - lastMs < SUSPECT_INTERVAL_MS)) return;
    if (lastMs === undefined && this.#suspects.size >= SUSPECTS_MAX) this.#forgetSuspects(nowMs);
    if (this.#suspects.size >= SUSPECTS_MAX) return;
    this.#suspects.set(digest, nowMs);
    this.#working = this.#working.then(() => this.#readSuspect(digest));
  }

  /**
   * Records the results of reading blobs. Durable on return.
   * @returns the number of new faults
   * @throws AppError store_missing if the store's disk is missing: nothing is recorded
   */
  async note(readings: readonly Reading[]): Promise<number> {
    if (readings.length === 0) return 0;
    const { writer, checkStore } = this.#options;
    if (readings.some(({ fault }) => fault !== null)) checkStore();
    const isQuiet = readings.every(({ fault }) => fault === null);
    const added: Reading[] = [];
    for (let at = 0; at < readings.length; at += NOTE_BATCH) {
      const some = readings.slice(at, at + NOTE_BATCH);
      added.push(...(await writer.run(() => some.filter((reading) => this.#noteOne(reading)), { isQuiet })));
    }
    this.#logFaults(added, "Stored blobs are damaged or missing. To list the affected files: larder verify");
    if (added.length > 0) this.#reportSoon();
    return added.length;
  }

  /**
   * Records damaged or missing objects in the bucket whose blobs are whole on this disk. They are sent again
   * automatically, so nobody is notified. Durable on return.
   * @returns the number of new faults
   */
  async noteSpare(readings: readonly Reading[]): Promise<number> {
    const added: Reading[] = [];
    for (let at = 0; at < readings.length; at += NOTE_BATCH) {
      const some = readings.slice(at, at + NOTE_BATCH);
      added.push(...(await this.#options.writer.run(() => some.filter((reading) => this.#noteSpareOne(reading)))));
    }
    this.#logFaults(added, "Bucket objects are damaged or missing; sending them again from this disk.");
    return added.length;
  }

  /**
   * Records the result of checking the database's structure. Durable on return, if a damaged database can be written.
   */
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

  /** Deletes findings that were resolved before `beforeMs`. */
  async sweep(beforeMs: number): Promise<void> {
    await this.#options.writer.run(() => this.#findings.sweep(beforeMs), { isQuiet: true });
  }

  /** A page of the findings, and how many there are. */
  list(query: FindingQuery): { findings: Finding[]; total: number } {
    return this.#findings.list(query);
  }

  /** Figures of the store's health, by two look-ups. */
  figures(): IntegrityFigures {
    return { open: this.#findings.countOpen(), oldestReadingMs: this.readings.oldestReadingMs() };
  }

  /** Ends reads in the background. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#reportTimer);
    this.#reader?.close();
    await this.#working;
  }

  /** @returns whether it is a new fault */
  #noteOne({ digest, fault }: Reading): boolean {
    const { rows, blobs, clock } = this.#options;
    const nowMs = clock.nowMs();
    if (fault === null) {
      rows.markVerified(digest, nowMs);
      return false;
    }
    const row = rows.find(digest);
    // Deleted since, or being stored again now.
    if (row === undefined || blobs.isLeased(digest)) return false;
    // Restored since, or in the bucket.
    if (fault.kind === "missing" && blobs.stat(digest)?.sizeBytes === row.sizeBytes) return false;
    if (!row.isDamaged) rows.markDamaged(digest, nowMs);
    const isNew = this.#findings.note(fault.kind, { digest, sizeBytes: row.sizeBytes }, fault.detail, nowMs);
    // Before, only its object in the bucket was damaged, of which nobody was notified.
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

  /** Logs one line for all faults. */
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
      if (row !== undefined) await this.note(await this.readTwice(reader, [{ digest, sizeBytes: row.sizeBytes }]));
    } catch (error) {
      if (!this.#isClosed) log.warn("Could not read a blob again after a failed download.", { error });
    } finally {
      reader.close();
    }
  }

  /**
   * Reads blobs. A blob with a fault is read twice before the fault counts: it may have been replaced since, or memory
   * or a cable may be at fault.
   * @throws Error if nothing can be read at all
   */
  async readTwice(
    reader: HashReader,
    contents: readonly { readonly digest: Digest; readonly sizeBytes: number }[],
  ): Promise<Reading[]> {
    const read = async (some: typeof contents) => {
      const paths = some.map((content) => ({ ...content, path: this.#options.blobs.pathOf(content.digest) }));
      return new Map((await reader.read(paths)).faults.map(({ index, kind, detail }) => [index, { kind, detail }]));
    };
    const first = await read(contents);
    const doubtful = [...first.keys()].flatMap((index) => contents[index] ?? []);
    const second = doubtful.length === 0 ? new Map() : await read(doubtful);
    const certain = new Map([...second].map(([index, fault]) => [doubtful[index]?.digest, fault]));
    return contents.flatMap(({ digest, sizeBytes }) => {
      const fault = certain.get(digest) ?? null;
      // A blob that is only in the bucket was not read.
      const isElsewhere = fault?.kind === "missing" && this.#options.blobs.stat(digest)?.sizeBytes === sizeBytes;
      return isElsewhere ? [] : [{ digest, fault }];
    });
  }

  #forgetSuspects(nowMs: number): void {
    for (const [digest, lastMs] of this.#suspects) {
      if (nowMs - lastMs >= SUSPECT_INTERVAL_MS) this.#suspects.delete(digest);
    }
  }

  /** Reports now, or when the interval has passed. */
  #reportSoon(): void {
    if (this.#reportTimer !== undefined || this.#isClosed) return;
    const waitMs = Math.max(0, this.#reportedMs + REPORT_INTERVAL_MS - performance.now());
    this.#reportTimer = setTimeout(() => {
      this.#reportTimer = undefined;
      void this.report();
    }, waitMs);
    this.#reportTimer.unref();
  }

  /** Reports new findings to administrators and owners. Never throws. */
  async report(): Promise<void> {
    const { writer, events, clock, log } = this.#options;
    try {
      await writer.run((tx) => {
        const report = this.#affected.takeUnreported(clock.nowMs());
        if (report === undefined) return;
        const { contents, database, administrators, owners } = report;
        for (const accountId of administrators) events.emit(tx, "server.damaged", { accountId, contents, database });
        for (const [accountId, affected] of owners) events.emit(tx, "storage.damaged", { accountId, ...affected });
      });
      this.#reportedMs = performance.now();
    } catch (error) {
      log.warn("Could not notify anyone about the damage; will retry at the next scrub.", { error });
    }
  }
}
