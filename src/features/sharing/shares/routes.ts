/** What a link opens for anybody, as JSON and bytes (contract §5). The pages are in `page-routes.ts`. */
import { Elysia, t } from "elysia";
import { AppError } from "../../../errors.ts";
import { rateLimitKey } from "../../../http/client-address.ts";
import { documented } from "../../../http/documented.ts";
import { ok, paginate } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { readQuery } from "../../../http/fields.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import { type authGuard, takesJson } from "../../accounts/auth/guard.ts";
import type { RateGate } from "../../accounts/rate-limits/guard.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FileNode, FolderNode } from "../../../tree/model/types.ts";
import { QUERY_OF_SHARED_LISTING, readSharedListing } from "./listing.ts";
import {
  DropRequest,
  DroppedRecord,
  GrantRecord,
  PublicListingRecord,
  PublicShareRecord,
  UnlockBody,
} from "./model.ts";
import {
  folderTitle,
  presentCurrentFolder,
  presentSharedFile,
  presentSharedItem,
  publicUrl,
  timestampOrNull,
} from "./present.ts";
import { type ShareDownloads, linkRequestOf } from "./guard.ts";
import type { ShareSender } from "./content-sender.ts";
import type { ShareAccess } from "./share-access.ts";
import type { LinkGuesses } from "./guesses.ts";
import type { ShareStatistics } from "./statistics.ts";
import type { OpenedShare } from "./types.ts";
import type { DropBox } from "./upload-form.ts";

/** What the routes of links work with. */
export interface PublicRoutesOptions {
  readonly shareAccess: ShareAccess;
  readonly guesses: LinkGuesses;
  readonly sender: ShareSender;
  readonly downloads: ShareDownloads;
  readonly dropBox: DropBox;
  readonly statistics: ShareStatistics;
  readonly tree: TreeReader;
  readonly rateGate: RateGate;
  readonly guard: ReturnType<typeof authGuard>;
  readonly hasThumbnail: (file: FileNode) => boolean;
}

const TokenParams = t.Object({ token: t.String() });
const LINK_ERRORS = ["invalid_field", "not_found", "share_expired", "share_used_up", "password_required"] as const;
const GRANT_HEADER = { "X-Share-Grant": "What unlock gave, for a locked share" };

