/**
 * Sends the content of shares and counts downloads: a file or its thumbnail, the pinned version, and photos without
 * location and camera data if the owner chose that.
 */
import { type BlobStore, contentMissing } from "../../../blobs/blob-store.ts";
import type { DerivedFile, DerivedStore } from "../../../blobs/derived.ts";
import { lazyBlobStream } from "../../../blobs/remote.ts";
import { AppError, notFound } from "../../../errors.ts";
import type { FileSummary } from "../../../events/catalogue.ts";
import { rateLimitKey } from "../../../http/client-address.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { type Query, readBoolean, queryOf } from "../../../http/fields.ts";
import { type SendableBlob, type SentBlob, SMALL_BLOB_MAX_BYTES, sendBlob } from "../../../http/send-blob.ts";
import type { Clock } from "../../../lib/clock.ts";
import { readVariant } from "../../library/files/content-sender.ts";
import type { AccessCounters } from "../../accounts/plans/access-counters.ts";
import type { TransferCounters } from "../../accounts/plans/transfers.ts";
import type { DownloadLedger } from "../../accounts/rate-limits/download-ledger.ts";
import type { RateGate } from "../../accounts/rate-limits/guard.ts";
import type { ThumbnailService } from "../../media/thumbnails/service.ts";
import type { ThumbnailVariant } from "../../media/thumbnails/sizes.ts";
import { summarizeFile } from "../../../tree/model/file-summary.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";
import type { StrippedPhotos } from "./stripped-photos.ts";
import type { ShareAccess } from "./share-access.ts";
import { hasCameraData, shownName } from "./shown-name.ts";
import { type ShareStatistics, usedUp } from "./statistics.ts";
import type { OpenedShare } from "./types.ts";

/** Dependencies of {@link ShareSender}. */
interface ShareSenderOptions {
  readonly shareAccess: ShareAccess;
  readonly statistics: ShareStatistics;
  readonly strippedPhotos: StrippedPhotos;
  readonly blobs: Pick<BlobStore, "stat" | "pathOf" | "readSmall" | "readRange" | "prepareRead" | "open">;
  readonly thumbnails: Pick<ThumbnailService, "get">;
  readonly derived: Pick<DerivedStore, "read">;
  readonly access: Pick<AccessCounters, "note">;
  readonly transfers: Pick<TransferCounters, "noteDownload">;
  /** Used only by this sender. */
  readonly downloads: DownloadLedger;
  readonly rateGate: Pick<RateGate, "countWholeDownload">;
  readonly clock: Clock;
  /** Called for each download that counts. Must not throw. */
  readonly onCounted?: ((file: FileNode) => void) | undefined;
}

/** One request for the content of a share. */
export interface ShareContentRequest {
  readonly request: Request;
  /** The response headers so far. They are moved into the response. */
  readonly set: { headers: Record<string, string | number> };
}

/** Headers of every response about a share. */
export const SHARE_HEADERS = { "referrer-policy": "no-referrer", "x-robots-tag": "noindex" } as const;
/** Also a header of every response about a share: caches must revalidate, because the share may have ended. */
export const SHARE_CACHE_CONTROL = "private, no-cache";

/** Content to send, with the headers that describe it. */
interface ShareContent {
  readonly blob: SendableBlob;
  readonly etag: string;
  readonly mediaType: string;
  readonly fileName: string;
}

const THUMBNAIL_WAIT_MS = 5_000;
/** Instead of the key of some content: that the caller has begun a download of a share. */
const ANY_CONTENT = "*";

export class ShareSender {
  readonly #options: ShareSenderOptions;
  /**
   * First range requests that are being counted, by caller and content. Concurrent requests for the same content wait
   * for the result.
   */
  readonly #counting = new Map<string, Promise<void>>();

  constructor(options: ShareSenderOptions) {
    this.#options = options;
  }

