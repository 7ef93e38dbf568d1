/**
 * What of the list of photos is done behind, a bounded piece at a time: looking through what was stored before there was
 * the list, and giving their new places to the files of a content that told when it was taken, where those are many. Each
 * piece notes how far it has come; what is stored meanwhile is in the list at once.
 */
import type { Writer } from "../../../db/transaction.ts";
import type { Log } from "../../../lib/log.ts";
import type { PhotoRows } from "./queries.ts";

/** What {@link PhotoBackfill} works with. */
export interface PhotoBackfillOptions {
  readonly rows: PhotoRows;
  readonly writer: Pick<Writer, "run" | "waiting">;
  readonly log: Log;
  /** Reported when places changed without a change in any journal. */
  readonly onMoved: () => void;
}

/** Some milliseconds. */
const FILES_PER_TRANSACTION = 500;
const REST_MS = 5;
const BUSY_REST_MS = 100;

/** See the head of this file. For the server alone. */
export class PhotoBackfill {
  readonly #options: PhotoBackfillOptions;
  #working: Promise<void> | undefined;
  #isStarted = false;
  #isStopped = false;
  #isWoken = false;

  constructor(options: PhotoBackfillOptions) {
    this.#options = options;
  }

  /** Goes on where it stopped; returns at once. In the server alone. */
  start(): void {
    this.#isStarted = true;
    this.wake();
  }

  /** Looks whether there is something to do: after a content told something. After a failure the next one goes on. */
  wake(): void {
    this.#isWoken = true;
    if (this.#isStarted && !this.#isStopped) this.#working ??= this.#work();
  }

  /** Goes through all that is left, unless it is stopped. */
  async drain(): Promise<void> {
    const { rows, writer, onMoved } = this.#options;
    while (!this.#isStopped) {
      if (rows.hasFilesToMove()) {
        await writer.run((tx) => {
          rows.moveSome(FILES_PER_TRANSACTION);
          tx.afterCommit(onMoved);
        });
      } else if (!rows.isFilled()) {
        await writer.run(() => rows.backfillSome(FILES_PER_TRANSACTION));
      } else {
        return;
      }
      await Bun.sleep(writer.waiting > 0 ? BUSY_REST_MS : REST_MS);
    }
  }

  /** Ends after the piece that is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#working;
  }

  async #work(): Promise<void> {
    try {
      do {
        this.#isWoken = false;
        await this.drain();
      } while (this.#isWoken && !this.#isStopped);
    } catch (error) {
      this.#options.log.error("Could not complete the photo list; the next start continues.", { error });
    } finally {
      this.#working = undefined;
    }
  }
}
