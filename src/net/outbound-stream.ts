import type { IncomingMessage } from "node:http";
import { OutboundError, translate } from "./outbound-error.ts";

/** Aborts a request if its server is silent too long, or if the caller aborts it. */
export class SilenceLimit {
  readonly #controller = new AbortController();
  readonly #limitMs: number;
  readonly #caller: AbortSignal | undefined;
  readonly #onAbort = () => this.#controller.abort();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isExceeded = false;

  constructor(limitMs: number, caller: AbortSignal | undefined) {
    this.#limitMs = limitMs;
    this.#caller = caller;
    if (caller?.aborted === true) this.#controller.abort();
    caller?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** For the request. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Call this when the server has to send something. */
  start(): void {
    this.#timer = setTimeout(() => {
      this.#isExceeded = true;
      this.#controller.abort();
    }, this.#limitMs);
  }

  /** Call this when the server has sent it: the time that the caller needs does not count. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  /** Call this when nothing more comes. */
  end(): void {
    this.stop();
    this.#caller?.removeEventListener("abort", this.#onAbort);
  }

  /** Why the request failed. */
  explain(error: unknown): OutboundError {
    if (this.#caller?.aborted === true) return new OutboundError("aborted", "the request was canceled");
    if (this.#isExceeded) return new OutboundError("timeout", `no data within ${this.#limitMs} ms`);
    return translate(error);
  }
}

/** The body of a response, which is read only as fast as the stream is. */
export function streamOf(
  incoming: IncomingMessage,
  limit: SilenceLimit,
  explain: (error: unknown) => OutboundError,
): ReadableStream<Uint8Array> {
  const parts: AsyncIterator<Buffer> = incoming[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        limit.start();
        try {
          const part = await parts.next();
          limit.stop();
          if (part.done !== true) return controller.enqueue(part.value);
          limit.end();
          controller.close();
        } catch (error) {
          limit.end();
          controller.error(explain(error));
        }
      },
      cancel() {
        limit.end();
        incoming.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}
