import type { Transaction, Writer } from "../db/transaction.ts";
import type { Log } from "../lib/log.ts";

/** Where pending counts are, and how they are written to the database. All functions are synchronous. */
export interface WriteBehindOptions<Pending> {
  readonly writer: Writer;
  readonly log: Log;
  /** What is written, for the log: "download counts". */
  readonly what: string;
  /** Takes the pending counts, or as many as fit into one transaction. They are not pending any more then. */
  readonly take: () => Pending;
  /** Whether counts are pending. */
  readonly isWaiting: () => boolean;
  /** Writes what was taken. Called right after `take`, inside the same transaction. */
  readonly write: (taken: Pending, tx: Transaction) => void;
  /** Returns counts that could not be written to the pending ones. */
  readonly giveBack: (taken: Pending) => void;
}

/** How long counts stay in memory: a crash loses at most this much. */
const DELAY_MS = 1_000;
const QUIET = { isQuiet: true } as const;

/**
 * Writes counts to the database with a delay of one second, all in one transaction, so that no request waits for the
 * disk. Without new counts nothing is written and no timer runs. Counts are taken and written inside one transaction,
 * so the sum of pending and stored counts is right at every instant.
 */
export class WriteBehind<Pending> {
  readonly #options: WriteBehindOptions<Pending>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hasPending = false;
  #isFailing = false;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: WriteBehindOptions<Pending>) {
    this.#options = options;
  }

  /** Call this after adding a count: it is written within a second. */
  note(): void {
    if (this.#hasPending) return;
    this.#hasPending = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.flush(), DELAY_MS);
    // The timer must not keep the process alive: the shutdown flushes.
    this.#timer.unref();
  }

  /**
   * Writes the pending counts. Resolves when they are durable, or when a failure is logged and they are pending again.
   */
  flush(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    if (!this.#hasPending) return;
    clearTimeout(this.#timer);
    let isMore = true;
    // Many counts are written in several transactions, so that no request waits for all of them.
    while (isMore) isMore = await this.#writeSome();
  }

  /** Writes one transaction. @returns whether more counts were pending then; later ones get their own delay */
  async #writeSome(): Promise<boolean> {
    const { writer, log, what, take, isWaiting, write, giveBack } = this.#options;
    const taken: Pending[] = [];
    try {
      const isMore = await writer.run((tx) => {
        // After a full disk the body runs a second time, with the counts that it has taken already.
        const pending = taken[0] ?? take();
        taken[0] = pending;
        this.#hasPending = isWaiting();
        write(pending, tx);
        return this.#hasPending;
      }, QUIET);
      this.#isFailing = false;
      return isMore;
    } catch (error) {
      for (const pending of taken) giveBack(pending);
      this.#hasPending = false;
      this.note();
      // A full disk fails every second: log it once.
      if (!this.#isFailing) log.error(`Could not write the ${what}; will retry.`, { error });
      this.#isFailing = true;
      return false;
    }
  }
}
