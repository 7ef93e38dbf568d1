/** The files behind links, as JSON and bytes, for anyone. The pages are in `page-routes.ts`. */
import { t } from "elysia";
import { AppError } from "../../../errors.ts";
import { rateLimitKey } from "../../../http/client-address.ts";
import { ok, paginate } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { queryOf } from "../../../http/fields.ts";
import { toTimestamp, timestampOrNull } from "../../../lib/clock.ts";
import { ROOT_PATH } from "../../../lib/path.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import type { RateGate } from "../../accounts/rate-limits/guard.ts";
import { presentContextOf } from "../../library/files/present.ts";
import type { AlbumService } from "../../library/albums/service.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { readSharedAlbum, readSharedListing } from "./listing.ts";
import { UnlockBody } from "./model.ts";
import { folderTitle, presentCurrentFolder, presentSharedFile, presentSharedItem, publicUrl } from "./present.ts";
import { type ShareDownloads, linkRequestOf } from "./share-requests.ts";
import type { ShareSender } from "./share-sender.ts";
import type { ShareAccess } from "./share-access.ts";
import type { LinkGuesses } from "./guesses.ts";
import type { ShareStatistics } from "./statistics.ts";
import type { OpenedShare } from "./types.ts";
import type { DropBox } from "./drop-box-form.ts";

/** Dependencies of the routes of links. */
export interface PublicRoutesOptions {
  readonly shareAccess: ShareAccess;
  readonly guesses: LinkGuesses;
  readonly sender: ShareSender;
  readonly downloads: ShareDownloads;
  readonly dropBox: DropBox;
  readonly statistics: ShareStatistics;
  readonly tree: TreeReader;
  readonly albums: Pick<AlbumService, "page">;
  readonly rateGate: RateGate;
  readonly guard: ReturnType<typeof authGuard>;
  readonly hasThumbnail: (file: FileNode) => boolean;
}

const TokenParams = t.Object({ token: t.String() });
const UNLOCK = {
  access: "public",
  rate: "operations",
  audit: { action: "share.unlock", write: "rejections", isGuess: true },
  acknowledges: false,
} as const;
const DOWNLOAD = {
  access: "public",
  rate: { category: "downloads", thumbnails: "general" },
  audit: "unaudited",
  docs: docs.download,
  params: TokenParams,
} as const;

/** /api/public/{token}…, /s/{token}/download */
export function publicRoutes(options: PublicRoutesOptions) {
  const { shareAccess, downloads, dropBox, statistics, tree, albums, guard, hasThumbnail } = options;
  return new Router({ guard })
    .get(
      "/api/public/:token",
      { access: "public", rate: "operations", audit: "unaudited", docs: docs.openLink, params: TokenParams },
      async ({ params, request }) => {
        const opened = shareAccess.open(linkRequestOf(request, params.token, "describe"));
        statistics.noteView(opened.share);
        return ok(await presentLink(options, opened, request));
      },
    )
    .get(
      "/api/public/:token/files",
      { access: "public", rate: "listing", audit: "unaudited", docs: docs.listFolder, params: TokenParams },
      async ({ params, request }) => {
        const opened = shareAccess.open(linkRequestOf(request, params.token, "list"));
        const context = presentContextOf(request, hasThumbnail);
        if (opened.node.kind === "album") {
          const { files, page, limit, total } = await readSharedAlbum(albums, opened.node, queryOf(request));
          return ok({
            files: files.map((file) => presentSharedItem(opened, file, context)),
            pagination: paginate(page, limit, total),
            currentFolder: { path: ROOT_PATH, name: opened.node.name, parent: ROOT_PATH },
          });
        }
        const listing = await readSharedListing(shareAccess, tree, opened, queryOf(request));
        return ok({
          files: listing.nodes.map((node) => presentSharedItem(opened, node, context)),
          pagination: paginate(listing.page, listing.limit, listing.total),
          currentFolder: presentCurrentFolder(opened, listing.folder),
        });
      },
    )
    .get("/api/public/:token/download", DOWNLOAD, ({ params, request, set }) =>
      downloads.send(params.token, request, set),
    )
    .get("/s/:token/download", DOWNLOAD, ({ params, request, set }) => downloads.sendToPage(params.token, request, set))
    .post(
      "/api/public/:token/unlock",
      {
        ...UNLOCK,
        docs: docs.unlock,
        params: TokenParams,
        body: UnlockBody,
      },
      async ({ params, body, request, set }) => {
        const { grant, expiresAtMs } = await unlock(options, { ...params, ...body }, request, set.headers);
        return ok({ grant, expiresAt: toTimestamp(expiresAtMs) });
      },
    )
    .post(
      "/api/public/:token/upload",
      {
        access: "public",
        rate: "uploads",
        audit: { action: "share.upload", files: "all" },
        docs: docs.upload,
        params: TokenParams,
        parse: "none",
      },
      async ({ params, request, set }) => {
        const dropped = await dropBox.receive(linkRequestOf(request, params.token, "upload"), request);
        set.status = 201;
        return ok(dropped);
      },
    );
}

