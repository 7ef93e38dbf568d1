/** Texts of these routes in the OpenAPI document. */
import {
  DropRequest,
  DroppedRecord,
  GrantRecord,
  PublicListingRecord,
  PublicShareRecord,
  RevokedRecord,
  SharePageRecord,
  SharesRecord,
} from "./model.ts";
import { QUERY_OF_SHARED_LISTING } from "./listing.ts";
import { ref, type RouteDocs } from "../../../http/documented.ts";

const GRANT_HEADER = { "X-Share-Grant": "What unlock gave, for a locked share" };

const LINK_ERRORS = ["invalid_field", "not_found", "share_expired", "share_used_up", "password_required"] as const;

const CREATE_DESCRIPTION =
  "A link that opens without an account, or, with user, a share for one other account. There may be several. The link can be seen again in the lists.";

export const openLink = (): RouteDocs => ({
  tag: "Public links",
  summary: "What a public link opens",
  description: "A file, a folder, or a drop box (permissions upload), of which nothing is told but its name.",
  headers: GRANT_HEADER,
  data: PublicShareRecord,
  errors: [...LINK_ERRORS, "share_permission", "thumbnail_pending", "content_missing"],
});

export const listFolder = (): RouteDocs => ({
  tag: "Public links",
  summary: "List a shared folder",
  description: "Paths begin at the shared folder, which is / itself.",
  query: QUERY_OF_SHARED_LISTING,
  headers: GRANT_HEADER,
  data: PublicListingRecord,
  errors: [...LINK_ERRORS, "share_permission", "invalid_field", "invalid_path", "path_too_long", "not_a_folder"],
});

export const download = (): RouteDocs => ({
  tag: "Public links",
  summary: "The content behind a public link",
  description:
    "Of a shared folder the file that fileId names, without it all of it as a ZIP. Where downloads are limited, one is taken before the first byte; ranges count once per caller, content and hour. A share that hides location gives no ZIP.",
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

export const unlock = (): RouteDocs => ({
  tag: "Public links",
  summary: "Give the password of a locked link",
  description:
    "The grant is sent as X-Share-Grant. It lasts an hour, and ends when the share changes. Wrong passwords count like wrong sign-ins, per address and share. Above 50 wrong ones an hour, addresses that have not opened the link within 30 days wait between tries.",
  data: GrantRecord,
  errors: ["not_found", "share_expired", "bad_credentials"],
});

export const upload = (): RouteDocs => ({
  tag: "Public links",
  summary: "Send a file into a drop box",
  description:
    "It is the owner's from then on, and counts in their quota. Where its name is taken it is numbered; the sender is told neither that nor anything else of the folder.",
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
});

export const listShares = (): RouteDocs => ({
  tag: "Shares",
  summary: "All shares that one has made, newest first",
  description: "Links, drop boxes and shares with accounts, with their statistics.",
  query: {
    page: { type: "integer", minimum: 1, default: 1 },
    limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
  },
  data: SharePageRecord,
  errors: ["invalid_field"],
});

export const getShare = (): RouteDocs => ({
  tag: "Shares",
  summary: "A share, with its link and what was counted of it",
  description: "Only the owner of a share sees it here.",
  data: ref("Share"),
  errors: ["not_found"],
});

export const updateShare = (): RouteDocs => ({
  tag: "Shares",
  summary: "Change a share",
  description:
    "null clears a field. Visitors who entered its password must enter it again. The link of a public file has no settings but its label. Without a confirmed e-mail a share can only be tightened: what lets anybody do more is 403 email_unconfirmed.",
  data: ref("Share"),
  errors: ["invalid_field", "invalid_request", "not_found", "email_unconfirmed"],
});

export const revokeShare = (): RouteDocs => ({
  tag: "Shares",
  summary: "End a share, at once",
  description: "Ending the link of a public file makes the file private. Viewers may do this, too.",
  data: RevokedRecord,
  errors: ["not_found"],
});

export const createShare = (what: string): RouteDocs => ({
  tag: "Shares",
  summary: `Share a ${what}`,
  description: CREATE_DESCRIPTION,
  status: 201,
  data: ref("Share"),
  errors: ["invalid_field", "invalid_request", "not_found", "share_permission", "email_unconfirmed"],
});

export const listSharesOf = (what: string): RouteDocs => ({
  tag: "Shares",
  summary: `The shares of a ${what}`,
  description: "Links, drop boxes and shares with accounts that the caller has made.",
  data: SharesRecord,
  errors: ["not_found", "share_permission"],
});
