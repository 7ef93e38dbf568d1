/**
 * Background work for the photo list, in bounded steps: indexing files stored before the list existed, and moving the
 * files of a blob to their new dates after its metadata was read, if they are many, and pairing Live Photos. Each step records its progress. New
 * files are in the list immediately.
 */
import type { Writer } from "../../../db/transaction.ts";
import { BackgroundWork } from "../../../jobs/background-work.ts";
import type { Log } from "../../../lib/log.ts";
import type { LivePairs } from "./live-pairs.ts";
import type { PhotoRows } from "./queries.ts";

/** Dependencies of {@link PhotoBackfill}. */
export interface PhotoBackfillOptions {
  readonly rows: PhotoRows;
  readonly livePairs: LivePairs;
  readonly writer: Pick<Writer, "run" | "waiting">;
  readonly log: Log;
  /** Called when dates changed without a change in any journal. */
  readonly onMoved: () => void;
}

/** Files per transaction of some milliseconds. */
const FILES_PER_TRANSACTION = 500;
const PAIRED_PER_TRANSACTION = 100;
const REST_MS = 5;
/** After a change of files: both halves of a Live Photo are often moved or deleted right after each other. */
const PAIRING_DELAY_MS = 300;
const BUSY_REST_MS = 100;

/** Runs the background work. Only in the server. */
export class PhotoBackfill {
  readonly #options: PhotoBackfillOptions;
  readonly #work: BackgroundWork;
  #soon: ReturnType<typeof setTimeout> | undefined;

  constructor(options: PhotoBackfillOptions) {
    this.#options = options;
    this.#work = new BackgroundWork({
      log: options.log,
      what: "complete the photo list",
      work: (stop) => this.drain(stop),
    });
  }

  /** Continues where it stopped; returns at once. Only in the server. */
  start(): void {
    this.#work.start();
  }

  /** Checks for work after metadata was read. */
  wake(): void {
    this.#work.wake();
  }

  /** Checks for work a moment after files changed. */
  wakeSoon(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      this.wake();
    }, PAIRING_DELAY_MS).unref();
  }

  /** Completes all work, unless stopped. */
  async drain(stop?: AbortSignal): Promise<void> {
    const { rows, livePairs, writer, onMoved } = this.#options;
    const isStopped = () => stop?.aborted === true;
    while (!isStopped()) {
      if (rows.hasFilesToMove()) {
        await writer.run((tx) => {
          rows.moveSome(FILES_PER_TRANSACTION);
          tx.afterCommit(onMoved);
        });
      } else if (livePairs.hasQueued()) {
        await writer.run((tx) => {
          livePairs.pairSome(PAIRED_PER_TRANSACTION);
          tx.afterCommit(onMoved);
        });
      } else if (!rows.isBackfilled()) {
        await writer.run(() => rows.backfillSome(FILES_PER_TRANSACTION));
      } else {
        return;
      }
      await Bun.sleep(writer.waiting > 0 ? BUSY_REST_MS : REST_MS);
    }
  }

  /** Ends after the current step. */
  async stop(): Promise<void> {
    clearTimeout(this.#soon);
    await this.#work.stop();
  }
}
