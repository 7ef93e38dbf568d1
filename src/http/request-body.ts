import { AppError } from "../errors.ts";
import type { BodyKind, BodyPace } from "./body-pace.ts";
import { requestContextOf } from "./request-context.ts";

/**
 * The client broke off while its request was still being read. Nobody hears a response any more: discard what was
 * begun, log it at debug level at most.
 */
export class ClientGoneError extends Error {
  /** How much of the body had arrived, as far as it was read. */
  readonly receivedBytes: number;

  constructor(cause?: unknown, receivedBytes = 0) {
    super("The client closed the connection before its request was complete.", cause === undefined ? {} : { cause });
    this.name = "ClientGoneError";
    this.receivedBytes = receivedBytes;
  }
}

/**
 * Where the bytes of a body go. A piece may be used until the returned promise is settled (or the call returns), not
 * longer.
 */
export interface BufferSink {
  /** Takes the next piece. Returning a promise holds the client back until it is settled. */
  write(bytes: Uint8Array): Promise<void> | void;
}

/** What of a stream's reader is used here; the type libraries disagree about the rest. */
interface BodyReader {
  read(): Promise<{ done: true; value?: Uint8Array | undefined } | { done: false; value: Uint8Array }>;
  cancel(): Promise<void>;
}

/**
 * If several bodies arrive at once, each yields after so many bytes: about a millisecond of hashing and writing. One or
 * two bodies alone leave enough time, and need less CPU and memory without yielding.
 */
const TURN_BYTES = 512 * 1024;
const FEW_BODIES = 2;

/** Bodies being read in this process; only whether they take turns depends on it. */
let bodiesUnderWay = 0;

/** Content-Length, where the request has one. */
export function declaredBytes(request: Request): number | undefined {
  const header = request.headers.get("content-length");
  return header === null ? undefined : Number(header);
}

/**
 * Hands the body of a request on piece by piece: {@link forEachBodyBuffer}, at the pace that its kind asks for.
 * @throws as {@link forEachBodyBuffer}
 */
export function readBody(
  request: Request,
  kind: BodyKind,
  take: (bytes: Uint8Array) => Promise<void> | void,
): Promise<void> {
  return forEachBodyBuffer(request.body, take, requestContextOf(request).paceOf(kind));
}

/**
 * Hands a request body on piece by piece, as it arrives, each after the last was taken. What `take` throws ends the
 * reading at once and leaves unchanged; the rest of the body is not kept. This is the one reader of request bodies.
 *
 * @throws ClientGoneError when the client goes away; AppError body_too_large when the body passes the server's own bound;
 *   body_timeout | rate_limited as the pace says
 */
export async function forEachBodyBuffer(
  body: ReadableStream<Uint8Array> | null,
  take: (bytes: Uint8Array) => Promise<void> | void,
  pace: BodyPace,
): Promise<void> {
  if (body === null) return;
  const reader: BodyReader = body.getReader();
  let sinceTurnBytes = 0;
  let receivedBytes = 0;
  bodiesUnderWay++;
  try {
    // A read that waits returns as if the body had ended.
    pace.begin(() => void reader.cancel().catch(() => undefined));
    for (;;) {
      pace.wait();
      const next = await readNext(reader, receivedBytes);
      pace.arrived(next.done ? 0 : next.value.length);
      if (next.done) return;
      receivedBytes += next.value.length;
      const taken = take(next.value);
      if (taken !== undefined) await taken;
      sinceTurnBytes += next.value.length;
      if (bodiesUnderWay <= FEW_BODIES || sinceTurnBytes < TURN_BYTES) continue;
      sinceTurnBytes = 0;
      // What has arrived already is read without leaving this turn of the event loop: others would wait for all of it.
      await new Promise(setImmediate);
    }
  } catch (error) {
    // Without this the rest of the body would wait in memory for a reader that never comes.
    await reader.cancel().catch(() => undefined);
    throw error;
  } finally {
    pace.end();
    bodiesUnderWay--;
  }
}

/**
 * Gives the memory of each piece back as soon as it was taken. Left to the collector, which sees the small objects and
 * not the half megabytes behind them, several large chunks at once pile up tens of MiB.
 */
export function freeing(
  take: (bytes: Uint8Array) => Promise<void> | void,
): (bytes: Uint8Array) => Promise<void> | void {
  return (bytes) => {
    const taken = take(bytes);
    const { buffer } = bytes;
    // One that is still in use, or that is part of a larger one, is left alone.
    if (taken === undefined && buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength) {
      buffer.transfer(0);
    }
    return taken;
  };
}

async function readNext(
  reader: BodyReader,
  receivedBytes: number,
): Promise<{ done: true } | { done: false; value: Uint8Array }> {
  try {
    return await reader.read();
  } catch (error) {
    if (error instanceof Error && error.name === "AbortError") throw new ClientGoneError(error, receivedBytes);
    if (error instanceof Error && error.message.includes("maxRequestBodySize")) {
      throw new AppError("body_too_large", "The request is too large for this server. Send less data.", {}, error);
    }
    throw error;
  }
}
