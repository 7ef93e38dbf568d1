/**
 * The HTTP side of shares: reads token and grant from a request, sets the headers, and sends content through {@link
 * ShareDownloads}. Access is checked in `share-access.ts`.
 */
import { Elysia } from "elysia";
import { AppError, invalidField } from "../../../errors.ts";
import { rateLimitKey } from "../../../http/client-address.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { ROOT_PATH } from "../../../lib/path.ts";
import { queryOf } from "../../../http/fields.ts";
import { say } from "../../../translations/say.ts";
import type { AlbumService } from "../../library/albums/service.ts";
import type { ArchiveSender } from "../../library/archive/archive-sender.ts";
import type { ArchiveService } from "../../library/archive/service.ts";
import type { ArchivePlan } from "../../library/archive/types.ts";
import type { RateGate } from "../../accounts/rate-limits/guard.ts";
import { SHARE_CACHE_CONTROL, SHARE_HEADERS, type ShareContentRequest, type ShareSender } from "./share-sender.ts";
import type { ShareAccess, LinkRequest } from "./share-access.ts";
import type { OpenedShare, SharedAlbum } from "./types.ts";

/** The cookie with the grant for the pages of one share. */
export const GRANT_COOKIE = "larder_grant";

/** The same maximum as POST /api/files/archive. */
const SELECTION_MAX = 1_000;

type ResponseSet = ShareContentRequest["set"];

/** Reads the grant of a request from its header, or from the cookie of the share's pages. */
export function linkRequestOf(request: Request, token: string, purpose: LinkRequest["purpose"]): LinkRequest {
  const cookie = request.headers.get("cookie");
  const grant =
    request.headers.get("x-share-grant") ??
    (cookie === null ? undefined : (new Bun.CookieMap(cookie).get(GRANT_COOKIE) ?? undefined));
  return { token, grant, purpose };
}

/** Sets the headers of every response about a share. Mount it before all guards, so that rejections have them too. */
export function shareHeaders() {
  return new Elysia({ name: "share-headers" }).onRequest(({ request, set }) => {
    const { path } = requestContextOf(request);
    if (!path.startsWith("/api/public/") && !path.startsWith("/s/")) return;
    Object.assign(set.headers, SHARE_HEADERS, { "cache-control": SHARE_CACHE_CONTROL });
  });
}

/** Dependencies of {@link ShareDownloads}. */
interface ShareDownloadsOptions {
  readonly shareAccess: ShareAccess;
  readonly sender: ShareSender;
  readonly albums: Pick<AlbumService, "fileIds">;
  readonly archives: Pick<ArchiveService, "plan" | "planFiles">;
  readonly archiveSender: Pick<ArchiveSender, "send">;
  readonly rateGate: Pick<RateGate, "countWholeDownload">;
  /** The page for a browser whose request is rejected; undefined if the error itself is the response. */
  readonly renderRejection: (error: unknown, token: string, request: Request) => Promise<Response | undefined>;
}

/** Sends the content of shares. */
export class ShareDownloads {
  readonly #options: ShareDownloadsOptions;

  constructor(options: ShareDownloadsOptions) {
    this.#options = options;
  }

  /**
   * Sends a shared file, a file in a shared folder or album, or the whole folder or album as a ZIP.
   * @throws AppError as {@link ShareAccess} and {@link ShareSender}
   */
  async send(token: string, request: Request, set: ResponseSet): Promise<Response> {
    const { shareAccess, sender, archives } = this.#options;
    const opened = shareAccess.open(linkRequestOf(request, token, "download"));
    const fileId = queryOf(request)["fileId"] || undefined;
    if (opened.node.kind === "folder" && fileId === undefined) {
      const root = opened.node;
      return this.#sendArchive(opened, () => archives.plan([root]), { request, set });
    }
    if (opened.node.kind === "album" && fileId === undefined) {
      const album = opened.node;
      return this.#sendArchive(opened, () => this.#planAlbum(album), { request, set });
    }
    return sender.send(opened, shareAccess.file(opened, fileId), { request, set });
  }

