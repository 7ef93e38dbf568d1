/** Sends a stored blob: conditions, ranges, headers, and the source of the bytes. */
import { randomBytes } from "node:crypto";
import { AppError } from "../errors.ts";
import { say } from "../translations/say.ts";
import { evaluateConditions } from "./conditional.ts";
import { contentDisposition } from "./content-disposition.ts";
import { headResponse } from "./head-response.ts";
import { type ByteRange, type ByteRangesPlan, contentRange, parseRange, planByteRanges } from "./range.ts";

/** A blob to send. */
export interface SendableBlob {
  readonly sizeBytes: number;
  /**
   * The path of the file, for sendfile. Not called for bytes that `read` or `readRange` returns.
   * @throws AppError content_missing
   */
  path(): string;
  /** Where the blob begins in that file, if it is only a part of it. */
  readonly offset?: number;
  /**
   * Reads the whole blob; called only up to {@link SMALL_BLOB_MAX_BYTES}. If absent, Bun sends the file.
   * @param into a buffer that the bytes may be read into, to save a new one; the result is used at once
   * @throws AppError content_missing
   */
  read?(into: Buffer<ArrayBuffer>): Uint8Array<ArrayBuffer>;
  /**
   * Reads a range; called only up to {@link SMALL_BLOB_MAX_BYTES}. With it, small ranges of large blobs need a third
   * less CPU.
   * @param into as for `read`
   * @throws AppError content_missing | content_damaged if the range can't be read completely
   */
  readRange?(offset: number, lengthBytes: number, into: Buffer<ArrayBuffer>): Uint8Array<ArrayBuffer>;
  /**
   * Streams a range of a blob that is not on this disk. The stream opens when the client reads. If this is set, `path`
   * and `read` are not used. Bun 1.4 sends such responses in chunks, without their Content-Length
   * (https://github.com/oven-sh/bun/issues/10507).
   */
  readonly stream?: ((offset: number, lengthBytes: number) => ReadableStream<Uint8Array>) | undefined;
}

/** Options of {@link sendBlob}. */
interface SendBlobOptions {
  readonly request: Request;
  readonly blob: SendableBlob;
  /** Strong, with its quotes. */
  readonly etag: string;
  readonly lastModifiedMs: number;
  /** Lower-case, without parameters. */
  readonly mediaType: string;
  /** The file name for the client to save under; may contain any characters. */
  readonly fileName: string;
  /** Whether the client requested inline display; {@link canInline} decides. */
  readonly inline: boolean;
  /** By default `private, max-age=3600`. */
  readonly cacheControl?: string | undefined;
  /** Headers of every response of the server; the headers of the blob take precedence. */
  readonly commonHeaders?: Readonly<Record<string, string | number>>;
  /** Headers for every response, including 304. */
  readonly extraHeaders?: Readonly<Record<string, string>> | undefined;
}

/** A response, with its size for counters. */
export interface SentBlob {
  readonly response: Response;
  /** Length of the body; 0 for HEAD and 304. */
  readonly bytesToSend: number;
  readonly kind: "whole" | "range" | "ranges" | "notModified" | "head";
}

/**
 * Up to this size, blobs are read into memory and sent from there. Compared with Bun's own sending of the file, that
 * needs half the CPU at 10 KiB, the same at 64 KiB, and more above.
 */
export const SMALL_BLOB_MAX_BYTES = 64 * 1024;

/**
 * The bytes of the response that is being made. A response copies them, so the next one can use the same buffer: a new
 * one for each takes longer than reading the file.
 */
const sendBuffer = Buffer.allocUnsafeSlow(SMALL_BLOB_MAX_BYTES);

const DEFAULT_CACHE_CONTROL = "private, max-age=3600";

/** A stored file must not run scripts: browsers show it without scripts, in an origin of its own. */
const SANDBOX_POLICY = "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; sandbox";
/** Browsers play audio and video inline only with the page's origin. Without scripts that is safe. */
const MEDIA_POLICY = `${SANDBOX_POLICY} allow-same-origin`;
/** Browsers' PDF viewers don't start in a sandbox; scripts stay forbidden. */
const PDF_POLICY = "default-src 'none'; img-src 'self'; object-src 'self'; style-src 'unsafe-inline'";

