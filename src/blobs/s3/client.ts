/**
 * A client for one bucket of an S3-compatible service: what the store needs of it and no more. Bun's own S3 client can't
 * say what a body's digest must be, nor read a part with a bound on its silence; here the service itself refuses a body
 * that arrived otherwise than it left, because its sha256 is signed along.
 */
import { createHash } from "node:crypto";
import { EMPTY_DIGEST, escapePath, escapeQuery, type SigningKey, signRequest } from "./sign.ts";

/** Where the bucket is, and who asks. */
export interface S3Options extends SigningKey {
  /** Base address of the service, without a path: `https://s3.example.org`. */
  readonly endpoint: string;
  readonly bucket: string;
  /** Whether the bucket is named in the path (MinIO, Ceph, Garage) rather than in the host name (AWS). */
  readonly isPathStyle: boolean;
  /** How long the service may be silent; default 20 s. */
  readonly silenceMs?: number;
}

/** What can go wrong, as far as callers do different things about it. */
export type S3Problem = "absent" | "unreachable" | "refused" | "damaged";

/** The service said no, or nothing at all. The message is for the operator. */
export class S3Error extends Error {
  override readonly name = "S3Error";
  /**
   * `absent`: no such object; `unreachable`: no answer, or one that says "later"; `refused`: keys, bucket or address are
   * wrong; `damaged`: bytes are not what they should be.
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

/** A body and its sums. For what is small: all of it is gone through at once. */
export function toBody(bytes: Uint8Array<ArrayBuffer>): S3Body {
  const sum = (kind: string) => createHash(kind).update(bytes).digest("hex");
  return { bytes, sha256: sum("sha256"), md5: sum("md5") };
}

interface Call {
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: S3Body;
}

const SILENCE_MS = 20_000;
/** A body may take as long as this many bytes take per millisecond, on top: slow lines are no failures. */
const SLOWEST_BYTES_PER_MS = 32;
/** Tries of a call that found the service not working; between them it rests a while. */
const ATTEMPTS = 3;
const REST_MS = 200;
const MESSAGE_MAX = 300;

/** See the head of this file. Every call throws {@link S3Error}. */
export class S3Client {
  readonly #options: S3Options;
  readonly #silenceMs: number;
  readonly #base: URL;

  constructor(options: S3Options) {
    this.#options = options;
    this.#silenceMs = options.silenceMs ?? SILENCE_MS;
    this.#base = new URL(options.endpoint);
    if (!options.isPathStyle) this.#base.hostname = `${options.bucket}.${this.#base.hostname}`;
  }

  /** Size of an object; undefined where there is none. */
  async head(key: string): Promise<{ sizeBytes: number } | undefined> {
    try {
      const { headers } = await this.#call({ method: "HEAD", key });
      return { sizeBytes: Number(headers.get("content-length")) };
    } catch (error) {
      if (error instanceof S3Error && error.problem === "absent") return undefined;
      throw error;
    }
  }

  /**
   * Bytes `offset` up to `offset + lengthBytes` of an object as they come. What breaks off, or is silent for too long, ends
   * in an error, as does an answer of another length. The reader ends the transfer by ending the iteration.
   */
  async get(key: string, offset: number, lengthBytes: number): Promise<AsyncGenerator<Uint8Array, void, undefined>> {
    if (lengthBytes === 0) return nothing();
    const abort = new AbortController();
    const range = `bytes=${offset}-${offset + lengthBytes - 1}`;
    const response = await this.#call({ method: "GET", key, headers: { range } }, abort);
    const isWhole = offset === 0 && response.headers.get("content-length") === String(lengthBytes);
    if (response.status !== 206 && !isWhole) {
      abort.abort();
      throw new S3Error("unreachable", "The service sent the whole object where a part of it was asked for.");
    }
    return this.#pieces(response, lengthBytes, abort);
  }

  /** A small object whole; undefined where there is none. */
  async getSmall(key: string): Promise<Uint8Array | undefined> {
    try {
      const response = await this.#call({ method: "GET", key });
      return new Uint8Array(await response.arrayBuffer());
    } catch (error) {
      if (error instanceof S3Error && error.problem === "absent") return undefined;
      throw error;
    }
  }

