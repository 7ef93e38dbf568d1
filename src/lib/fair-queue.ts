/**
 * A bounded queue with a line for each of those who may ask, such as an address. The lines take turns, so a long one
 * delays nobody else by more than one piece of work. Where the whole queue is full, the longest line gives up its last
 * place to a shorter one.
 */

/** How much a {@link FairQueue} takes. */
export interface FairQueueLimits {
  /** Pieces of work that run side by side. */
  readonly runningMax: number;
  /** Pieces of work that wait, over all lines. */
  readonly waitingMax: number;
}

/** Called with whether it is this one's turn now, or it has lost its place. */
type Waiting = (isTurn: boolean) => void;

/** See the head of this file. */
export class FairQueue {
  readonly #limits: FairQueueLimits;
  /** Those that wait, by line; the line whose turn is next comes first. None is empty. */
  readonly #lines = new Map<string, Waiting[]>();
  #running = 0;
  #waiting = 0;

  constructor(limits: FairQueueLimits) {
    this.#limits = limits;
  }

  /**
   * Does the work when it is its turn.
   * @param onFull makes the error where there is no place, or the place is given to a shorter line
   */
  async run<T>(line: string, work: () => Promise<T>, onFull: () => Error): Promise<T> {
    if (this.#running < this.#limits.runningMax) this.#running++;
    // The one that ends passes its place on, so that `#running` never falls between.
    else if (!(await this.#wait(line))) throw onFull();
    try {
      return await work();
    } finally {
      const next = this.#next();
      if (next === undefined) this.#running--;
      else next(true);
    }
  }

  #wait(line: string): Promise<boolean> | false {
    const own = this.#lines.get(line);
    if (this.#waiting >= this.#limits.waitingMax && !this.#makeRoom(own?.length ?? 0)) return false;
    this.#waiting++;
    return new Promise((resolve) => {
      if (own === undefined) this.#lines.set(line, [resolve]);
      else own.push(resolve);
    });
  }

  /** Takes the last place of the longest line, where that stays no shorter than the line that asks will be. */
  #makeRoom(ownLength: number): boolean {
    let longest: Waiting[] = [];
    for (const line of this.#lines.values()) if (line.length > longest.length) longest = line;
    if (longest.length <= ownLength + 1) return false;
    this.#waiting--;
    longest.pop()?.(false);
    return true;
  }

  #next(): Waiting | undefined {
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
