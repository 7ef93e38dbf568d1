/** Texts of these routes in the OpenAPI document. */
import {
  CreatedShareRecord,
  DropRequest,
  DroppedRecord,
  GrantRecord,
  PublicListingRecord,
  PublicShareRecord,
  RevokedRecord,
  SharePageRecord,
  SharesRecord,
} from "./model.ts";
import { SHARED_LISTING_QUERY } from "./listing.ts";
import { SHARE_SORTS } from "./types.ts";
import { ref, type RouteDocs } from "../../../http/documented.ts";

const GRANT_HEADER = { "X-Share-Grant": "The grant from unlock, for a locked share" };

const LINK_ERRORS = ["invalid_field", "not_found", "share_expired", "share_used_up", "password_required"] as const;

const CREATE_DESCRIPTION =
  "A link that opens without an account. With `user`, a share for one other account. With `users` and " +
  "`groups`, several shares at once, all or none: at most 50; those that there are already get the requested " +
  "permissions. An item can have several shares. The link can be seen again in the lists.";

export const openLink = (): RouteDocs => ({
  tag: "Public links",
  summary: "Open a public link",
  description:
    "Returns a file, a folder, an album, or a drop box (`permissions: upload`). A drop box shows nothing but its name.",
  headers: GRANT_HEADER,
  data: PublicShareRecord,
  errors: [...LINK_ERRORS, "share_permission", "thumbnail_pending", "content_missing"],
});

export const listFolder = (): RouteDocs => ({
  tag: "Public links",
  summary: "List a shared folder or album",
  description: "Paths are relative to the shared folder, which is `/`. An album has no folders.",
  query: SHARED_LISTING_QUERY,
  headers: GRANT_HEADER,
  data: PublicListingRecord,
  errors: [...LINK_ERRORS, "share_permission", "invalid_field", "invalid_path", "path_too_long", "not_a_folder"],
});

export const download = (): RouteDocs => ({
  tag: "Public links",
  summary: "Download the files of a public link",
  description:
    "For a shared folder or album, `fileId` names the file; without it, everything is sent as a ZIP file. If downloads " +
    "are limited, one is counted before the first byte is sent. Ranges count once per caller, file content and hour. " +
    "A share that hides location sends no ZIP file.",
  query: {
    fileId: { type: "string", description: "A file of the shared folder or album" },
    inline: { type: "boolean" },
    thumbnail: { type: "string" },
  },
  headers: { Range: "RFC 9110 §14", ...GRANT_HEADER },
  content: { "application/octet-stream": "The content" },
  otherResponses: { 206: "The requested ranges", 304: "The client has the current content" },
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

export const unlock = (): RouteDocs => ({
  tag: "Public links",
  summary: "Unlock a link with its password",
  description:
    "Send the grant as X-Share-Grant. It is valid for one hour, and ends when the share changes. Wrong passwords " +
    "count like failed sign-ins, per address and share. After more than 50 an hour, addresses that have not opened " +
    "the link must wait between attempts.",
  data: GrantRecord,
  errors: ["not_found", "share_expired", "bad_credentials"],
});

export const upload = (): RouteDocs => ({
  tag: "Public links",
  summary: "Upload a file to a drop box",
  description:
    "The file belongs to the owner of the drop box and counts toward their quota. If its name is taken, it is " +
    "numbered. The sender learns neither that nor anything else about the folder.",
  status: 201,
  requestBody: DropRequest,
  headers: GRANT_HEADER,
  data: DroppedRecord,
  errors: [
    "locked",
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
});

export const listShares = (): RouteDocs => ({
  tag: "Shares",
  summary: "List your shares",
  description: "Links, drop boxes and shares with accounts, with their statistics. By default newest first.",
  query: {
    page: { type: "integer", minimum: 1, default: 1 },
    limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
    sort: {
      type: "string",
      enum: [...SHARE_SORTS],
      default: "createdAt",
      description:
        "natural: by the name of the file or folder, folders first; expiresAt: shares without an end come last",
    },
    order: { type: "string", enum: ["asc", "desc"], description: "By default desc for createdAt, else asc" },
  },
  data: SharePageRecord,
  errors: ["invalid_field"],
});

export const getShare = (): RouteDocs => ({
  tag: "Shares",
  summary: "Get a share, with its link and statistics",
  description: "Only the owner of a share can see it here.",
  data: ref("Share"),
  errors: ["not_found"],
});

export const updateShare = (): RouteDocs => ({
  tag: "Shares",
  summary: "Change a share",
  description:
    "null clears a field. Visitors who entered its password must enter it again. The link of a public file has no " +
    "settings but its label. Without a confirmed email, a share can only be restricted further: other changes return " +
    "403 email_unconfirmed.",
  data: ref("Share"),
  errors: ["invalid_field", "invalid_request", "not_found", "email_unconfirmed"],
});

export const revokeShare = (): RouteDocs => ({
  tag: "Shares",
  summary: "End a share",
  description:
    "Takes effect at once. If the link of a public file is ended, the file becomes private. Viewers may do this too.",
  data: RevokedRecord,
  errors: ["not_found"],
});

export const createShare = (what: string): RouteDocs => ({
  tag: "Shares",
  summary: `Share ${withArticle(what)}`,
  description: CREATE_DESCRIPTION,
  status: 201,
  data: CreatedShareRecord,
  errors: ["invalid_field", "invalid_request", "not_found", "share_permission", "email_unconfirmed"],
});

export const listSharesOf = (what: string): RouteDocs => ({
  tag: "Shares",
  summary: `List the shares of ${withArticle(what)}`,
  description: "Links, drop boxes and shares with accounts that you created.",
  data: SharesRecord,
  errors: ["not_found", "share_permission"],
});

function withArticle(what: string): string {
  return what === "album" ? "an album" : `a ${what}`;
}
