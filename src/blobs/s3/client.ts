/**
 * One bucket of an S3-compatible service, by Bun's own client, which leaves three gaps that are closed here. Every call has a
 * timeout. Every upload is confirmed by what the service says it stored. Every download has the requested length.
 *
 * Bun does not sign the checksum of a body (UNSIGNED-PAYLOAD), so a service can't reject one that changed in transit: the
 * ETag of what it stored is compared. Bun reports the service's error code, never the status: a failure without a code
 * counts as an outage.
 */
import { createHash } from "node:crypto";
import { openBunClient, type S3Options } from "./options.ts";
import { S3Error } from "./error.ts";
import { MultipartEtag, partBytesOf } from "./etag.ts";
import { IdleTimeout, TimeoutError } from "./idle-timeout.ts";
import { NO_MESSAGE, putSigned } from "./signed-put.ts";

/** Metadata of an object. */
interface S3Head {
  readonly sizeBytes: number;
  /** Without quotes. An unchanged object keeps its ETag; how it is computed depends on the service. */
  readonly etag: string;
}

/** An object in the bucket. */
export interface S3Object {
  readonly key: string;
  readonly sizeBytes: number;
  readonly modifiedAtMs: number;
}

/** Bytes to be sent, with their checksums in hex. */
export interface S3Body {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly sha256: string;
  readonly md5: string;
}

/** Bytes to be sent that are too many for memory. */
export interface S3Source {
  readonly sizeBytes: number;
  /** Their checksum in hex. */
  readonly sha256: string;
  /** Begins to read them; called again for a retry. An error that it throws ends the upload and leaves nothing behind. */
  readonly read: () => AsyncIterable<Uint8Array<ArrayBuffer>>;
}

/** Makes a body of small bytes: the checksums are computed synchronously. */
export function toBody(bytes: Uint8Array<ArrayBuffer>): S3Body {
  const hash = (kind: string) => createHash(kind).update(bytes).digest("hex");
  return { bytes, sha256: hash("sha256"), md5: hash("md5") };
}

const TYPE = "application/octet-stream";
const TIMEOUT_MS = 20_000;
/** Lowest speed at which a body may be sent, in addition to the timeout: a slow connection is no failure. */
const SLOWEST_BYTES_PER_MS = 32;
/** Attempts of a call while the service is not reachable, and the pause before the second one. */
const ATTEMPTS = 3;
const RETRY_PAUSE_MS = 200;
const MESSAGE_MAX = 300;
const LIST_MAX = 1000;
/** Code of our own errors after a timeout. */
const TIMED_OUT = "Silent";

/** A client of one bucket. Every call throws {@link S3Error}. */
export class S3Client {
  readonly #options: S3Options;
  readonly #timeoutMs: number;
  readonly #bucket: Bun.S3Client;

  constructor(options: S3Options) {
    this.#options = options;
    this.#timeoutMs = options.silenceMs ?? TIMEOUT_MS;
    this.#bucket = openBunClient(options);
  }

  /** Metadata of an object; undefined if it is missing. */
  async head(key: string): Promise<S3Head | undefined> {
    return this.#stat(key);
  }

