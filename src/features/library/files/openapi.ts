/** Texts of these routes in the OpenAPI document. */
import { ContentCheckRecord, CopiedRecord, ListingRecord, MovedRecord, RawRequest, UploadRequest } from "./model.ts";
import { LISTING_SORTS } from "./listing.ts";
import { ref, type RouteDocs } from "../../../http/documented.ts";

const AT = {
  type: "string",
  format: "date-time",
  description:
    "The tree as it was at this time, at most 30 days ago (configurable): names, locations and file content. Tags " +
    "and descriptions are the current ones. Can be combined only with folder, type, sort (except fileModifiedAt), order, page and limit. " +
    "Permanently deleted files are not included.",
};

const SORT = {
  type: "string",
  enum: [...LISTING_SORTS],
  default: "name",
  description:
    "name: by code points, ignoring case; natural: also ignoring accents, and numbers by value (note 2 before note 10); " +
    "fileModifiedAt: files by their own date, folders by their creation; size: up to 5,000 folders by the files below them. Folders come first",
};

const QUERY_OF_LISTING = {
  folder: { type: "string", default: "/", description: "Folder path; with share, a path below it" },
  share: {
    type: "string",
    description: "Id of a share with you: lists the shared folder, or the single shared file",
  },
  page: { type: "integer", minimum: 1, default: 1 },
  limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
  around: { type: "string", description: "Id of an item: the page that has it, instead of `page`" },
  sort: SORT,
  order: { type: "string", enum: ["asc", "desc"], default: "asc" },
  search: { type: "string", description: "Part of a file or folder name, case-insensitive" },
  type: { type: "string", enum: ["file", "folder"] },
  tags: { type: "string", description: "Comma-separated; all of them, or any with tagMode=any" },
  tagMode: { type: "string", enum: ["all", "any"], default: "all" },
  mimeType: { type: "string", description: "A media type, or a family such as image/*" },
  recursive: { type: "boolean", description: "Include everything below the folder; the default with search or tags" },
  at: AT,
};

/** Parameters and responses of every download of a file. */
export const DOWNLOAD = {
  query: {
    inline: { type: "boolean", description: "Show in the browser: photos, audio, videos, PDF and plain text only" },
    preview: { type: "boolean", description: "As inline, and not counted as a download" },
    thumbnail: {
      type: "string",
      enum: ["true", "false", "1", "0", "small", "medium", "large", "text", ""],
      description:
        "WebP of at most 128, 512 (true) or 1600 pixels; the file itself if no thumbnail can be created. " +
        "text: the first 2,048 bytes of any file, as they are",
    },
    fallback: { type: "string", enum: ["none"], description: "404 if no thumbnail can be created" },
  },
  headers: { Range: "RFC 9110 §14, one or more ranges" },
  content: { "application/octet-stream": "The content" },
  otherResponses: { 206: "The requested ranges", 304: "The client has the current content" },
  errors: [
    "not_found",
    "invalid_field",
    "precondition_failed",
    "range_not_satisfiable",
    "content_missing",
    "content_damaged",
    "thumbnail_pending",
  ],
} satisfies Partial<RouteDocs>;

const SHARED_PATHS = "In a share with you, paths are relative to the shared folder.";

export const move = (): RouteDocs => ({
  tag: "Files",
  summary: "Move files and folders",
  description:
    "Each item is processed separately. The request fails only if every item failed. Items stay in their account: " +
    "to move to another account, copy, then delete.",
  data: MovedRecord,
  errors: [
    "locked",
    "invalid_path",
    "path_too_long",
    "invalid_request",
    "not_a_folder",
    "not_found",
    "name_taken",
    "quota_exceeded",
    "share_permission",
  ],
});

export const copy = (): RouteDocs => ({
  tag: "Files",
  summary: "Copy files and folders",
  description:
    "No bytes are copied: both files refer to the same blob. A copy is never public. Copies of what others share " +
    "with you belong to you and count toward your quota.",
  status: 201,
  headers: { "Idempotency-Key": "The same key within 24 hours returns the first response again" },
  data: CopiedRecord,
  errors: [
    "locked",
    "invalid_path",
    "path_too_long",
    "not_a_folder",
    "not_found",
    "name_taken",
    "quota_exceeded",
    "disk_full",
    "overloaded",
    "idempotency_key",
    "share_permission",
  ],
});

