/**
 * One bucket of an S3-compatible service: what the store needs of it and no more, by Bun's own client. What that leaves
 * open is closed here: nothing is waited for without end, nothing that was sent is believed before the service was asked
 * what it has, and nothing that comes is longer or shorter than what was asked for.
 *
 * Bun signs no sum of a body (UNSIGNED-PAYLOAD), so a service can't refuse one that changed on its way: what it has is
 * compared afterwards. Of an error Bun tells the service's code, never the status: no success without a code is an outage.
 */
import { createHash } from "node:crypto";

/** Where the bucket is, and who asks. */
export interface S3Options {
  /** Base address of the service, without a path: `https://s3.example.org`. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Whether the bucket is named in the path (MinIO, Ceph, Garage) rather than in the host name (AWS). */
  readonly isPathStyle: boolean;
  /** How long the service may be silent; default 20 s. */
  readonly silenceMs?: number;
}

/** What can go wrong, as far as callers do different things about it. */
export type S3Problem = "absent" | "unreachable" | "refused" | "damaged" | "cut";

/** The service said no, or nothing at all. The message is for the operator. */
export class S3Error extends Error {
  override readonly name = "S3Error";
  /**
   * `absent`: no such object; `unreachable`: no answer, or one that says "later"; `refused`: keys, bucket or address are
   * wrong; `damaged`: bytes are not what they should be, or too few; `cut`: the transfer broke off, while the service works.
   */
  readonly problem: S3Problem;
  /** The code of the service, such as `SignatureDoesNotMatch`, if it gave one. */
  readonly code: string | undefined;

  constructor(
    problem: S3Problem,
    message: string,
    { code, cause }: { code?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.problem = problem;
    this.code = code;
  }
}

/** What a service says of an object without sending it. */
export interface S3Head {
  readonly sizeBytes: number;
  /** Without quotes. The same object has the same; what it is made of depends on the service. */
  readonly etag: string;
}

/** An object in the bucket. */
export interface S3Object {
  readonly key: string;
  readonly sizeBytes: number;
  readonly modifiedAtMs: number;
}

/** Bytes to be sent, with their sums in hex. */
export interface S3Body {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly sha256: string;
  readonly md5: string;
}

/** Bytes to be sent that are too many for the memory. */
export interface S3Source {
  readonly sizeBytes: number;
  /** Their sum in hex. */
  readonly sha256: string;
  /** Begins to read them; again where sending failed. What it throws ends the upload, of which nothing stays. */
  readonly read: () => AsyncIterable<Uint8Array<ArrayBuffer>>;
}

/** A body and its sums. For what is small: all of it is gone through at once. */
export function toBody(bytes: Uint8Array<ArrayBuffer>): S3Body {
  const sum = (kind: string) => createHash(kind).update(bytes).digest("hex");
  return { bytes, sha256: sum("sha256"), md5: sum("md5") };
}

/** Up to this size an object is sent at once; a larger one in parts of at least so much. */
export const PART_BYTES = 8 * 1024 * 1024;

/** So many parts an object has at most (API, "Multipart upload limits"). */
const PARTS_MAX = 10_000;
const TYPE = "application/octet-stream";
const SILENCE_MS = 20_000;
/** A body may take as long as this many bytes take per millisecond, on top: slow lines are no failures. */
const SLOWEST_BYTES_PER_MS = 32;
/** Tries of a call that found the service not working; between them it rests a while. */
const ATTEMPTS = 3;
const REST_MS = 200;
const MESSAGE_MAX = 300;
const LIST_MAX = 1000;
/** Code of errors of our own: the service was waited for long enough. */
const SILENT = "Silent";

/** See the head of this file. Every call throws {@link S3Error}. */
export class S3Client {
  readonly #options: S3Options;
  readonly #silenceMs: number;
  readonly #bucket: Bun.S3Client;