  /**
   * Sends a selection of a shared folder or album as a ZIP, which counts as one download.
   * @throws AppError invalid_field | not_found | not_a_folder, and as ShareAccess and ShareSender
   */
  async sendSelection(token: string, ids: readonly string[], request: Request, set: ResponseSet): Promise<Response> {
    const { shareAccess, archives } = this.#options;
    const opened = shareAccess.open(linkRequestOf(request, token, "download"));
    const selectedIds = [...new Set(ids)];
    if (selectedIds.length === 0)
      throw invalidField("id", say`Nothing was selected. Go back and select the files that you want.`);
    if (selectedIds.length > SELECTION_MAX)
      throw invalidField("id", say`A ZIP can contain at most ${SELECTION_MAX} selected items. Select fewer.`);
    return this.#sendArchive(opened, () => archives.plan(selectedIds.map((id) => shareAccess.entry(opened, id))), {
      request,
      set,
    });
  }

  /** Like {@link send}, but a browser gets a page instead of an error. */
  async sendToPage(token: string, request: Request, set: ResponseSet): Promise<Response> {
    try {
      return await this.send(token, request, set);
    } catch (error) {
      const wantsPage = request.headers.get("accept")?.includes("text/html") === true;
      const page = wantsPage ? await this.#options.renderRejection(error, token, request) : undefined;
      if (page === undefined) throw error;
      return page;
    }
  }

  async #planAlbum(album: SharedAlbum): Promise<ArchivePlan> {
    const { albums, archives } = this.#options;
    const ids = await albums.fileIds(album);
    return archives.planFiles({ accountId: album.accountId, ids, name: archiveNameOf(album.name) });
  }

  /** @param planArchive called once it is clear that the share can still be downloaded: it reads many rows */
  async #sendArchive(
    opened: OpenedShare,
    planArchive: () => Promise<ArchivePlan>,
    contentRequest: ShareContentRequest,
  ): Promise<Response> {
    const { sender, archiveSender, rateGate } = this.#options;
    rejectHidden(opened);
    sender.rejectUsedUp(opened, contentRequest);
    const plan = await planArchive();
    const { request, set } = contentRequest;
    sender.checkDownloadsLeft(opened, plan.etag, contentRequest);
    let isSent = false;
    const response = await archiveSender.send(plan, {
      request,
      set,
      callerKey: `a:${rateLimitKey(requestContextOf(request).clientAddress)}`,
      countWhole: () => rateGate.countWholeDownload(request, set.headers),
      onContentSent: () => {
        isSent = true;
      },
      extraHeaders: SHARE_HEADERS,
      cacheControl: SHARE_CACHE_CONTROL,
    });
    if (!isSent) return response;
    const archive = {
      publicId: opened.node.publicId,
      name: plan.fileName,
      folder: opened.node.kind === "album" ? ROOT_PATH : opened.node.folder,
      sizeBytes: plan.sizeBytes,
      mediaType: "application/zip",
      digest: plan.etag.slice(1, -1),
    };
    try {
      await sender.count(opened, archive, plan.etag, contentRequest, response.status === 206 ? "range" : "whole");
      return response;
    } catch (error) {
      await response.body?.cancel();
      throw error;
    }
  }
}

/** @throws AppError share_permission if photos are sent without location data, which a ZIP can't do */
function rejectHidden({ share }: OpenedShare): void {
  if (!share.hidesLocation) return;
  throw new AppError(
    "share_permission",
    say`This link removes location data, so you can't download a ZIP. Download the files one by one.`,
  );
}

const ARCHIVE_NAME_CHARACTERS_MAX = 50;

/** The name of the ZIP of an album, whose own name may be longer than that of a file, and contain slashes. */
function archiveNameOf(albumName: string): string {
  const short = [...albumName.replaceAll(/[/\\]/g, "_")].slice(0, ARCHIVE_NAME_CHARACTERS_MAX).join("");
  return `${short}.zip`;
}