  /**
   * Responds to a download of this file, according to the query. If downloads are limited, one is taken before the first
   * byte.
   * @throws AppError share_used_up | share_permission | invalid_field | thumbnail_pending | precondition_failed |
   *   range_not_satisfiable | content_missing | rate_limited
   */
  async send(opened: OpenedShare, file: FileNode, contentRequest: ShareContentRequest): Promise<Response> {
    const query = queryOf(contentRequest.request);
    const variant = readVariant(query["thumbnail"]);
    this.checkDownloadsLeft(opened, contentKeyOf(file), contentRequest, variant !== undefined);
    const thumbnail = variant && (await this.#sendThumbnail(opened, file, variant, contentRequest));
    if (thumbnail !== undefined) return thumbnail;
    const sent = this.#respond(file, await this.#content(opened, file), query, contentRequest);
    if (this.#beginsDownload(opened, file, contentRequest.request, sent.kind)) {
      this.#options.rateGate.countWholeDownload(contentRequest.request, contentRequest.set.headers);
    }
    const counted = await this.count(opened, summarizeFile(file), contentKeyOf(file), contentRequest, sent.kind);
    const { access, transfers, clock, onCounted } = this.#options;
    if (counted !== undefined) {
      access.note(file.id, clock.nowMs(), counted);
      transfers.noteDownload(file.accountId, sent.bytesToSend, counted);
      if (counted === 1) onCounted?.(file);
    }
    contentRequest.set.headers = {};
    return sent.response;
  }

  /**
   * Responds with the thumbnail of a file, never with its content. It does not count.
   * @throws AppError not_found | thumbnail_pending
   */
  async sendPicture(opened: OpenedShare, file: FileNode, contentRequest: ShareContentRequest): Promise<Response> {
    const thumbnail = await this.#sendThumbnail(opened, file, "medium", contentRequest);
    if (thumbnail === undefined) throw notFound(say`This picture was not found.`);
    return thumbnail;
  }

  /** Describes the content that {@link send} would send, and throws the same errors. */
  async describe(opened: OpenedShare, file: FileNode): Promise<{ mediaType: string; sizeBytes: number }> {
    const { mediaType, blob } = await this.#content(opened, file);
    return { mediaType, sizeBytes: blob.sizeBytes };
  }

  /**
   * Call before the content of a request is known, which may cost much.
   * @throws AppError share_used_up if no download is left and this caller has begun none that this request may continue
   */
  rejectUsedUp(opened: OpenedShare, { request }: ShareContentRequest): void {
    const { shareAccess, downloads, clock } = this.#options;
    if (!shareAccess.isUsedUp(opened.share)) return;
    const [caller, key] = [callerOf(request), keyOf(opened, ANY_CONTENT)];
    const isRange = request.headers.has("range");
    const hasBegun = downloads.peek(caller, key, isRange, clock.nowMs()) === "continues";
    const isCounting = () => this.#counting.keys().some((each) => each.startsWith(`${caller} ${keyOf(opened, "")}`));
    if (!hasBegun && !(isRange && isCounting())) throw usedUp();
  }

  /** @throws AppError share_used_up if no download is left and this request does not continue one */
  checkDownloadsLeft(
    opened: OpenedShare,
    contentKey: string,
    { request }: ShareContentRequest,
    isThumbnail = false,
  ): void {
    const { shareAccess, downloads, clock } = this.#options;
    if (!shareAccess.isUsedUp(opened.share)) return;
    const [caller, key] = [callerOf(request), keyOf(opened, contentKey)];
    const isRange = request.headers.has("range");
    const continues =
      downloads.peek(caller, key, isRange, clock.nowMs()) === "continues" ||
      (isRange && this.#counting.has(`${caller} ${key}`));
    if (isThumbnail || !continues) throw usedUp();
  }

  /**
   * Counts a download. Whole content counts each time, ranges count once per caller, content and hour. HEAD and 304 do
   * not count.
   * @returns 1 if it counted, else 0; undefined if no content is sent
   * @throws AppError share_used_up
   */
  async count(
    opened: OpenedShare,
    file: FileSummary,
    contentKey: string,
    { request }: ShareContentRequest,
    kind: SentBlob["kind"],
  ): Promise<0 | 1 | undefined> {
    if (kind === "head" || kind === "notModified") return undefined;
    const { downloads, clock } = this.#options;
    const caller = callerOf(request);
    const key = keyOf(opened, contentKey);
    const isRange = kind !== "whole";
    // No await from here until the download is taken. A request that waited checks again.
    let other = isRange ? this.#counting.get(`${caller} ${key}`) : undefined;
    while (other !== undefined) {
      await other;
      other = this.#counting.get(`${caller} ${key}`);
    }
    if (downloads.peek(caller, key, isRange, clock.nowMs()) === "continues") return 0;
    const counting = this.#options.statistics.count(opened.share, file);
    if (counting !== undefined) {
      if (isRange) {
        const ended = counting.catch(() => undefined).finally(() => this.#counting.delete(`${caller} ${key}`));
        this.#counting.set(`${caller} ${key}`, ended);
      }
      await counting;
    }
    downloads.begin(caller, key, isRange, clock.nowMs());
    // A promise: the share has a maximum.
    if (counting !== undefined) downloads.begin(caller, keyOf(opened, ANY_CONTENT), false, clock.nowMs());
    return 1;
  }

  /**
   * Whether this request begins a download, for the rate limits. These know only the address and the link, so all files
   * of a shared folder share a limit.
   */
  #beginsDownload(opened: OpenedShare, file: FileNode, request: Request, kind: SentBlob["kind"]): boolean {
    if (kind === "whole") return true;
    if (kind === "head" || kind === "notModified") return false;
    const { downloads, clock } = this.#options;
    return downloads.peek(callerOf(request), keyOf(opened, contentKeyOf(file)), true, clock.nowMs()) === "counts";
  }

  async #content(opened: OpenedShare, file: FileNode): Promise<ShareContent> {
    const fileName = shownName(opened, file);
    if (!opened.share.hidesLocation || !hasCameraData(file)) return this.#original(opened, file, fileName);
    const bare = await this.#options.strippedPhotos.get(file);
    if (bare !== undefined) {
      const blob = { sizeBytes: bare.sizeBytes, path: () => bare.path };
      return { blob, etag: etagOf(opened, file, "bare"), mediaType: file.mediaType, fileName };
    }
    const isPicture = file.mediaType.startsWith("image/");
    const preview = isPicture ? await this.#thumbnail(opened, file, "large") : undefined;
    if (preview !== undefined) return { ...preview, fileName: `${fileName.replace(/\.[^.]*$/, "")}.webp` };
    throw new AppError(
      "share_permission",
      say`This file can't be shared without its location data. Ask the owner for the file.`,
    );
  }

  async #original(opened: OpenedShare, file: FileNode, fileName: string): Promise<ShareContent> {
    const { blobs } = this.#options;
    const isRemote = (await blobs.prepareRead(file.digest)) === "remote";
    if (file.sizeBytes > SMALL_BLOB_MAX_BYTES && blobs.stat(file.digest) === undefined) {
      throw contentMissing(file.digest);
    }
    return {
      blob: {
        sizeBytes: file.sizeBytes,
        path: () => blobs.pathOf(file.digest),
        read: (into) => blobs.readSmall(file.digest, file.sizeBytes, into),
        readRange: (offset, lengthBytes, into) => blobs.readRange(file.digest, offset, lengthBytes, into),
        ...(isRemote && { stream: lazyBlobStream(blobs, file.digest) }),
      },
      etag: etagOf(opened, file),
      mediaType: file.mediaType,
      fileName,
    };
  }

