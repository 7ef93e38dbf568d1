/**
 * Sends an archive: conditions, one range, headers (RFC 9110 §13, §14). Counts it as a download.
 *
 * Bun 1.4 sends a body produced on the fly in chunks and drops the given Content-Length
 * (https://github.com/oven-sh/bun/issues/10507). HEAD still returns the length, ranges return it in Content-Range, and
 * small archives are built in memory and sent with a length.
 */
import { AppError } from "../../../errors.ts";
import { evaluateConditions } from "../../../http/conditional.ts";
import { contentDisposition } from "../../../http/content-disposition.ts";
import { headResponse } from "../../../http/head-response.ts";
import { type ByteRange, contentRange, parseRange } from "../../../http/range.ts";
import type { Clock } from "../../../lib/clock.ts";
import { say } from "../../../translations/say.ts";
import type { TransferCounters } from "../../accounts/plans/transfers.ts";
import type { DownloadLedger } from "../../accounts/rate-limits/download-ledger.ts";
import type { ArchivePlan } from "./types.ts";

/** Dependencies of {@link ArchiveSender}. */
export interface ArchiveSenderOptions {
  readonly transfers: TransferCounters;
  readonly downloads: DownloadLedger;
  readonly clock: Clock;
}

/** One request for an archive. */
export interface ArchiveRequest {
  readonly request: Request;
  /** The response headers so far; the sender takes them over. */
  readonly set: { headers: Record<string, string | number> };
  /** Identifies the caller: a user or an address. */
  readonly callerKey: string;
  /** Counts the request as a whole download if it began as a further range. @throws AppError rate_limited */
  readonly countWhole: () => void;
  /** Called when bytes are sent, whole or in part; not for HEAD and 304. Must not throw. */
  readonly onContentSent?: () => void;
  /** Additional headers. */
  readonly extraHeaders?: Readonly<Record<string, string>>;
  readonly cacheControl?: string;
}

/** Up to this size an archive is built in memory and sent with its length. */
const IN_MEMORY_BYTES_MAX = 4 * 1024 * 1024;

const MEDIA_TYPE = "application/zip";
/** Access may end at any time, so clients must revalidate on every use. */
const DEFAULT_CACHE_CONTROL = "private, no-cache";

/** Sends archives. */
export class ArchiveSender {
  readonly #options: ArchiveSenderOptions;

  constructor(options: ArchiveSenderOptions) {
    this.#options = options;
  }

  /**
   * The response to a GET or HEAD, or to a POST with a selection. Ranges apply only to GET, so a POST gets the whole
   * archive. So does a request with several ranges.
   * @throws AppError precondition_failed | range_not_satisfiable; content_missing | content_damaged if detected before
   *   the first byte
   */
  async send(plan: ArchivePlan, archiveRequest: ArchiveRequest): Promise<Response> {
    const { request } = archiveRequest;
    const condition = evaluateConditions(request.headers, request.method, plan);
    if (condition === "preconditionFailed") {
      const message = say`The files in this archive have changed. Download it again.`;
      throw new AppError("precondition_failed", message, { etag: plan.etag });
    }
    const headers = commonHeaders(plan, archiveRequest);
    if (condition === "notModified") {
      archiveRequest.set.headers = {};
      return new Response(null, { status: 304, headers });
    }
    const range = rangeToSend(plan, request, condition === "ignoreRange");
    Object.assign(headers, contentHeaders(plan, range?.length ?? plan.sizeBytes));
    if (request.method === "HEAD") {
      archiveRequest.set.headers = {};
      return headResponse(headers, plan.sizeBytes);
    }
    if (range === undefined) archiveRequest.countWhole();
    else headers["content-range"] = contentRange(range, plan.sizeBytes);
    const sent = range ?? { offset: 0, length: plan.sizeBytes };
    const body = await createBody(plan, sent);
    archiveRequest.set.headers = {};
    this.#count(plan, archiveRequest.callerKey, range);
    archiveRequest.onContentSent?.();
    return new Response(body, { status: range === undefined ? 200 : 206, headers });
  }

  /**
   * Counts like a file: a whole archive each time, ranges once per caller, archive and hour. The files in it are not
   * counted.
   */
  #count(plan: ArchivePlan, callerKey: string, range: ByteRange | undefined): void {
    const { transfers, downloads, clock } = this.#options;
    const downloadState = downloads.begin(callerKey, plan.etag, range !== undefined, clock.nowMs());
    transfers.noteDownload(plan.accountId, range?.length ?? plan.sizeBytes, downloadState === "counts" ? 1 : 0);
  }
}

/** The range to send; undefined for the whole archive. @throws AppError range_not_satisfiable */
function rangeToSend(plan: ArchivePlan, request: Request, isIgnored: boolean): ByteRange | undefined {
  if (request.method !== "GET" || isIgnored) return undefined;
  const range = parseRange(request.headers.get("range"), plan.sizeBytes);
  if (range.kind === "unsatisfiable") {
    throw new AppError(
      "range_not_satisfiable",
      say`The requested range is outside the archive, which has ${plan.sizeBytes} bytes. Request a range within it.`,
      { sizeBytes: plan.sizeBytes },
    );
  }
  return range.kind === "ranges" && range.ranges.length === 1 ? range.ranges[0] : undefined;
}

async function createBody(plan: ArchivePlan, { offset, length }: ByteRange) {
  if (length > IN_MEMORY_BYTES_MAX) return plan.stream(offset, offset + length);
  const bytes = new Uint8Array(length);
  let at = 0;
  for await (const chunk of plan.chunks(offset, offset + length)) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/** The headers that 200, 206 and 304 share (RFC 9110 §15.4.5). */
function commonHeaders(plan: ArchivePlan, { set, extraHeaders, cacheControl }: ArchiveRequest): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name in set.headers) headers[name] = String(set.headers[name]);
  const vary = headers["vary"];
  return {
    ...headers,
    "cache-control": cacheControl ?? DEFAULT_CACHE_CONTROL,
    etag: plan.etag,
    "last-modified": new Date(plan.lastModifiedMs).toUTCString(),
    vary: vary === undefined ? "Authorization, Cookie" : `${vary}, Authorization, Cookie`,
    ...extraHeaders,
  };
}

function contentHeaders(plan: ArchivePlan, lengthBytes: number): Record<string, string> {
  return {
    "content-type": MEDIA_TYPE,
    "content-length": String(lengthBytes),
    "content-disposition": contentDisposition(plan.fileName, false),
    "accept-ranges": "bytes",
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; sandbox",
  };
}