/**
 * The response to a GET or HEAD of a blob: 200, 206 (one range, or several as multipart/byteranges), or 304. The bytes
 * of large blobs go from the file to the socket, not through memory.
 *
 * @throws AppError precondition_failed (412); range_not_satisfiable (416, `details.sizeBytes` for Content-Range);
 *   content_missing or content_damaged if the file is missing or has another length
 */
export function sendBlob(options: SendBlobOptions): SentBlob {
  const { request, blob } = options;
  const requested = request.headers;
  const condition = evaluateConditions(requested, request.method, options);
  if (condition === "preconditionFailed") {
    throw new AppError(
      "precondition_failed",
      say`The file does not match the preconditions of the request. Download it again.`,
      {
        etag: options.etag,
      },
    );
  }
  if (condition === "notModified") return { response: notModified(options), bytesToSend: 0, kind: "notModified" };

  // RFC 9110 §14.2: Range applies to GET only.
  const rangeHeader = request.method === "GET" && condition !== "ignoreRange" ? requested.get("range") : null;
  const range = parseRange(rangeHeader, blob.sizeBytes);
  if (range.kind === "unsatisfiable") {
    throw new AppError(
      "range_not_satisfiable",
      say`The requested range is outside the file, which has ${blob.sizeBytes} bytes. Request a range within it.`,
      { sizeBytes: blob.sizeBytes },
    );
  }
  if (request.method === "HEAD") {
    // The blob is opened for HEAD too, so that it fails in the same way as GET.
    openSource(blob);
    const response = headResponse(contentHeaders(options, blob.sizeBytes), blob.sizeBytes);
    return { response, bytesToSend: 0, kind: "head" };
  }
  if (range.kind === "whole") {
    const headers = contentHeaders(options, blob.sizeBytes);
    const source = openSource(blob);
    const body = source instanceof StreamSource ? source.open(0, blob.sizeBytes) : source;
    return { response: new Response(body, { status: 200, headers }), bytesToSend: blob.sizeBytes, kind: "whole" };
  }

  const [first, second] = range.ranges;
  if (second === undefined) {
    const headers = contentHeaders(options, first.length);
    headers["content-range"] = contentRange(first, blob.sizeBytes);
    const body = sliceOf(blob, first);
    return { response: new Response(body, { status: 206, headers }), bytesToSend: first.length, kind: "range" };
  }
  const plan = planByteRanges(range.ranges, blob.sizeBytes, options.mediaType, randomBytes(18).toString("hex"));
  const headers = contentHeaders(options, plan.lengthBytes);
  headers["content-type"] = plan.contentType;
  const body = byteRangesBody(plan, openSource(blob));
  return { response: new Response(body, { status: 206, headers }), bytesToSend: plan.lengthBytes, kind: "ranges" };
}

/**
 * Whether a browser may show this type inline: images except SVG, audio, video, PDF, and plain text. Other types could
 * run scripts in our origin, or start another program.
 * @param mediaType lower-case, without parameters
 */
export function canInline(mediaType: string): boolean {
  if (mediaType === "application/pdf" || mediaType === "text/plain") return true;
  if (mediaType.endsWith("+xml")) return false;
  return mediaType.startsWith("image/") || mediaType.startsWith("audio/") || mediaType.startsWith("video/");
}

function contentHeaders(options: SendBlobOptions, lengthBytes: number): Record<string, string> {
  const { mediaType } = options;
  const inline = options.inline && canInline(mediaType);
  const headers = validatorHeaders(options);
  // Without a charset, browsers show text in an 8-bit encoding of their region.
  headers["content-type"] = inline && mediaType === "text/plain" ? "text/plain; charset=utf-8" : mediaType;
  headers["content-length"] = String(lengthBytes);
  headers["content-disposition"] = contentDisposition(options.fileName, inline);
  headers["accept-ranges"] = "bytes";
  headers["x-content-type-options"] = "nosniff";
  headers["content-security-policy"] = policyFor(mediaType);
  return headers;
}

/** The content security policy under which browsers show this type. */
export function policyFor(mediaType: string): string {
  if (mediaType === "application/pdf") return PDF_POLICY;
  return mediaType.startsWith("audio/") || mediaType.startsWith("video/") ? MEDIA_POLICY : SANDBOX_POLICY;
}