export const upload = (): RouteDocs => ({
  tag: "Files",
  summary: "Upload a file",
  description:
    "Fields can come in any order. The response is sent after the file is durable on disk. With `share`, the file " +
    "is stored below a folder that someone shares with you for writing, and counts toward their quota.",
  status: 201,
  requestBody: UploadRequest,
  headers: { "Idempotency-Key": "The same key within 24 hours returns the first response again" },
  data: ref("UploadedFile"),
  errors: [
    "locked",
    "invalid_multipart",
    "invalid_field",
    "invalid_path",
    "path_too_long",
    "not_a_folder",
    "not_found",
    "share_permission",
    "email_unconfirmed",
    "checksum_mismatch",
    "name_taken",
    "idempotency_key",
    "file_too_large",
    "quota_exceeded",
    "unsupported_media_type",
    "storage_error",
    "store_missing",
    "disk_full",
  ],
});

export const replaceContent = (): RouteDocs => ({
  tag: "Files",
  summary: "Upload a new version of a file",
  description: "The request body is the file content. The previous content becomes an earlier version.",
  requestBody: RawRequest,
  headers: {
    "If-Match": "Only if the current content has this ETag",
    "Idempotency-Key": "The same key within 24 hours returns the first response again",
  },
  data: ref("UploadedFile"),
  errors: [
    "locked",
    "not_found",
    "invalid_field",
    "share_permission",
    "precondition_failed",
    "idempotency_key",
    "file_too_large",
    "quota_exceeded",
    "storage_error",
    "store_missing",
    "disk_full",
  ],
});

export const download = (): RouteDocs => ({
  tag: "Files",
  summary: "Download a file, or its thumbnail",
  description: "Supports ranges and conditional requests (RFC 9110).",
  ...DOWNLOAD,
});

export const motion = (): RouteDocs => ({
  tag: "Files",
  summary: "Download the video of a Live Photo",
  description: "Sends the file that belongs to the photo, or the video inside the photo. Supports ranges.",
  ...DOWNLOAD,
  query: { inline: DOWNLOAD.query.inline, preview: DOWNLOAD.query.preview },
});

export const checkContent = (): RouteDocs => ({
  tag: "Files",
  summary: "Verify the content of a file",
  description: "Reads the whole file from disk and compares it with its digest.",
  data: ContentCheckRecord,
  errors: ["not_found", "invalid_field", "storage_error"],
});

export const list = (): RouteDocs => ({
  tag: "Files",
  summary: "List a folder, or search below it",
  query: QUERY_OF_LISTING,
  data: ListingRecord,
  description: `${SHARED_PATHS} With \`share\`, lists what was shared with you.`,
  errors: ["invalid_field", "invalid_path", "not_found"],
});

export const get = (): RouteDocs => ({
  tag: "Files",
  summary: "Get a file",
  description: `${SHARED_PATHS} Only the owner sees whether the file is public.`,
  query: { at: AT },
  data: ref("FileInfo"),
  errors: ["not_found", "invalid_field"],
});

export const update = (): RouteDocs => ({
  tag: "Files",
  summary: "Change a file",
  description:
    `Renames, moves, describes, tags or publishes a file. ${SHARED_PATHS} An item that was itself shared keeps ` +
    "its name and location. Only its owner can publish it.",
  headers: { "If-Match": "Only if the current content has this ETag" },
  data: ref("UpdatedFile"),
  errors: [
    "locked",
    "invalid_path",
    "path_too_long",
    "not_a_folder",
    "not_found",
    "name_taken",
    "quota_exceeded",
    "precondition_failed",
    "share_permission",
    "email_unconfirmed",
  ],
});

export const remove = (): RouteDocs => ({
  tag: "Files",
  summary: "Delete a file permanently",
  description: "The file is removed from listings, links, search, sync and usage at once.",
  data: ref("DeletedNode"),
  errors: ["locked", "not_found", "invalid_field", "share_permission"],
});