  /**
   * Streams the bytes `offset` up to `offset + lengthBytes` of an object. The reader cancels the transfer by ending the
   * iteration. A transfer that breaks off, times out or has another length ends with an error.
   *
   * An object that is too short is `damaged`. A transfer that breaks off while the service works is `cut`.
   */
  async get(key: string, offset: number, lengthBytes: number): Promise<AsyncGenerator<Uint8Array, void, undefined>> {
    if (lengthBytes === 0) return nothing();
    // Bun reports a missing object with its first bytes, not earlier.
    try {
      const { reader, first } = await this.#retry(async () => {
        const part = this.#bucket.file(key).slice(offset, offset + lengthBytes);
        const opened: BufferReader = part.stream().getReader();
        return { reader: opened, first: await this.#next(opened) };
      });
      return this.#buffers(reader, first, lengthBytes);
    } catch (error) {
      // Perhaps only this object can't be sent: an unreachable service does not respond to this request either.
      if (!isBroken(error) || (await this.#stat(key)) === undefined) throw error;
      throw cut(error);
    }
  }

  /** Reads a whole small object; undefined if it is missing. */
  async getSmall(key: string): Promise<Uint8Array | undefined> {
    try {
      return await this.#call(async () => new Uint8Array(await this.#bucket.file(key).arrayBuffer()));
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw error;
    }
  }

  /**
   * Writes an object of at most `PART_BYTES` (etag.ts). On return the service has stored all of it durably. One request is
   * enough where ETags are checksums.
   * @returns its ETag
   */
  async put(key: string, body: S3Body): Promise<string> {
    const { bytes, sha256, md5 } = body;
    // Ends after the timeout of the call, which then does not wait any more: the connection is free again.
    const timeoutMs = 2 * (this.#timeoutMs + bytes.length / SLOWEST_BYTES_PER_MS);
    const request = { bytes, type: TYPE, timeoutMs };
    const etag = await this.#call(() => putSigned(this.#bucket, key, request), bytes.length);
    if (etag === md5) return etag;
    return this.#confirm(key, { sizeBytes: bytes.length, sha256, etag: md5 });
  }

  /**
   * Writes a large object. On return the service has stored all of it durably; until then the object is not visible. Two
   * parts are in memory at a time. @returns its ETag @throws also what reading the source throws
   */
  async putLarge(key: string, source: S3Source): Promise<string> {
    const { sizeBytes, sha256 } = source;
    const partBytes = partBytesOf(sizeBytes);
    const etag = await this.#retry(() => this.#sendParts(key, source, partBytes));
    return this.#confirm(key, { sizeBytes, sha256, etag });
  }

  /** Deletes an object. Does nothing if it is missing. */
  async remove(key: string): Promise<void> {
    try {
      await this.#call(() => this.#bucket.file(key).delete());
    } catch (error) {
      if (!isAbsent(error)) throw error;
    }
  }

  /** Lists the next objects whose key begins with `prefix`, by key, at most a thousand. @param after the last key of the previous page */
  async list(prefix: string, after: string): Promise<S3Object[]> {
    const query = { prefix, maxKeys: LIST_MAX, ...(after !== "" && { startAfter: after }) };
    const { contents = [] } = await this.#call(() => this.#bucket.list(query));
    return contents.map(({ key, size, lastModified }) => ({
      key,
      sizeBytes: size ?? Number.NaN,
      modifiedAtMs: Date.parse(String(lastModified)),
    }));
  }

  /**
   * Metadata of an object. A rejected HEAD has no body, and Bun takes every 404 for a missing object, even if the bucket
   * is missing. So after a failure a GET follows, whose response has an error code.
   */
  async #stat(key: string): Promise<S3Head | undefined> {
    return this.#retry(async () => {
      const file = this.#bucket.file(key);
      try {
        const { size, etag } = await this.#withTimeout(file.stat());
        return { sizeBytes: size, etag: etag.replaceAll('"', "") };
      } catch (error) {
        if (!(error instanceof S3Error) || error.code === TIMED_OUT) throw error;
      }
      try {
        await this.#withTimeout(file.slice(0, 1).arrayBuffer());
      } catch (error) {
        if (isAbsent(error)) return undefined;
        throw error;
      }
      throw this.#outage("can't say what it has");
    });
  }

  /**
   * Sends an object in parts, by a stream. `writer()` won't do: its `end(error)` joins the parts to an incomplete object, while
   * a stream that fails aborts the multipart upload.
   * @returns the ETag that it should have: the MD5 of its parts' MD5s, and the number of parts
   */
  async #sendParts(key: string, source: S3Source, partBytes: number): Promise<string> {
    const timeout = new IdleTimeout(this.#timeoutMs + (2 * partBytes) / SLOWEST_BYTES_PER_MS);
    const etag = new MultipartEtag(partBytes);
    async function* read() {
      for await (const buffer of source.read()) {
        timeout.restart();
        etag.update(buffer);
        yield buffer;
      }
    }
    const options = { type: TYPE, partSize: partBytes, queueSize: 1, retry: ATTEMPTS - 1 };
    try {
      await timeout.race(this.#bucket.file(key).write(new Response(read()), options));
    } catch (error) {
      throw this.#translate(error);
    }
    return etag.digest();
  }

  /**
   * Checks that the service stored what was sent. An ETag that is the checksum of the bytes proves it. Other ETags (of a service
   * that encrypts, for instance) prove nothing, so all bytes are read again. A wrong object is deleted.
   * @returns the ETag
   */
  async #confirm(key: string, sent: { sizeBytes: number; sha256: string; etag: string }): Promise<string> {
    const found = await this.#stat(key);
    if (found?.sizeBytes === sent.sizeBytes) {
      if (found.etag === sent.etag) return found.etag;
      if ((await this.#hash(key, sent.sizeBytes)) === sent.sha256) return found.etag;
    }
    if (found !== undefined) await this.remove(key);
    throw new S3Error("damaged", `The service at ${this.#options.endpoint} has other bytes than were sent.`);
  }

  async #hash(key: string, sizeBytes: number): Promise<string> {
    const hasher = createHash("sha256");
    for await (const buffer of await this.get(key, 0, sizeBytes)) hasher.update(buffer);
    return hasher.digest("hex");
  }

  /**
   * Passes the buffers of a transfer on, each after the next one has arrived. So a service that sends a whole object where a
   * range was requested is detected before the reader has all requested bytes.
   */
  async *#buffers(reader: BufferReader, first: Uint8Array | undefined, lengthBytes: number) {
    let receivedBytes = first?.length ?? 0;
    let current = first;
    try {
      while (current !== undefined && receivedBytes <= lengthBytes) {
        const next = await this.#next(reader).catch((error: unknown) => {
          throw isBroken(error) ? cut(error) : error;
        });
        if (next === undefined) break;
        receivedBytes += next.length;
        if (receivedBytes > lengthBytes) break;
        yield current;
        current = next;
      }
      if (receivedBytes < lengthBytes) throw tooShort();
      if (receivedBytes > lengthBytes)
        throw this.#outage(`sent ${receivedBytes} bytes where ${lengthBytes} were asked for`);
      if (current !== undefined) yield current;
    } finally {
      cancel(reader);
    }
  }

  /** The next buffer; undefined at the end. */
  async #next(reader: BufferReader): Promise<Uint8Array | undefined> {
    try {
      const { done, value } = await this.#withTimeout(reader.read());
      return done ? undefined : value;
    } catch (error) {
      cancel(reader);
      throw error;
    }
  }

  #call<T>(request: () => Promise<T>, bodyBytes = 0): Promise<T> {
    return this.#retry(() => this.#withTimeout(request(), bodyBytes));
  }

  async #retry<T>(request: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await request();
      } catch (error) {
        const isTransient = error instanceof S3Error && error.problem === "unreachable" && error.code !== TIMED_OUT;
        if (!isTransient || attempt === ATTEMPTS) throw error;
        await Bun.sleep(RETRY_PAUSE_MS * attempt);
      }
    }
  }

  async #withTimeout<T>(response: Promise<T>, bodyBytes = 0): Promise<T> {
    try {
      return await new IdleTimeout(this.#timeoutMs + bodyBytes / SLOWEST_BYTES_PER_MS).race(response);
    } catch (error) {
      throw this.#translate(error);
    }
  }

  /** Translates an error of Bun's client; others are returned as they are. */
  #translate(error: unknown): unknown {
    if (error instanceof TimeoutError) return this.#outage("did not answer in time", TIMED_OUT);
    if (!(error instanceof Error) || error.name !== "S3Error" || error instanceof S3Error) return error;
    const { endpoint, bucket } = this.#options;
    const code = "code" in error ? String(error.code) : undefined;
    // Where the service sent a code without a message, Bun reports the whole body.
    const message = /^\s*<|^$/.test(error.message) ? "" : ` (${error.message.slice(0, MESSAGE_MAX)})`;
    const options = { code, cause: error };
    if (code === "NoSuchBucket")
      return new S3Error("refused", `There is no bucket "${bucket}" at ${endpoint}.`, options);
    if (code === "NoSuchKey") return new S3Error("absent", "There is no such object.", options);
    if (code === "InvalidRange") return tooShort(error);
    if (error.message === NO_MESSAGE) {
      return new S3Error("unreachable", `The service at ${endpoint} can't be reached: ${code}.`, options);
    }
    if (code === undefined || TRANSIENT_CODES.test(code)) {
      return new S3Error("unreachable", `The service at ${endpoint} can't serve now: ${code}${message}.`, options);
    }
    return new S3Error("refused", `The service at ${endpoint} refuses: ${code}${message}.`, options);
  }

  #outage(what: string, code?: string): S3Error {
    return new S3Error("unreachable", `The service at ${this.#options.endpoint} ${what}.`, { code });
  }
}

