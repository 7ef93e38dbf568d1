import type { Transaction, Writer } from "../db/transaction.ts";
import type { Log } from "../lib/log.ts";

/** Where counts wait, and how they get into the database. All of it is synchronous. */
export interface WriteBehindOptions<Pending> {
  readonly writer: Writer;
  readonly log: Log;
  /** What is written, for the log: "download counts". */
  readonly what: string;
  /** Takes what waits, or so much of it as one deed may hold; from here on it is no longer pending. */
  readonly take: () => Pending;
  /** Whether something waits still. */
  readonly isWaiting: () => boolean;
  /** Writes what was taken. Called right after `take`, inside the same transaction. */
  readonly write: (taken: Pending, tx: Transaction) => void;
  /** Puts what was taken back to what waits by now: it could not be written. */
  readonly giveBack: (taken: Pending) => void;
}

/** How long counts may wait; so much a crash may lose (contract §3). */
const DELAY_MS = 1_000;
const QUIET = { isQuiet: true } as const;

/**
 * Writes counts to the database a second after they arise, all in one deed, so that no request waits for the disk.
 * Nothing is written and no timer runs while nothing happens. What is taken and what is written change hands inside
 * one transaction: who adds the waiting counts to the stored ones reads the right sum at every instant.
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

  /** Something is waiting: it will be written within a second. */
  note(): void {
    if (this.#hasPending) return;
    this.#hasPending = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.flush(), DELAY_MS);
    // Counts alone keep no process alive: the shutdown flushes.
    this.#timer.unref();
  }

  /** Writes what waits now; resolves when it is durable, or is kept for the next try and logged. */
  flush(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    if (!this.#hasPending) return;
    clearTimeout(this.#timer);
    let isMore = true;
    // A long queue goes in several deeds, so that no request waits for all of it.
    while (isMore) isMore = await this.#writeSome();
  }

  /** Writes one deed, and tells whether more was waiting then. What arises after it waits for a second of its own. */
  async #writeSome(): Promise<boolean> {
    const { writer, log, what, take, isWaiting, write, giveBack } = this.#options;
    const taken: Pending[] = [];
    try {
      const isMore = await writer.run((tx) => {
        // On a second run, after room was made on a full disk, what was taken is in hand already.
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
      // A full disk fails every second: once is enough to say so.
      if (!this.#isFailing) log.error(`Could not write the ${what}; will retry.`, { error });
      this.#isFailing = true;
      return false;
    }
  }
}
