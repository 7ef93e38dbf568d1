/** Nothing arrived within the timeout. */
export class TimeoutError extends Error {}

/** Ends the wait for a response when nothing arrived for so long. Bun's client can't be aborted: its request ends later. */
export class IdleTimeout {
  readonly #ms: number;
  readonly #timeout = Promise.withResolvers<never>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hasEnded = false;

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Starts the timeout again, because bytes moved. @throws TimeoutError if the wait has ended */
  restart(): void {
    if (this.#hasEnded) throw new TimeoutError("The wait has ended.");
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#timeout.reject(new TimeoutError("Nothing arrived in time.")), this.#ms);
  }

  /** Waits for a response. One that arrives after the timeout is ignored, even an error. @throws TimeoutError */
  async race<T>(response: Promise<T>): Promise<T> {
    this.restart();
    try {
      return await Promise.race([response, this.#timeout.promise]);
    } finally {
      this.#hasEnded = true;
      clearTimeout(this.#timer);
    }
  }
}