  constructor(options: S3Options) {
    const { endpoint, region, bucket, accessKeyId, secretAccessKey, isPathStyle } = options;
    this.#options = options;
    this.#silenceMs = options.silenceMs ?? SILENCE_MS;
    this.#bucket = new Bun.S3Client({
      endpoint: isPathStyle ? endpoint : inHostName(endpoint, bucket),
      region,
      bucket,
      accessKeyId,
      secretAccessKey,
      virtualHostedStyle: !isPathStyle,
    });
  }

  /** What an object is like; undefined where there is none. */
  async head(key: string): Promise<S3Head | undefined> {
    return this.#stat(key);
  }

  /**
   * Bytes `offset` up to `offset + lengthBytes` of an object as they come. What breaks off, or is silent for too long, ends
   * in an error, as does an answer of another length. The reader ends the transfer by ending the iteration.
   *
   * An object that is shorter than asked for is `damaged`. One whose transfer breaks off is `cut`, if the service works.
   */
  async get(key: string, offset: number, lengthBytes: number): Promise<AsyncGenerator<Uint8Array, void, undefined>> {
    if (lengthBytes === 0) return nothing();
    // Whether there is such an object is told with its first bytes, and by no answer before them.
    try {
      const { reader, first } = await this.#tryAgain(async () => {
        const part = this.#bucket.file(key).slice(offset, offset + lengthBytes);
        const opened: Pieces = part.stream().getReader();
        return { reader: opened, first: await this.#next(opened) };
      });
      return this.#pieces(reader, first, lengthBytes);
    } catch (error) {
      // It may be this object alone that can't be sent: a service that is away doesn't answer this either.
      if (!isBroken(error) || (await this.#stat(key)) === undefined) throw error;
      throw cut(error);
    }
  }

  /** A small object whole; undefined where there is none. */
  async getSmall(key: string): Promise<Uint8Array | undefined> {
    try {
      return await this.#call(async () => new Uint8Array(await this.#bucket.file(key).arrayBuffer()));
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw error;
    }
  }

  /**
   * Writes an object of at most {@link PART_BYTES} at once; durable with the service on return, and whole.
   * @returns its ETag
   */
  async put(key: string, body: S3Body): Promise<string> {
    const { bytes, sha256, md5 } = body;
    await this.#call(() => this.#bucket.file(key).write(bytes, { type: TYPE }), bytes.length);
    return this.#confirm(key, { sizeBytes: bytes.length, sha256, tag: md5 });
  }

  /**
   * Writes a large object; durable with the service on return, and whole. Nothing of it is to be seen before all of it is
   * there. Two parts of it are in memory at a time. @returns its ETag @throws also what reading the source throws
   */
  async putLarge(key: string, source: S3Source): Promise<string> {
    const { sizeBytes, sha256 } = source;
    const partBytes = partBytesOf(sizeBytes);
    const tag = await this.#tryAgain(() => this.#sendParts(key, source, partBytes));
    return this.#confirm(key, { sizeBytes, sha256, tag });
  }

  /** Removes an object. Nothing happens where there is none. */
  async remove(key: string): Promise<void> {
    try {
      await this.#call(() => this.#bucket.file(key).delete());
    } catch (error) {
      if (!isAbsent(error)) throw error;
    }
  }

  /** The next objects whose key begins with `prefix`, by key, at most a thousand. @param after the last of those before */
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
   * What the service has under a key. A HEAD is refused without a word, and Bun takes every 404 for a missing object, also
   * of a bucket that isn't there: so whatever is no success is asked for once more in a way that is answered in words.
   */
  async #stat(key: string): Promise<S3Head | undefined> {
    return this.#tryAgain(async () => {
      const file = this.#bucket.file(key);
      try {
        const { size, etag } = await this.#inTime(file.stat());
        return { sizeBytes: size, etag: etag.replaceAll('"', "") };
      } catch (error) {
        if (!(error instanceof S3Error) || error.code === SILENT) throw error;
      }
      try {
        await this.#inTime(file.slice(0, 1).arrayBuffer());
      } catch (error) {
        if (isAbsent(error)) return undefined;
        throw error;
      }
      throw this.#outage("can't say what it has");
    });
  }

  /**
   * Sends an object in parts. By a stream, not by `writer()`: that one's `end(error)` puts the parts together, and makes an
   * object of what is broken, while a stream that fails takes back what was sent. The stream waits for the parts.
   * @returns the ETag that it should have: the MD5 of its parts' MD5s, and how many they are
   */
  async #sendParts(key: string, source: S3Source, partBytes: number): Promise<string> {
    const silence = new Silence(this.#silenceMs + (2 * partBytes) / SLOWEST_BYTES_PER_MS);
    const sums = new PartSums(partBytes);
    async function* read() {
      for await (const piece of source.read()) {
        silence.heard();
        sums.update(piece);
        yield piece;
      }
    }
    const options = { type: TYPE, partSize: partBytes, queueSize: 1, retry: ATTEMPTS - 1 };
    try {
      await silence.bound(this.#bucket.file(key).write(new Response(read()), options));
    } catch (error) {
      throw this.#translate(error);
    }
    return sums.digest();
  }

  /**
   * Whether the service has what was sent. An ETag that is the sum of the bytes proves it; where it is none, because the
   * service encrypts or has another way of making them, all bytes are read again. What is wrong doesn't stay.
   * @returns the ETag
   */
  async #confirm(key: string, sent: { sizeBytes: number; sha256: string; tag: string }): Promise<string> {
    const found = await this.#stat(key);
    if (found?.sizeBytes === sent.sizeBytes) {
      if (found.etag === sent.tag) return found.etag;
      if ((await this.#hash(key, sent.sizeBytes)) === sent.sha256) return found.etag;
    }
    if (found !== undefined) await this.remove(key);
    throw new S3Error("damaged", `The service at ${this.#options.endpoint} has other bytes than were sent.`);
  }

  async #hash(key: string, sizeBytes: number): Promise<string> {
    const sum = createHash("sha256");
    for await (const piece of await this.get(key, 0, sizeBytes)) sum.update(piece);
    return sum.digest("hex");
  }

  /**
   * The last piece is held back until the end is known to be one: a service that sends all of an object where a part was
   * asked for is found out before its reader has as many bytes as it wanted.
   */
  async *#pieces(reader: Pieces, first: Uint8Array | undefined, lengthBytes: number) {
    let got = first?.length ?? 0;
    let held = first;
    try {
      while (held !== undefined && got <= lengthBytes) {
        const next = await this.#next(reader).catch((error: unknown) => {
          throw isBroken(error) ? cut(error) : error;
        });
        if (next === undefined) break;
        got += next.length;
        if (got > lengthBytes) break;
        yield held;
        held = next;
      }
      if (got < lengthBytes) throw tooShort();
      if (got > lengthBytes) throw this.#outage(`sent ${got} bytes where ${lengthBytes} were asked for`);
      if (held !== undefined) yield held;
    } finally {
      letGo(reader);
    }
  }

  /** The next piece; undefined at the end. */
  async #next(reader: Pieces): Promise<Uint8Array | undefined> {
    try {
      const { done, value } = await this.#inTime(reader.read());
      return done ? undefined : value;
    } catch (error) {
      letGo(reader);
      throw error;
    }
  }

  #call<T>(deed: () => Promise<T>, bodyBytes = 0): Promise<T> {
    return this.#tryAgain(() => this.#inTime(deed(), bodyBytes));
  }

  async #tryAgain<T>(deed: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await deed();
      } catch (error) {
        const isPassing = error instanceof S3Error && error.problem === "unreachable" && error.code !== SILENT;
        if (!isPassing || attempt === ATTEMPTS) throw error;
        await Bun.sleep(REST_MS * attempt);
      }
    }
  }

  async #inTime<T>(answer: Promise<T>, bodyBytes = 0): Promise<T> {
    try {
      return await new Silence(this.#silenceMs + bodyBytes / SLOWEST_BYTES_PER_MS).bound(answer);
    } catch (error) {
      throw this.#translate(error);
    }
  }

  /** What an error of Bun's client means; others are what they are. */
  #translate(error: unknown): unknown {
    if (error instanceof SilenceError) return this.#outage("did not answer in time", SILENT);
    if (!(error instanceof Error) || error.name !== "S3Error" || error instanceof S3Error) return error;
    const { endpoint, bucket } = this.#options;
    const code = "code" in error ? String(error.code) : undefined;
    // Where the service gave a code without a sentence, Bun gives all of the answer.
    const said = /^\s*<|^$/.test(error.message) ? "" : ` (${error.message.slice(0, MESSAGE_MAX)})`;
    const more = { code, cause: error };
    if (code === "NoSuchBucket") return new S3Error("refused", `There is no bucket "${bucket}" at ${endpoint}.`, more);
    if (code === "NoSuchKey") return new S3Error("absent", "There is no such object.", more);
    if (code === "InvalidRange") return tooShort(error);
    if (error.message === UNSAID) {
      return new S3Error("unreachable", `The service at ${endpoint} can't be reached: ${code}.`, more);
    }
    if (code === undefined || PASSING.test(code)) {
      return new S3Error("unreachable", `The service at ${endpoint} can't serve now: ${code}${said}.`, more);
    }
    return new S3Error("refused", `The service at ${endpoint} refuses: ${code}${said}.`, more);
  }

  #outage(what: string, code?: string): S3Error {
    return new S3Error("unreachable", `The service at ${this.#options.endpoint} ${what}.`, { code });
  }
}