  /** Writes an object of at most 5 GB at once; durable with the service on return, and whole. */
  async put(key: string, body: S3Body): Promise<void> {
    const { headers } = await this.#call({ method: "PUT", key, body });
    checkTag(headers, headers.get("etag"), body.md5);
  }

  /**
   * Writes a large object from its parts, each at least 5 MiB but the last, at most 10,000. Nothing of it is to be seen
   * before all of it is there; on any error it is given up.
   */
  async putParts(key: string, parts: AsyncIterable<S3Body>): Promise<void> {
    const begun = await this.#call({ method: "POST", key, query: { uploads: "" } });
    const uploadId = tagOf(await begun.text(), "UploadId");
    if (uploadId === undefined) throw new S3Error("refused", "The service did not begin a multipart upload.");
    try {
      await this.#sendParts(key, uploadId, parts);
    } catch (error) {
      await this.#giveUp(key, uploadId);
      throw error;
    }
  }

  /** Removes an object. Nothing happens where there is none. */
  async remove(key: string): Promise<void> {
    try {
      await this.#call({ method: "DELETE", key });
    } catch (error) {
      if (!(error instanceof S3Error) || error.problem !== "absent") throw error;
    }
  }

  /** The next objects whose key begins with `prefix`, by key, at most a thousand. @param after the last of those before */
  async list(prefix: string, after: string): Promise<S3Object[]> {
    const query = { "list-type": "2", prefix, ...(after !== "" && { "start-after": after }) };
    const text = await (await this.#call({ method: "GET", key: "", query })).text();
    return [...text.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, entry = ""]) => ({
      key: plainText(tagOf(entry, "Key") ?? ""),
      sizeBytes: Number(tagOf(entry, "Size")),
      modifiedAtMs: Date.parse(tagOf(entry, "LastModified") ?? ""),
    }));
  }

  async #sendParts(key: string, uploadId: string, parts: AsyncIterable<S3Body>): Promise<void> {
    const tags: string[] = [];
    const sums = createHash("md5");
    for await (const body of parts) {
      const query = { partNumber: String(tags.length + 1), uploadId };
      const { headers } = await this.#call({ method: "PUT", key, query, body });
      checkTag(headers, headers.get("etag"), body.md5);
      sums.update(body.md5, "hex");
      tags.push(headers.get("etag") ?? "");
    }
    const list = tags.map((tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag}</ETag></Part>`);
    const bytes = new TextEncoder().encode(`<CompleteMultipartUpload>${list.join("")}</CompleteMultipartUpload>`);
    const done = await this.#call({ method: "POST", key, query: { uploadId }, body: toBody(bytes) });
    // Such an answer begins before its end is known: it may say 200, and then tell of an error (API, CompleteMultipartUpload).
    const text = await done.text();
    const code = tagOf(text, "Code");
    if (code !== undefined) throw new S3Error("unreachable", `The parts could not be put together: ${code}.`, { code });
    checkTag(done.headers, plainText(tagOf(text, "ETag") ?? ""), `${sums.digest("hex")}-${tags.length}`);
  }

  /** Parts of an upload that is not ended are paid for until somebody removes them. */
  async #giveUp(key: string, uploadId: string): Promise<void> {
    try {
      await this.#call({ method: "DELETE", key, query: { uploadId } });
    } catch (error) {
      // The error that led here says more; what stays is removed by the bucket's own rule for unfinished uploads.
      if (!(error instanceof S3Error)) throw error;
    }
  }

  async *#pieces(response: Response, lengthBytes: number, abort: AbortController) {
    let got = 0;
    const watch = new SilenceWatch(abort, this.#silenceMs);
    try {
      for await (const piece of response.body ?? []) {
        // While the reader is slow the service is not to blame.
        watch.stop();
        got += piece.length;
        yield piece;
        watch.start();
      }
    } catch (error) {
      throw new S3Error("unreachable", "The transfer from the service broke off.", { cause: error });
    } finally {
      watch.stop();
      // Ends the transfer where the reader has gone before its end.
      abort.abort();
    }
    if (got !== lengthBytes) {
      throw new S3Error("unreachable", `The service sent ${got} bytes where ${lengthBytes} were asked for.`);
    }
  }

  async #call(call: Call, abort = new AbortController()): Promise<Response> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(call, abort);
      } catch (error) {
        const isPassing = error instanceof S3Error && error.problem === "unreachable";
        if (!isPassing || attempt === ATTEMPTS || abort.signal.aborted) throw error;
        await Bun.sleep(REST_MS * attempt);
      }
    }
  }

  async #attempt({ method, key, query = {}, headers = {}, body }: Call, abort: AbortController): Promise<Response> {
    const url = this.#urlOf(key, query);
    const signed = signRequest(
      { method, url, headers, bodyDigest: body?.sha256 ?? EMPTY_DIGEST },
      this.#options,
      new Date(),
    );
    const watch = new SilenceWatch(abort, this.#silenceMs + (body?.bytes.length ?? 0) / SLOWEST_BYTES_PER_MS);
    let response: Response;
    try {
      response = await fetch(url, {
        method,
        headers: signed,
        signal: abort.signal,
        redirect: "manual",
        ...(body !== undefined && { body: body.bytes }),
      });
      if (response.ok) return response;
      const text = method === "HEAD" ? "" : await response.text();
      throw refusal(response.status, text, this.#options);
    } catch (error) {
      if (error instanceof S3Error) throw error;
      const why = abort.signal.aborted ? "did not answer in time" : "can't be reached";
      throw new S3Error("unreachable", `The service at ${this.#options.endpoint} ${why}.`, { cause: error });
    } finally {
      watch.stop();
    }
  }

