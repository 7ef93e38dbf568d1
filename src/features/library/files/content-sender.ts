import { type BlobStore, contentMissing } from "../../../blobs/blob-store.ts";
import type { DerivedStore } from "../../../blobs/derived.ts";
import { lazyBlobStream } from "../../../blobs/remote.ts";
import { AppError, notFound } from "../../../errors.ts";
import { type Query, queryOf, readBoolean } from "../../../http/fields.ts";
import { type SentBlob, sendBlob } from "../../../http/send-blob.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Principal } from "../../accounts/auth/principal.ts";
import type { AccessCounters } from "../../accounts/plans/access-counters.ts";
import type { TransferCounters } from "../../accounts/plans/transfers.ts";
import type { RateGate } from "../../accounts/rate-limits/guard.ts";
import type { DownloadLedger } from "../../accounts/rate-limits/download-ledger.ts";
import type { ThumbnailService } from "../../media/thumbnails/service.ts";
import type { ThumbnailVariant } from "../../media/thumbnails/sizes.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";

/** Dependencies of {@link ContentSender}. */
export interface ContentSenderOptions {
  readonly blobs: BlobStore;
  readonly thumbnails: Pick<ThumbnailService, "get">;
  readonly derived: Pick<DerivedStore, "read">;
  readonly access: AccessCounters;
  readonly transfers: TransferCounters;
  readonly downloads: DownloadLedger;
  readonly clock: Clock;
  /** Called for each download that counts. Must not throw. */
  readonly onCounted?: (file: FileNode) => void;
}

/** The position of a video inside a photo. */
export interface EmbeddedVideo {
  readonly offset: number;
  readonly bytes: number;
}

/** A request for file content. */
export interface ContentRequest {
  readonly request: Request;
  /**
   * The response headers so far. The sender takes them over, because merging them later would miss Elysia's fast path.
   */
  readonly set: { headers: Record<string, string | number> };
  readonly query: Query;
  /** Identifies the caller: a user or an address. */
  readonly callerKey: string;
  /**
   * Counts a request for a thumbnail or a further range as a whole download, if the whole content is sent instead.
   * @throws AppError rate_limited
   */
  readonly countWhole: () => void;
  /** Called when content is sent, whole or in part; not for HEAD, 304 and thumbnails. Must not throw. */
  readonly onContentSent?: () => void;
  /** Additional headers. */
  readonly extraHeaders?: Readonly<Record<string, string>>;
  readonly cacheControl?: string;
}

/**
 * The download of a signed-in user. The handler must destructure `set` in its own parameters: Elysia reads the source of
 * the handler to decide which fields to set. Without it, the response to HEAD has the wrong length.
 */
export function downloadBy(
  {
    request,
    set,
    principal,
  }: Pick<ContentRequest, "request" | "set"> & { readonly principal: Pick<Principal, "user"> },
  rateGate: Pick<RateGate, "countWholeDownload">,
): ContentRequest {
  return {
    request,
    set,
    query: queryOf(request),
    callerKey: `u:${principal.user.id}`,
    countWhole: () => rateGate.countWholeDownload(request, set.headers),
  };
}

/** How long a request waits for a thumbnail in progress. */
const THUMBNAIL_WAIT_MS = 5_000;

/** More lines than fit into a tile. */
const START_BYTES_MAX = 2048;

/** Sends the content or the thumbnail of a file, and counts downloads. */
export class ContentSender {
  readonly #options: ContentSenderOptions;

  constructor(options: ContentSenderOptions) {
    this.#options = options;
  }