/** What reads a transfer; less than that of the web's own type, which Bun declares twice. */
interface Pieces {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/** What Bun says where the service said nothing: the line is broken, or the answer has no body. */
const UNSAID = "an unexpected error has occurred";

/** Codes of services that can't serve for the moment (of Amazon, MinIO, Ceph), and of Bun for answers that are no S3's. */
const PASSING =
  /^(SlowDown|Internal|InvalidResponse|UnknownError|NoSuchUpload|OperationAborted)|Unavailable|Time(d)?Out|TooMany|Throttl|NotInitialized|Quorum|StorageFull/i;

/** What was waited for didn't come. */
class SilenceError extends Error {}

/** Ends the wait for an answer when nothing was heard for so long. Bun's client can't be told to give up: it does so later. */
class Silence {
  readonly #ms: number;
  readonly #over = Promise.withResolvers<never>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Something moves: waits from now on. @throws SilenceError where nobody waits any more */
  heard(): void {
    if (this.#isOver) throw new SilenceError("Nobody waits any more.");
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#over.reject(new SilenceError("Nothing was heard.")), this.#ms);
  }

  /** The answer, whatever it is. One that comes after the end of the wait interests nobody, be it an error. */
  async bound<T>(answer: Promise<T>): Promise<T> {
    this.heard();
    try {
      return await Promise.race([answer, this.#over.promise]);
    } finally {
      this.#isOver = true;
      clearTimeout(this.#timer);
    }
  }
}

/** The ETag of an object of several parts, as Amazon makes it. Pieces may end anywhere. */
class PartSums {
  readonly #partBytes: number;
  readonly #parts = createHash("md5");
  #part = createHash("md5");
  #inPart = 0;
  #count = 0;

  constructor(partBytes: number) {
    this.#partBytes = partBytes;
  }

  update(piece: Uint8Array): void {
    for (let at = 0; at < piece.length; ) {
      const taken = piece.subarray(at, at + this.#partBytes - this.#inPart);
      this.#part.update(taken);
      this.#inPart += taken.length;
      at += taken.length;
      if (this.#inPart === this.#partBytes) this.#close();
    }
  }

  digest(): string {
    if (this.#inPart > 0) this.#close();
    return `${this.#parts.digest("hex")}-${this.#count}`;
  }

  #close(): void {
    this.#parts.update(this.#part.digest());
    this.#part = createHash("md5");
    this.#inPart = 0;
    this.#count++;
  }
}

async function* nothing(): AsyncGenerator<Uint8Array, void, undefined> {}

/** Ends a transfer that nobody reads any more. */
function letGo(reader: Pieces): void {
  // That it failed was told to whoever read it.
  reader.cancel().catch(() => undefined);
}

/** How large the parts are in which an object of this size is sent. */
function partBytesOf(sizeBytes: number): number {
  return Math.max(PART_BYTES, Math.ceil(sizeBytes / PARTS_MAX));
}

/** The ETag that an object has with Amazon and most others, of the bytes that it is made of, in pieces. */
export async function expectedEtag(sizeBytes: number, pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const whole = createHash("md5");
  const parts = new PartSums(partBytesOf(sizeBytes));
  const isSmall = sizeBytes <= PART_BYTES;
  for await (const piece of pieces) (isSmall ? whole : parts).update(piece);
  return isSmall ? whole.digest("hex") : parts.digest();
}

/** Whether the line broke, be it because the service is away or because it can't send this object. */
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

function inHostName(endpoint: string, bucket: string): string {
  const url = new URL(endpoint);
  url.hostname = `${bucket}.${url.hostname}`;
  return url.origin;
}
