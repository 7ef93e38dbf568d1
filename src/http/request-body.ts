import { AppError } from "../errors.ts";
import { say } from "../translations/say.ts";
import type { BodyKind, BodyPace } from "./body-pace.ts";
import { requestContextOf } from "./request-context.ts";

/**
 * The client disconnected while its request was being read. No client receives a response: discard unfinished work, and
 * log it at debug level at most.
 */
export class ClientGoneError extends Error {
  /** How many bytes of the body were read. */
  readonly receivedBytes: number;

  constructor(cause?: unknown, receivedBytes = 0) {
    super("The client closed the connection before its request was complete.", cause === undefined ? {} : { cause });
    this.name = "ClientGoneError";
    this.receivedBytes = receivedBytes;
  }
}

/** Receives the bytes of a body. It may use a buffer only until the call returns or its promise settles. */
export interface BufferSink {
  /** Receives the next buffer. The client has to wait until a returned promise settles. */
  write(bytes: Uint8Array): Promise<void> | void;
}

/** The used part of a stream reader. The type libraries disagree about the rest. */
interface BodyReader {
  read(): Promise<{ done: true; value?: Uint8Array | undefined } | { done: false; value: Uint8Array }>;
  cancel(): Promise<void>;
}

/**
 * While several bodies arrive concurrently, each yields after this many bytes: about a millisecond of hashing and
 * writing. One or two bodies yield only after `TURN_MS`, which needs less CPU and memory.
 */
const TURN_BYTES = 512 * 1024;
const FEW_BODIES = 2;
const TURN_MS = 5;

/** Number of bodies that are being read in this process; decides whether they yield. */
let bodiesInProgress = 0;

/** The Content-Length of a request, if it has one. */
export function declaredBytes(request: Request): number | undefined {
  const header = request.headers.get("content-length");
  return header === null ? undefined : Number(header);
}

/**
 * Reads the body of a request with the limits of its kind.
 * @throws as {@link forEachBodyBuffer}
 */
export function readBody(
  request: Request,
  kind: BodyKind,
  take: (bytes: Uint8Array) => Promise<void> | void,
): Promise<void> {
  return forEachBodyBuffer(request.body, take, requestContextOf(request).beginBody(kind));
}

/**
 * Passes each buffer of a request body to `take`, one after the other. An error of `take` ends the reading and is
 * thrown unchanged; the rest of the body is discarded. This is the only reader of request bodies.
 *
 * @throws ClientGoneError if the client disconnects; AppError body_too_large above the server's limit; body_timeout or
 *   rate_limited from `body-pace.ts`
 */
export async function forEachBodyBuffer(
  body: ReadableStream<Uint8Array> | null,
  take: (bytes: Uint8Array) => Promise<void> | void,
  pace: BodyPace,
): Promise<void> {
  if (body === null) return;
  const reader: BodyReader = body.getReader();
  let sinceTurnBytes = 0;
  let turnBeganMs = performance.now();
  let receivedBytes = 0;
  bodiesInProgress++;
  try {
    // A waiting read returns as if the body had ended.
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
      if (sinceTurnBytes < TURN_BYTES) continue;
      if (bodiesInProgress <= FEW_BODIES && performance.now() - turnBeganMs < TURN_MS) continue;
      // Reading buffered bytes does not leave this turn of the event loop, so other work would wait for all of them.
      await new Promise(setImmediate);
      sinceTurnBytes = 0;
      turnBeganMs = performance.now();
    }
  } catch (error) {
    // Otherwise the rest of the body would stay in memory.
    await reader.cancel().catch(() => undefined);
    throw error;
  } finally {
    pace.end();
    bodiesInProgress--;
  }
}

/**
 * Frees the memory of each buffer as soon as `take` has used it. The garbage collector sees small objects, not the
 * 512 KiB that each holds. Without this, several large chunks at the same time would use tens of MiB.
 */
export function freeing(
  take: (bytes: Uint8Array) => Promise<void> | void,
): (bytes: Uint8Array) => Promise<void> | void {
  return (bytes) => {
    const taken = take(bytes);
    const { buffer } = bytes;
    // Do not free a buffer that is still in use, or that is part of a larger one.
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
      throw new AppError("body_too_large", say`The request is too large for this server. Send less data.`, {}, error);
    }
    throw error;
  }
}