  /**
   * The response to a download of this file, according to the query.
   * @throws AppError not_found | invalid_field | thumbnail_pending | precondition_failed | range_not_satisfiable | content_missing
   */
  send(file: FileNode, contentRequest: ContentRequest): Response | Promise<Response> {
    if (contentRequest.query["thumbnail"] === "text") return this.#sendStart(file, contentRequest);
    const variant = readVariant(contentRequest.query["thumbnail"]);
    if (variant !== undefined && contentRequest.query["fallback"] === "none") {
      return this.sendThumbnail(file, variant, contentRequest);
    }
    return variant === undefined
      ? this.#sendContent(file, contentRequest)
      : this.#sendThumbnail(file, variant, contentRequest).then(
          (response) => response ?? this.#sendContent(file, contentRequest),
        );
  }

  /**
   * The response with the thumbnail of a file.
   * @throws AppError not_found if the file has none; thumbnail_pending | precondition_failed
   */
  async sendThumbnail(file: FileNode, variant: ThumbnailVariant, contentRequest: ContentRequest): Promise<Response> {
    const response = await this.#sendThumbnail(file, variant, contentRequest);
    if (response === undefined) throw notFound(say`A thumbnail of this file was not found.`);
    return response;
  }

  /**
   * The response with the video inside a photo.
   * @throws AppError precondition_failed | range_not_satisfiable | content_missing
   */
  async sendPart(file: FileNode, part: EmbeddedVideo, contentRequest: ContentRequest): Promise<Response> {
    const { blobs } = this.#options;
    const isRemote = (await blobs.prepareRead(file.digest)) === "remote";
    if (!isRemote && blobs.stat(file.digest) === undefined) throw contentMissing(file.digest);
    const remote = lazyBlobStream(blobs, file.digest);
    const { inline, isPreview } = readDisposition(contentRequest.query);
    const sent = sendBlob({
      ...contentRequest,
      commonHeaders: contentRequest.set.headers,
      blob: {
        sizeBytes: part.bytes,
        path: () => blobs.pathOf(file.digest),
        offset: part.offset,
        ...(isRemote && { stream: (offset, length) => remote(part.offset + offset, length) }),
      },
      etag: `"${file.digest}-motion"`,
      lastModifiedMs: file.contentAtMs,
      mediaType: "video/mp4",
      fileName: `${file.name.replace(/\.\w+$/, "")}.mp4`,
      inline,
    });
    if (sent.kind === "whole") contentRequest.countWhole();
    contentRequest.set.headers = {};
    this.#count(file, contentRequest.callerKey, sent, isPreview);
    if (sent.kind !== "head" && sent.kind !== "notModified") contentRequest.onContentSent?.();
    return sent.response;
  }

  /** The first bytes, of which a page makes the picture of a text. Like a thumbnail, they are not counted as a download. */
  async #sendStart(file: FileNode, contentRequest: ContentRequest): Promise<Response> {
    const sizeBytes = Math.min(file.sizeBytes, START_BYTES_MAX);
    const bytes = await this.#options.blobs.read(file.digest, 0, sizeBytes);
    const { response } = sendBlob({
      ...contentRequest,
      commonHeaders: contentRequest.set.headers,
      blob: { sizeBytes, path: () => this.#options.blobs.pathOf(file.digest), read: () => bytes },
      etag: `"${file.digest}-text"`,
      lastModifiedMs: file.contentAtMs,
      mediaType: "text/plain",
      fileName: `${file.name}.txt`,
      inline: true,
    });
    contentRequest.set.headers = {};
    return response;
  }

  #sendContent(file: FileNode, contentRequest: ContentRequest): Response | Promise<Response> {
    const fetching = this.#options.blobs.prepareRead(file.digest);
    if (fetching === undefined) return this.#sendStored(file, contentRequest);
    return fetching.then((tier) => this.#sendStored(file, contentRequest, tier === "remote"));
  }

  #sendStored(file: FileNode, contentRequest: ContentRequest, isRemote = false): Response {
    const { blobs } = this.#options;
    const { inline, isPreview } = readDisposition(contentRequest.query);
    // Fields are named one by one, as copying an object is slow, and every download comes here.
    const sent = sendBlob({
      request: contentRequest.request,
      cacheControl: contentRequest.cacheControl,
      extraHeaders: contentRequest.extraHeaders,
      commonHeaders: contentRequest.set.headers,
      blob: {
        sizeBytes: file.sizeBytes,
        // Small blobs and ranges are opened here, without following symbolic links. For others only the path is passed on.
        path: () => {
          if (blobs.stat(file.digest) === undefined) throw contentMissing(file.digest);
          return blobs.pathOf(file.digest);
        },
        read: (into) => blobs.readSmall(file.digest, file.sizeBytes, into),
        readRange: (offset, lengthBytes, into) => blobs.readRange(file.digest, offset, lengthBytes, into),
        stream: isRemote ? lazyBlobStream(blobs, file.digest) : undefined,
      },
      etag: `"${file.digest}"`,
      lastModifiedMs: file.contentAtMs,
      mediaType: file.mediaType,
      fileName: file.name,
      inline,
    });
    if (sent.kind === "whole") contentRequest.countWhole();
    contentRequest.set.headers = {};
    this.#count(file, contentRequest.callerKey, sent, isPreview);
    if (sent.kind !== "head" && sent.kind !== "notModified") contentRequest.onContentSent?.();
    return sent.response;
  }

  /** @returns undefined if no thumbnail can be made */
  async #sendThumbnail(
    file: FileNode,
    variant: ThumbnailVariant,
    contentRequest: ContentRequest,
  ): Promise<Response | undefined> {
    const { thumbnails, derived } = this.#options;
    const found = await thumbnails.get(file.digest, file.mediaType, variant, THUMBNAIL_WAIT_MS);
    if (found.state === "none") return undefined;
    if (found.state === "pending") {
      throw new AppError("thumbnail_pending", say`The thumbnail is not ready. Try again in a few seconds.`);
    }
    const { path, sizeBytes } = found;
    const { response } = sendBlob({
      ...contentRequest,
      commonHeaders: contentRequest.set.headers,
      blob: {
        sizeBytes,
        path: () => path,
        read: () => derived.read(found),
      },
      etag: `"${file.digest}-${variant}"`,
      lastModifiedMs: file.contentAtMs,
      mediaType: "image/webp",
      fileName: `${file.name}.webp`,
      inline: true,
    });
    contentRequest.set.headers = {};
    return response;
  }

  /**
   * A whole file counts each time, ranges once per caller, version and hour; HEAD and 304 do not count. Of a preview,
   * only the bytes count.
   */
  #count(file: FileNode, callerKey: string, sent: SentBlob, isPreview: boolean): void {
    if (sent.kind === "head" || sent.kind === "notModified") return;
    const { access, transfers, downloads, clock } = this.#options;
    if (isPreview) return transfers.noteDownload(file.accountId, sent.bytesToSend, 0);
    const nowMs = clock.nowMs();
    const contentKey = `${file.publicId}:${file.version}`;
    const isRange = sent.kind !== "whole";
    const counted = downloads.begin(callerKey, contentKey, isRange, nowMs) === "counts" ? 1 : 0;
    access.note(file.id, nowMs, counted);
    transfers.noteDownload(file.accountId, sent.bytesToSend, counted);
    if (counted === 1) this.#options.onCounted?.(file);
  }
}

/** @throws AppError invalid_field */
function readDisposition(query: Query): { readonly inline: boolean; readonly isPreview: boolean } {
  const isPreview = readBoolean(query["preview"], "preview") ?? false;
  return { isPreview, inline: readBoolean(query["inline"], "inline") ?? isPreview };
}

const VARIANTS: Readonly<Record<string, ThumbnailVariant>> = {
  "": "medium",
  true: "medium",
  "1": "medium",
  small: "small",
  medium: "medium",
  large: "large",
};

/** The variant in `?thumbnail=`; undefined for the content itself. @throws AppError invalid_field */
export function readVariant(text: string | undefined): ThumbnailVariant | undefined {
  if (text === undefined || text === "false" || text === "0") return undefined;
  const variant = VARIANTS[text];
  if (variant === undefined) {
    throw new AppError("invalid_field", say`thumbnail must be true, false, small, medium or large.`, {
      field: "thumbnail",
    });
  }
  return variant;
}