/** The record of a link to a file, a folder, an album or a drop box. */
async function presentLink(options: PublicRoutesOptions, opened: OpenedShare, request: Request) {
  const { sender, dropBox, tree, albums, hasThumbnail } = options;
  const { node, share } = opened;
  const context = presentContextOf(request, hasThumbnail);
  const expiresAt = timestampOrNull(share.expiresAtMs);
  if (node.kind === "file") {
    const record = { ...presentSharedFile(opened, node, context), permissions: "read", expiresAt };
    if (!share.hidesLocation) return record;
    const { mediaType, sizeBytes } = await sender.describe(opened, node);
    return { ...record, mimeType: mediaType, size: sizeBytes };
  }
  const url = publicUrl(opened, context);
  const urls = { filesUrl: `${url}/files`, downloadUrl: `${url}/download` };
  if (node.kind === "album") {
    const first = { sort: "position", order: "asc", offset: 0, limit: 1 } as const;
    const { total } = await albums.page(node, first);
    const { name, description } = node;
    return { name, type: "album", description, permissions: "read", expiresAt, itemCount: total, ...urls };
  }
  const folder = { name: folderTitle(node), type: "folder" };
  if (share.kind === "upload") {
    const maxFileSize = dropBox.largestFile(opened);
    return {
      ...folder,
      permissions: "upload",
      expiresAt,
      label: share.label,
      maxFileSize,
      uploadUrl: `${url}/upload`,
    };
  }
  const { accountId } = share;
  const count = async (kind: "file" | "folder") =>
    (await tree.list({ accountId, folder: node, kind, sort: "name", order: "asc", offset: 0, limit: 1 })).total;
  return {
    ...folder,
    permissions: "read",
    expiresAt,
    itemCount: node.itemCount,
    files: await count("file"),
    folders: await count("folder"),
    ...urls,
  };
}

/** Dependencies of {@link unlock}. */
export type UnlockOptions = Pick<PublicRoutesOptions, "shareAccess" | "guesses" | "rateGate">;

/**
 * Checks a password, and limits wrong ones.
 * @returns a grant
 * @throws AppError not_found | share_expired | bad_credentials | rate_limited
 */
export async function unlock(
  { shareAccess, guesses, rateGate }: UnlockOptions,
  { token, password }: { token: string; password: string },
  request: Request,
  headers: Record<string, string | number>,
): Promise<{ grant: string; expiresAtMs: number }> {
  const found = shareAccess.find(token);
  const addressKey = rateLimitKey(requestContextOf(request).clientAddress);
  const check = async () => {
    const grant = await shareAccess.unlock(token, password);
    if (grant === undefined) {
      throw new AppError("bad_credentials", say`The password is wrong. Check it and try again.`);
    }
    return grant;
  };
  return rateGate.guardPassword(request, headers, `share:${found.share.publicId}`, () =>
    guesses.guard(found, addressKey, check),
  );
}
