// The one place that answers with a stored content: conditions, ranges, headers, and which way the bytes go out.
import { randomBytes } from "node:crypto";
import { AppError } from "../errors.ts";
import { evaluateConditions } from "./conditional.ts";
import { contentDisposition } from "./content-disposition.ts";
import { headResponse } from "./head-response.ts";
import { type ByteRange, type ByteRangesPlan, contentRange, parseRange, planByteRanges } from "./range.ts";

/** A stored content, as far as sending it goes. */
export interface SendableBlob {
  readonly sizeBytes: number;
  /** Where the bytes lie, for sendfile. */
  readonly path: string;
  /**
   * The whole at once; asked of every content up to {@link SMALL_BLOB_MAX_BYTES}. Where it isn't given, all goes by the
   * file. @throws AppError content_missing
   */
  read?(): Uint8Array<ArrayBuffer>;
  /**
   * A piece of it at once; asked only of pieces up to {@link SMALL_BLOB_MAX_BYTES}. Where it is given, small ranges of
   * large contents cost a third less. @throws AppError content_missing | content_damaged where it can't be had whole
   */
  readRange?(offset: number, lengthBytes: number): Uint8Array<ArrayBuffer>;
  /**
   * A piece of it as it comes, opened when it is taken. Where it is given the bytes are in another place than `path`,
   * and all of them come this way. Bun 1.4 sends such answers in chunks, without their Content-Length
   * (https://github.com/oven-sh/bun/issues/10507).
   */
  readonly stream?: (offset: number, lengthBytes: number) => ReadableStream<Uint8Array>;
}

/** What is to be sent, to whom, and as what. */
export interface SendBlobOptions {
  readonly request: Request;
  readonly blob: SendableBlob;
  /** Strong, with its quotes. */
  readonly etag: string;
  readonly lastModifiedMs: number;
  /** Lower-case, without parameters. */
  readonly mediaType: string;
  /** The file name for the client to save under; may contain any characters. */
  readonly fileName: string;
  /** Whether showing it in place is asked for; granted by {@link canInline} alone. */
  readonly inline: boolean;
  /** Default `private, max-age=3600` (API, download). */
  readonly cacheControl?: string;
  /** What every response of the server carries; the headers of the content win over them. */
  readonly commonHeaders?: Readonly<Record<string, string>>;
  /** Added to every response, 304 included. */
  readonly extraHeaders?: Readonly<Record<string, string>>;
}

/** A response, and what it means for counters. */
export interface SentBlob {
  readonly response: Response;
  /** Bytes of body the response announces; 0 for HEAD and 304. */
  readonly bytesToSend: number;
  readonly kind: "whole" | "range" | "ranges" | "notModified" | "head";
}

/**
 * Up to this size bytes are read in place and sent from memory: at 10 KiB that takes half the CPU of handing Bun the
 * file, at 64 KiB as much, and above the copying costs more.
 */
export const SMALL_BLOB_MAX_BYTES = 64 * 1024;

const DEFAULT_CACHE_CONTROL = "private, max-age=3600";

/** Nothing of a stored content may run: it is shown as if it came from an origin of its own, without scripts. */
const SANDBOX_POLICY = "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; sandbox";
/**
 * Browsers play sound and film in place only where the page keeps its origin; without scripts that gives nothing away.
 */
const MEDIA_POLICY = `${SANDBOX_POLICY} allow-same-origin`;
/** Browsers' PDF viewers don't start in a sandbox; scripts stay forbidden. */
const PDF_POLICY = "default-src 'none'; img-src 'self'; object-src 'self'; style-src 'unsafe-inline'";

/**
 * Answers a GET or HEAD for a content: 200, 206 (one range, or several as multipart/byteranges) or 304, with every
 * header the API promises. Bytes of large contents go from the file to the socket without passing through memory.
 *
 * @throws AppError precondition_failed (412); range_not_satisfiable (416, `details.sizeBytes` for Content-Range);
 *   content_missing or content_damaged where the file isn't there or isn't as long as it was
 *
 */