  /** @throws AppError thumbnail_pending */
  async #thumbnail(
    opened: OpenedShare,
    file: FileNode,
    variant: ThumbnailVariant,
  ): Promise<Omit<ShareContent, "fileName"> | undefined> {
    const { thumbnails, derived } = this.#options;
    const found = await thumbnails.get(file.digest, file.mediaType, variant, THUMBNAIL_WAIT_MS);
    if (found.state === "none") return undefined;
    if (found.state === "pending") {
      throw new AppError("thumbnail_pending", say`The thumbnail is not ready. Try again in a few seconds.`);
    }
    const { path, sizeBytes }: DerivedFile = found;
    return {
      blob: { path: () => path, sizeBytes, read: () => derived.read({ path, sizeBytes }) },
      etag: etagOf(opened, file, variant),
      mediaType: "image/webp",
    };
  }

  /** @returns undefined if the file has no thumbnail */
  async #sendThumbnail(
    opened: OpenedShare,
    file: FileNode,
    variant: ThumbnailVariant,
    contentRequest: ShareContentRequest,
  ): Promise<Response | undefined> {
    const thumbnail = await this.#thumbnail(opened, file, variant);
    if (thumbnail === undefined) return undefined;
    const content = { ...thumbnail, fileName: `${shownName(opened, file)}.webp` };
    const { response } = this.#respond(file, content, { inline: "true" }, contentRequest);
    contentRequest.set.headers = {};
    return response;
  }

  #respond(file: FileNode, content: ShareContent, query: Query, { request, set }: ShareContentRequest): SentBlob {
    const inline = readBoolean(query["inline"], "inline") ?? false;
    return sendBlob({
      request,
      ...content,
      lastModifiedMs: file.contentAtMs,
      inline,
      cacheControl: SHARE_CACHE_CONTROL,
      commonHeaders: set.headers,
      extraHeaders: SHARE_HEADERS,
    });
  }
}

/** The key of a caller: their address. */
function callerOf(request: Request): string {
  return `a:${rateLimitKey(requestContextOf(request).clientAddress)}`;
}

function keyOf(opened: OpenedShare, contentKey: string): string {
  return `${opened.share.publicId}:${contentKey}`;
}

/**
 * The ETag of a response: the digest of its content. For a share that hides data, a value that reveals nothing about
 * the original, even to clients that have it.
 */
function etagOf({ share }: OpenedShare, { digest }: FileNode, variant?: ThumbnailVariant | "bare"): string {
  const name = variant === undefined ? digest : `${digest}-${variant}`;
  if (!share.hidesLocation) return `"${name}"`;
  return `"${new Bun.CryptoHasher("sha256").update(share.nonce).update(name).digest("hex")}"`;
}

/** Requests with the same key continue one download. */
function contentKeyOf(file: FileNode): string {
  return `${file.publicId}:${file.version}`;
}
