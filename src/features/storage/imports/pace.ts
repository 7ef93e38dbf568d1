/** How long work may block the event loop, and the longest rest after it. */
const WORK_MS = 4;
const REST_MS_MAX = 20;

/** Lets requests through: after some milliseconds of work, rests for at least as long as it worked. */
export class Pace {
  #sinceMs = performance.now();

  async rest(): Promise<void> {
    const workedMs = performance.now() - this.#sinceMs;
    if (workedMs < WORK_MS) return;
    await Bun.sleep(Math.min(2 * workedMs, REST_MS_MAX));
    this.#sinceMs = performance.now();
  }
}