/** /api/public/{token}…, /s/{token}/download */
export function publicRoutes(options: PublicRoutesOptions) {
  const { shareAccess, sender, downloads, dropBox, statistics, tree, guard, hasThumbnail } = options;
  const contextOf = (request: Request) => ({ baseUrl: requestContextOf(request).baseUrl, hasThumbnail });

  const documentedDownload = documented({
    tag: "Public links",
    summary: "The content behind a public link",
    description:
      "Of a shared folder the file that fileId names, without it all of it as a ZIP. Where downloads are limited, one is taken before the first byte; ranges count once per caller, content and hour. A share that hides location gives no ZIP.",
    access: "public",
    query: {
      fileId: { type: "string", description: "A file of the shared folder" },
      inline: { type: "boolean" },
      thumbnail: { type: "string" },
    },
    headers: { Range: "RFC 9110 §14", ...GRANT_HEADER },
    content: { "application/octet-stream": "The content" },
    otherResponses: { 206: "The ranges asked for", 304: "The client has it already" },
    errors: [
      ...LINK_ERRORS,
      "share_permission",
      "invalid_field",
      "invalid_request",
      "invalid_path",
      "precondition_failed",
      "range_not_satisfiable",
      "thumbnail_pending",
      "content_missing",
      "content_damaged",
    ],
  });

  const presentFolder = async (opened: OpenedShare, folder: FolderNode, request: Request) => {
    const count = async (kind: "file" | "folder") => {
      const { accountId } = opened.share;
      return (await tree.list({ accountId, folder, kind, sort: "name", order: "asc", offset: 0, limit: 1 })).total;
    };
    const url = publicUrl(opened, contextOf(request));
    return {
      name: folderTitle(folder),
      type: "folder" as const,
      permissions: "read" as const,
      expiresAt: timestampOrNull(opened.share.expiresAtMs),
      itemCount: folder.itemCount,
      files: await count("file"),
      folders: await count("folder"),
      filesUrl: `${url}/files`,
      downloadUrl: `${url}/download`,
    };
  };

  const presentFile = async (opened: OpenedShare, file: FileNode, request: Request) => {
    const presented = presentSharedFile(opened, file, contextOf(request));
    const expiresAt = timestampOrNull(opened.share.expiresAtMs);
    if (!opened.share.hidesLocation) return { ...presented, permissions: "read" as const, expiresAt };
    const { mediaType, sizeBytes } = await sender.describe(opened, file);
    return { ...presented, mimeType: mediaType, size: sizeBytes, permissions: "read" as const, expiresAt };
  };

  const presentDropBox = (opened: OpenedShare, folder: FolderNode, request: Request) => ({
    name: folderTitle(folder),
    type: "folder" as const,
    permissions: "upload" as const,
    expiresAt: timestampOrNull(opened.share.expiresAtMs),
    label: opened.share.label,
    maxFileSize: dropBox.largestFile(opened),
    uploadUrl: `${publicUrl(opened, contextOf(request))}/upload`,
  });

  return new Elysia({ name: "public-routes" })
    .use(guard)
    .get(
      "/api/public/:token",
      async ({ params, request }) => {
        const opened = shareAccess.open(linkRequestOf(request, params.token, "what"));
        statistics.noteView(opened.share);
        const { node, share } = opened;
        if (node.kind === "file") return ok(await presentFile(opened, node, request));
        if (share.kind === "upload") return ok(presentDropBox(opened, node, request));
        return ok(await presentFolder(opened, node, request));
      },
      {
        access: "public",
        params: TokenParams,
        ...documented({
          tag: "Public links",
          summary: "What a public link opens",
          description: "A file, a folder, or a drop box (permissions upload), of which nothing is told but its name.",
          access: "public",
          headers: GRANT_HEADER,
          data: PublicShareRecord,
          errors: [...LINK_ERRORS, "share_permission", "thumbnail_pending", "content_missing"],
        }),
      },
    )
    .get(
      "/api/public/:token/files",
      async ({ params, request }) => {
        const opened = shareAccess.open(linkRequestOf(request, params.token, "read"));
        const listing = await readSharedListing(shareAccess, tree, opened, readQuery(requestContextOf(request).query));
        return ok({
          files: listing.nodes.map((node) => presentSharedItem(opened, node, contextOf(request))),
          pagination: paginate(listing.page, listing.limit, listing.total),
          currentFolder: presentCurrentFolder(opened, listing.folder),
        });
      },
      {
        access: "public",
        params: TokenParams,
        ...documented({
          tag: "Public links",
          summary: "List a shared folder",
          description: "Paths begin at the shared folder, which is / itself.",
          access: "public",
          query: QUERY_OF_SHARED_LISTING,
          headers: GRANT_HEADER,
          data: PublicListingRecord,
          errors: [
            ...LINK_ERRORS,
            "share_permission",
            "invalid_field",
            "invalid_path",
            "path_too_long",
            "not_a_folder",
          ],
        }),
      },
    )
    .get("/api/public/:token/download", ({ params, request, set }) => downloads.send(params.token, request, set), {
      access: "public",
      params: TokenParams,
      ...documentedDownload,
    })
    .get("/s/:token/download", ({ params, request, set }) => downloads.sendToPage(params.token, request, set), {
      access: "public",
      params: TokenParams,
      ...documentedDownload,
    })
    .post(
      "/api/public/:token/unlock",
      async ({ params, body, request, set }) => {
        const { grant, expiresAtMs } = await unlock(options, { ...params, ...body }, request, set.headers);
        return ok({ grant, expiresAt: toTimestamp(expiresAtMs) });
      },
      {
        ...takesJson("public", UnlockBody),
        params: TokenParams,
        ...documented({
          tag: "Public links",
          summary: "Give the password of a locked link",
          description:
            "The grant is sent as X-Share-Grant. It lasts an hour, and ends when the share changes. Wrong passwords count like wrong sign-ins, per address and share. Above 50 wrong ones an hour, addresses that have not opened the link within 30 days wait between tries.",
          access: "public",
          takesJson: true,
          data: GrantRecord,
          errors: ["not_found", "share_expired", "bad_credentials"],
        }),
      },
    )
    .post(
      "/api/public/:token/upload",
      async ({ params, request, set }) => {
        const dropped = await dropBox.receive(linkRequestOf(request, params.token, "drop"), request);
        set.status = 201;
        return ok(dropped);
      },
      {
        access: "public",
        params: TokenParams,
        parse: "none",
        ...documented({
          tag: "Public links",
          summary: "Send a file into a drop box",
          description:
            "It is the owner's from then on, and counts in their quota. Where its name is taken it is numbered; the sender is told neither that nor anything else of the folder.",
          access: "public",
          status: 201,
          requestBody: DropRequest,
          headers: GRANT_HEADER,
          data: DroppedRecord,
          errors: [
            ...LINK_ERRORS,
            "share_permission",
            "invalid_multipart",
            "invalid_field",
            "invalid_path",
            "path_too_long",
            "checksum_mismatch",
            "file_too_large",
            "quota_exceeded",
            "unsupported_media_type",
            "storage_error",
            "store_missing",
            "disk_full",
          ],
        }),
      },
    );
}

/** What {@link unlock} works with. */
export type UnlockOptions = Pick<PublicRoutesOptions, "shareAccess" | "guesses" | "rateGate">;

/**
 * A grant for the right password, within the limits of wrong ones.
 * @throws AppError not_found | share_expired | bad_credentials | rate_limited
 */
export async function unlock(
  { shareAccess, guesses, rateGate }: UnlockOptions,
  { token, password }: { token: string; password: string },
  request: Request,
  headers: Record<string, string | number>,
): Promise<{ grant: string; expiresAtMs: number }> {
  const locked = shareAccess.locked(token);
  const addressKey = rateLimitKey(requestContextOf(request).clientAddress);
  const check = async () => {
    const grant = await shareAccess.unlock(token, password);
    if (grant === undefined) {
      throw new AppError("bad_credentials", "This is not the password of this link. Check it, and try again.");
    }
    return grant;
  };
  return rateGate.guardPassword(request, headers, `share:${locked.share.publicId}`, () =>
    guesses.guard(locked, addressKey, check),
  );
}