export function sendBlob(options: SendBlobOptions): SentBlob {
  const { request, blob } = options;
  const requested = request.headers;
  const condition = evaluateConditions(requested, request.method, options);
  if (condition === "preconditionFailed") {
    throw new AppError(
      "precondition_failed",
      "The file does not match the preconditions of the request. Download it again.",
      {
        etag: options.etag,
      },
    );
  }
  if (condition === "notModified") return { response: notModified(options), bytesToSend: 0, kind: "notModified" };

  // RFC 9110 §14.2: Range means something for GET alone.
  const rangeHeader = request.method === "GET" && condition !== "ignoreRange" ? requested.get("range") : null;
  const range = parseRange(rangeHeader, blob.sizeBytes);
  if (range.kind === "unsatisfiable") {
    throw new AppError(
      "range_not_satisfiable",
      `The requested range is outside the file, which has ${blob.sizeBytes} bytes. Request a range within it.`,
      { sizeBytes: blob.sizeBytes },
    );
  }
  if (request.method === "HEAD") {
    // Opened all the same: what can't be sent is rejected here as it would be to a GET.
    openSource(blob);
    const response = headResponse(contentHeaders(options, blob.sizeBytes), blob.sizeBytes);
    return { response, bytesToSend: 0, kind: "head" };
  }
  if (range.kind === "whole") {
    const headers = contentHeaders(options, blob.sizeBytes);
    const source = openSource(blob);
    const body = source instanceof Elsewhere ? source.open(0, blob.sizeBytes) : source;
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
 * Whether a browser may show this type in place: pictures but SVG, sound, film, PDF, plain text. All
 * else could run in our origin, or start another program.
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
  return {
    ...validatorHeaders(options),
    // Without a charset browsers take text shown in place for their region's 8-bit code.
    "content-type": inline && mediaType === "text/plain" ? "text/plain; charset=utf-8" : mediaType,
    "content-length": String(lengthBytes),
    "content-disposition": contentDisposition(options.fileName, inline),
    "accept-ranges": "bytes",
    "x-content-type-options": "nosniff",
    "content-security-policy": policyFor(mediaType),
  };
}

function policyFor(mediaType: string): string {
  if (mediaType === "application/pdf") return PDF_POLICY;
  return mediaType.startsWith("audio/") || mediaType.startsWith("video/") ? MEDIA_POLICY : SANDBOX_POLICY;
}

/** What 200, 206 and 304 have in common (RFC 9110 §15.4.5). */
function validatorHeaders(options: SendBlobOptions): Record<string, string> {
  const { commonHeaders } = options;
  // CORS adds Origin to it.
  const vary = commonHeaders?.["vary"];
  return {
    ...commonHeaders,
    "cache-control": options.cacheControl ?? DEFAULT_CACHE_CONTROL,
    etag: options.etag,
    "last-modified": new Date(options.lastModifiedMs).toUTCString(),
    vary: vary === undefined ? "Authorization, Cookie" : `${vary}, Authorization, Cookie`,
    ...options.extraHeaders,
  };
}

function notModified(options: SendBlobOptions): Response {
  return new Response(null, { status: 304, headers: validatorHeaders(options) });
}

// ---- bytes ----

/** Whole contents and pieces come either from memory or from the file: the same to a Response. */
type Source = Uint8Array<ArrayBuffer> | Bun.BunFile | Elsewhere;

/** A content that comes as a stream. */
class Elsewhere {
  readonly open: (offset: number, lengthBytes: number) => ReadableStream<Uint8Array>;

  constructor(open: (offset: number, lengthBytes: number) => ReadableStream<Uint8Array>) {
    this.open = open;
  }
}

function openSource(blob: SendableBlob): Source {
  if (blob.stream !== undefined) return new Elsewhere(blob.stream);
  if (blob.sizeBytes > SMALL_BLOB_MAX_BYTES || blob.read === undefined) return openFile(blob);
  const bytes = blob.read();
  if (bytes.length !== blob.sizeBytes) throw damaged(blob.sizeBytes, bytes.length);
  return bytes;
}

function sliceOf(blob: SendableBlob, range: ByteRange): Uint8Array<ArrayBuffer> | Blob | ReadableStream<Uint8Array> {
  const isHere = blob.stream === undefined;
  if (
    isHere &&
    blob.sizeBytes > SMALL_BLOB_MAX_BYTES &&
    range.length <= SMALL_BLOB_MAX_BYTES &&
    blob.readRange !== undefined
  ) {
    return blob.readRange(range.offset, range.length);
  }
  const source = openSource(blob);
  if (source instanceof Elsewhere) return source.open(range.offset, range.length);
  const end = range.offset + range.length;
  return source instanceof Uint8Array ? source.subarray(range.offset, end) : source.slice(range.offset, end);
}

/** A file that isn't there would fail only after the headers are out, where nobody can say so any longer. */
function openFile(blob: SendableBlob): Bun.BunFile {
  const file = Bun.file(blob.path);
  if (file.size !== blob.sizeBytes) throw damaged(blob.sizeBytes, file.size);
  return file;
}

function damaged(expectedBytes: number, actualBytes: number): AppError {
  if (actualBytes === 0) {
    return new AppError("content_missing", "This file is missing on the server. Ask your administrator to restore it.");
  }
  return new AppError("content_damaged", "This file is damaged on the server. Ask your administrator to restore it.", {
    expectedBytes,
    actualBytes,
  });
}

/**
 * Ranges of a small content go out as one piece. Those of a file are read as the client takes them; Bun 1.4 sends such
 * a stream chunked, dropping the Content-Length it was given.
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
  source: Bun.BunFile | Elsewhere,
): AsyncGenerator<Uint8Array, undefined, undefined> {
  for (const { head, range } of plan.parts) {
    yield Buffer.from(head, "latin1");
    yield* source instanceof Elsewhere
      ? source.open(range.offset, range.length)
      : source.slice(range.offset, range.offset + range.length).stream();
  }
  yield Buffer.from(plan.tail, "latin1");
}