/** The reader of a transfer: a part of the web's own type, which Bun declares twice. */
interface BufferReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/** Codes of temporary failures (of Amazon, MinIO and Ceph), and of Bun for responses that are not from S3. */
const TRANSIENT_CODES =
  /^(SlowDown|Internal|InvalidResponse|UnknownError|NoSuchUpload|OperationAborted)|Unavailable|Time(d)?Out|TooMany|Throttl|NotInitialized|Quorum|StorageFull/i;

async function* nothing(): AsyncGenerator<Uint8Array, void, undefined> {}

/** Cancels a transfer. */
function cancel(reader: BufferReader): void {
  // An error of the transfer was reported to its reader already.
  reader.cancel().catch(() => undefined);
}

/** Whether the connection broke, because the service is unreachable or can't send this object. */
function isBroken(error: unknown): boolean {
  return error instanceof S3Error && error.problem === "unreachable" && error.code === "ConnectionClosed";
}

function cut(cause: unknown): S3Error {
  return new S3Error("cut", "The transfer broke off before its end.", { cause });
}

function tooShort(cause?: unknown): S3Error {
  return new S3Error("damaged", "The object is shorter than it should be.", { cause });
}

function isAbsent(error: unknown): boolean {
  return error instanceof S3Error && error.problem === "absent";
}