/** The common headers of 200, 206 and 304 (RFC 9110 §15.4.5), in a new object. */
function validatorHeaders(options: SendBlobOptions): Record<string, string> {
  const { commonHeaders, extraHeaders } = options;
  const headers: Record<string, string> = {};
  for (const name in commonHeaders) headers[name] = String(commonHeaders[name]);
  // CORS adds Origin.
  const vary = headers["vary"];
  headers["cache-control"] = options.cacheControl ?? DEFAULT_CACHE_CONTROL;
  headers["etag"] = options.etag;
  headers["last-modified"] = new Date(options.lastModifiedMs).toUTCString();
  headers["vary"] = vary === undefined ? "Authorization, Cookie" : `${vary}, Authorization, Cookie`;
  for (const name in extraHeaders) headers[name] = extraHeaders[name] ?? "";
  return headers;
}

function notModified(options: SendBlobOptions): Response {
  return new Response(null, { status: 304, headers: validatorHeaders(options) });
}

/** The source of the bytes: memory, a file, or a stream. */
type Source = Uint8Array<ArrayBuffer> | Bun.BunFile | StreamSource;

/** A blob that is streamed from elsewhere. */
class StreamSource {
  readonly open: (offset: number, lengthBytes: number) => ReadableStream<Uint8Array>;

  constructor(open: (offset: number, lengthBytes: number) => ReadableStream<Uint8Array>) {
    this.open = open;
  }
}

function openSource(blob: SendableBlob): Source {
  if (blob.stream !== undefined) return new StreamSource(blob.stream);
  if (blob.sizeBytes > SMALL_BLOB_MAX_BYTES || blob.read === undefined) return openFile(blob);
  const bytes = blob.read(sendBuffer);
  if (bytes.length !== blob.sizeBytes) throw damaged(blob.sizeBytes, bytes.length);
  return bytes;
}

function sliceOf(blob: SendableBlob, range: ByteRange): Uint8Array<ArrayBuffer> | Blob | ReadableStream<Uint8Array> {
  if (
    blob.stream === undefined &&
    blob.sizeBytes > SMALL_BLOB_MAX_BYTES &&
    range.length <= SMALL_BLOB_MAX_BYTES &&
    blob.readRange !== undefined
  ) {
    return blob.readRange(range.offset, range.length, sendBuffer);
  }
  const source = openSource(blob);
  if (source instanceof StreamSource) return source.open(range.offset, range.length);
  const end = range.offset + range.length;
  return source instanceof Uint8Array ? source.subarray(range.offset, end) : source.slice(range.offset, end);
}

/** Checks the file first: a missing file would fail only after the headers are sent. */
function openFile(blob: SendableBlob): Bun.BunFile {
  const file = Bun.file(blob.path());
  if (blob.offset !== undefined) {
    const end = blob.offset + blob.sizeBytes;
    if (file.size < end) throw damaged(end, file.size);
    return file.slice(blob.offset, end);
  }
  if (file.size !== blob.sizeBytes) throw damaged(blob.sizeBytes, file.size);
  return file;
}

function damaged(expectedBytes: number, actualBytes: number): AppError {
  if (actualBytes === 0) {
    return new AppError(
      "content_missing",
      say`This file is missing on the server. Ask your administrator to restore it.`,
    );
  }
  return new AppError(
    "content_damaged",
    say`This file is damaged on the server. Ask your administrator to restore it.`,
    {
      expectedBytes,
      actualBytes,
    },
  );
}

/**
 * The body for several ranges: one buffer for a small blob, otherwise a stream that reads as the client does. Bun 1.4
 * sends such a stream in chunks, without its Content-Length.
 */
function byteRangesBody(plan: ByteRangesPlan, source: Source): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> {
  if (source instanceof Uint8Array) {
    const parts: Uint8Array[] = [];
    for (const { head, range } of plan.parts) {
      parts.push(Buffer.from(head, "latin1"), source.subarray(range.offset, range.offset + range.length));
    }
    parts.push(Buffer.from(plan.tail, "latin1"));
    return Buffer.concat(parts, plan.lengthBytes);
  }
  const parts = byteRangeParts(plan, source);
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await parts.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
    async cancel() {
      await parts.return(undefined);
    },
  });
}

async function* byteRangeParts(
  plan: ByteRangesPlan,
  source: Bun.BunFile | StreamSource,
): AsyncGenerator<Uint8Array, undefined, undefined> {
  for (const { head, range } of plan.parts) {
    yield Buffer.from(head, "latin1");
    yield* source instanceof StreamSource
      ? source.open(range.offset, range.length)
      : source.slice(range.offset, range.offset + range.length).stream();
  }
  yield Buffer.from(plan.tail, "latin1");
}
