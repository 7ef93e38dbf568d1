/** Limits of a {@link FairQueue}. */
interface FairQueueLimits {
  /** How much work runs concurrently. */
  readonly runningMax: number;
  /** How much work may wait, over all lines. */
  readonly waitingMax: number;
}

/** Called with true when the work may start, with false when it was removed from the queue. */
type Waiter = (isTurn: boolean) => void;

/**
 * A bounded queue with one line per requester, such as a client address. The lines take turns, so a long line delays
 * the others by at most one unit of work. When the whole queue is full, a shorter line replaces the last entry of the
 * longest.
 */
export class FairQueue {
  readonly #limits: FairQueueLimits;
  /** Waiting work by line, the line whose turn is next first. No line is empty. */
  readonly #lines = new Map<string, Waiter[]>();
  #running = 0;
  #waiting = 0;

  constructor(limits: FairQueueLimits) {
    this.#limits = limits;
  }

  /**
   * Runs `work` when it is its turn.
   * @param onFull creates the error for a full queue, or for work removed in favor of a shorter line
   * @param signal removes waiting work from the queue
   * @throws the reason of the signal if the work had not started
   */
  async run<T>(line: string, work: () => Promise<T>, onFull: () => Error, signal?: AbortSignal): Promise<T> {
    if (this.#running < this.#limits.runningMax) this.#running++;
    // Work that ends hands its slot to the next one, so that `#running` does not drop in between.
    else if (!(await this.#wait(line, signal))) {
      signal?.throwIfAborted();
      throw onFull();
    }
    try {
      return await work();
    } finally {
      const next = this.#next();
      if (next === undefined) this.#running--;
      else next(true);
    }
  }

  #wait(line: string, signal: AbortSignal | undefined): Promise<boolean> | false {
    const own = this.#lines.get(line);
    if (this.#waiting >= this.#limits.waitingMax && !this.#makeRoom(own?.length ?? 0)) return false;
    this.#waiting++;
    return new Promise((resolve) => {
      if (own === undefined) this.#lines.set(line, [resolve]);
      else own.push(resolve);
      signal?.addEventListener("abort", () => this.#remove(line, resolve), { once: true });
    });
  }

  /** Removes work that still waits. */
  #remove(name: string, waiter: Waiter): void {
    const line = this.#lines.get(name);
    const index = line?.indexOf(waiter) ?? -1;
    if (line === undefined || index < 0) return;
    line.splice(index, 1);
    if (line.length === 0) this.#lines.delete(name);
    this.#waiting--;
    waiter(false);
  }

  /** Removes the last entry of the longest line, unless that line would become shorter than the requester's. */
  #makeRoom(ownLength: number): boolean {
    let longest: Waiter[] = [];
    for (const line of this.#lines.values()) if (line.length > longest.length) longest = line;
    if (longest.length <= ownLength + 1) return false;
    this.#waiting--;
    longest.pop()?.(false);
    return true;
  }

  #next(): Waiter | undefined {
    const [first] = this.#lines;
    if (first === undefined) return undefined;
    const [name, line] = first;
    const next = line.shift();
    this.#waiting--;
    this.#lines.delete(name);
    if (line.length > 0) this.#lines.set(name, line);
    return next;
  }
}