  #urlOf(key: string, query: Readonly<Record<string, string>>): URL {
    const { bucket, isPathStyle } = this.#options;
    const url = new URL(this.#base);
    url.pathname = escapePath(isPathStyle ? `/${bucket}/${key}` : `/${key}`);
    url.search = escapeQuery(query);
    return url;
  }
}

/** Ends a call when nothing was heard for so long. */
class SilenceWatch {
  readonly #abort: AbortController;
  readonly #ms: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(abort: AbortController, ms: number) {
    this.#abort = abort;
    this.#ms = ms;
    this.start();
  }

  start(): void {
    this.#timer = setTimeout(() => this.#abort.abort(), this.#ms);
    this.#timer.unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

async function* nothing(): AsyncGenerator<Uint8Array, void, undefined> {}

/** What an answer that is no success means. */
function refusal(status: number, text: string, { bucket, endpoint }: S3Options): S3Error {
  const code = tagOf(text, "Code");
  const said = plainText(tagOf(text, "Message") ?? "").slice(0, MESSAGE_MAX);
  const what = `${code ?? `status ${status}`}${said === "" ? "" : ` (${said})`}`;
  if (code === "NoSuchBucket") {
    return new S3Error("refused", `There is no bucket "${bucket}" at ${endpoint}.`, { code });
  }
  if (status === 404) return new S3Error("absent", "There is no such object.", { code });
  if (status >= 500 || status === 429 || code === "RequestTimeout" || code === "SlowDown") {
    return new S3Error("unreachable", `The service at ${endpoint} can't serve now: ${what}.`, { code });
  }
  if (code === "BadDigest" || code === "XAmzContentSHA256Mismatch") {
    return new S3Error("damaged", `The bytes changed on their way to the service: ${what}.`, { code });
  }
  return new S3Error("refused", `The service at ${endpoint} refuses: ${what}.`, { code });
}

/**
 * Compares what the service says it has with what was sent. An ETag is the MD5 of the bytes, or of the parts' sums, unless
 * the service encrypts with keys of its own: then it says nothing.
 */
function checkTag(headers: Headers, tag: string | null, wanted: string): void {
  const encryption = headers.get("x-amz-server-side-encryption");
  const isOfBytes = encryption === null || encryption === "AES256";
  const plain = tag?.replaceAll('"', "") ?? "";
  // Some services give large objects another kind of ETag than Amazon does; each of their parts was compared already.
  const form = wanted.includes("-") ? /^[0-9a-f]{32}-\d+$/ : /^[0-9a-f]{32}$/;
  const isSum = isOfBytes && form.test(plain);
  if (isSum && plain !== wanted) throw new S3Error("damaged", "The service has other bytes than were sent.");
}

function tagOf(xml: string, name: string): string | undefined {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** The text of XML, in which characters may stand by name or by number. */
function plainText(xml: string): string {
  return xml.replaceAll(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (whole, decimal?: string, hex?: string, name = "") => {
    const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
    return Number.isNaN(code) ? (ENTITIES[name] ?? whole) : String.fromCodePoint(code);
  });
}
