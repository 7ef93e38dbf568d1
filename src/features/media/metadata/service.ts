/**
 * What pictures, sounds and films tell of themselves, by content. It is asked behind: the index of words meets every new
 * content and puts it into a queue that survives a restart; one process reads one content after the other. Nobody who
 * uploads waits for it, and a content that ends the process is left alone by this version of the program.
 */
import { type Digest, digestFromBytes, digestToBytes } from "../../../blobs/digest.ts";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import type { MediaProcess } from "./media-process.ts";
import type { MediaRows, Waiting } from "./queries.ts";
import { isTelling, type MediaInfo, NO_MEDIA_INFO } from "./types.ts";

/** What {@link MediaInfoService} works with. */
export interface MediaInfoOptions {
  readonly rows: MediaRows;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  readonly process: Pick<MediaProcess, "read" | "close">;
  /** Where the bytes of a content lie; undefined where they can't be had. */
  readonly findPath: (digest: Digest) => Promise<string | undefined>;
  /** Reported in the transaction that keeps what a content told. */
  readonly onRead: (tx: Transaction, digest: Uint8Array) => void;
  /** Whether files are arriving: then it waits a while. */
  readonly isBusy: () => boolean;
  /** Failures are remembered for this version. */
  readonly program: string;
}

/** Tries of one content that end with the process. */
const ATTEMPTS_MAX = 2;
const BUSY_REST_MS = 100;
const PATIENCE_MS = 2_000;
const SWEEP_ROWS = 1_000;
/** Contents whose answers share a commit. */
const READ_TOGETHER = 16;

/** See the head of this file. */
export class MediaInfoService {
  readonly #options: MediaInfoOptions;
  #working: Promise<void> | undefined;
  #isStarted = false;
  #isStopped = false;

  constructor(options: MediaInfoOptions) {
    this.#options = options;
  }

  /**
   * What a content told; undefined where it told nothing, or was not asked yet. Of a type that tells nothing no row is
   * looked for: file info is asked for too often.
   */
  find(digest: Digest, mediaType: string): MediaInfo | undefined {
    return isTelling(mediaType) ? this.#options.rows.find(digestToBytes(digest)) : undefined;
  }

  /** Whether contents are still to be asked. */
  get isBehind(): boolean {
    return this.#options.rows.hasWaiting();
  }

  /** Puts a content into the queue, if its type tells anything. Inside a transaction. */
  enqueue(tx: Transaction, digest: Uint8Array, mediaType: string): void {
    if (!isTelling(mediaType)) return;
    this.#options.rows.enqueue(digest, mediaType);
    tx.afterCommit(() => this.#wake());
  }

  /** Goes on with what waits, and tries again what another version of the program could not read. In the server alone. */
  async start(): Promise<void> {
    const { rows, writer, program } = this.#options;
    this.#isStarted = true;
    await writer.run(() => rows.enqueueFailures(program));
    this.#wake();
  }

  /** Ends; what is being read will be read again. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#options.process.close();
    await this.#working;
  }

  /** Forgets what contents told that are not in the store any more. @returns how many */
  async sweep(signal: AbortSignal): Promise<number> {
    const { rows, writer } = this.#options;
    let removed = 0;
    for (let after: Uint8Array | undefined = new Uint8Array(); after !== undefined && !signal.aborted; ) {
      const from: Uint8Array = after;
      const step = await writer.run(() => rows.sweep(from, SWEEP_ROWS));
      removed += step.removed;
      after = step.next;
    }
    return removed;
  }

  #wake(): void {
    if (!this.#isStarted || this.#isStopped || this.#working !== undefined) return;
    this.#working = this.#work()
      .catch((error: unknown) =>
        this.#options.log.error("Metadata extraction failed; continuing with the next file.", { error }),
      )
      .finally(() => {
        this.#working = undefined;
      });
  }

  async #work(): Promise<void> {
    const { rows, isBusy } = this.#options;
    for (let some = rows.next(READ_TOGETHER); some.length > 0; some = rows.next(READ_TOGETHER)) {
      const results: ((tx: Transaction) => void)[] = [];
      for (const waiting of some) {
        const sinceMs = performance.now();
        while (isBusy() && performance.now() - sinceMs < PATIENCE_MS && !this.#isStopped) await Bun.sleep(BUSY_REST_MS);
        if (this.#isStopped) return;
        results.push(await this.#ask(waiting));
      }
      if (this.#isStopped) return;
      await this.#options.writer.run((tx) => {
        for (const keep of results) keep(tx);
      });
    }
  }

  /** Asks a content. @returns what keeps its answer, inside a transaction */
  async #ask({ digest, attempts, mediaType }: Waiting): Promise<(tx: Transaction) => void> {
    const { rows, clock, findPath, onRead, program, log } = this.#options;
    const path = await findPath(digestFromBytes(digest));
    if (path === undefined || mediaType === null) return () => rows.done(digest);
    const reading = await this.#options.process.read(path, mediaType);
    if ("reason" in reading && reading.isLost && attempts + 1 < ATTEMPTS_MAX) return () => rows.tried(digest);
    if ("reason" in reading) log.debug("No embedded metadata.", { reason: reading.reason });
    const [info, failure] = "info" in reading ? [reading.info, null] : [NO_MEDIA_INFO, reading.reason];
    return (tx) => {
      rows.put(digest, info, failure, program, clock.nowMs());
      rows.done(digest);
      if (failure === null) onRead(tx, digest);
    };
  }
}
