/** Texts of these routes in the OpenAPI document. */
import { ContentCheckRecord, CopiedRecord, ListingRecord, MovedRecord, RawRequest, UploadRequest } from "./model.ts";
import { ref, type RouteDocs } from "../../../http/documented.ts";

const AT = {
  type: "string",
  format: "date-time",
  description:
    "The tree as it was at this moment, at most 30 days ago (configurable): names, places and contents; labels are those " +
    "of today. With folder, type, sort, order, page and limit only. What was deleted for good is not shown.",
};

const QUERY_OF_LISTING = {
  folder: { type: "string", default: "/", description: "Folder path; with share one below it" },
  share: {
    type: "string",
    description: "Id of a share that was made for you: lists what it opens. Of a single file that file, unfiltered",
  },
  page: { type: "integer", minimum: 1, default: 1 },
  limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
  sort: { type: "string", enum: ["name", "size", "createdAt", "modifiedAt"], default: "name" },
  order: { type: "string", enum: ["asc", "desc"], default: "asc" },
  search: { type: "string", description: "Part of a file or folder name, case-insensitive" },
  type: { type: "string", enum: ["file", "folder"] },
  tags: { type: "string", description: "Comma-separated; all of them, or any with tagMode=any" },
  tagMode: { type: "string", enum: ["all", "any"], default: "all" },
  mimeType: { type: "string", description: "A media type, or a family such as image/*" },
  recursive: { type: "boolean", description: "Everything below the folder; the default with search or tags" },
  at: AT,
};

/** What every download of a file takes and answers. */
export const DOWNLOAD = {
  query: {
    inline: { type: "boolean", description: "Show in place: pictures, sound, film, PDF and plain text only" },
    thumbnail: {
      type: "string",
      enum: ["true", "false", "1", "0", "small", "medium", "large", ""],
      description: "WebP of at most 128, 512 (true) or 1600 pixels; the content itself where none can be made",
    },
  },
  headers: { Range: "RFC 9110 §14, single or multiple" },
  content: { "application/octet-stream": "The content" },
  otherResponses: { 206: "The ranges asked for", 304: "The client has it already" },
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

const SHARED_PATHS = "In what others share with you, paths begin at the share: a shared folder is /.";

export const move = (): RouteDocs => ({
  tag: "Files",
  summary: "Move files and folders",
  description:
    "Each by itself; the call fails where every item failed. Inside one account: between accounts copy, then delete.",
  data: MovedRecord,
  errors: [
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
    "Content is shared, no byte is written. A copy is never public. Of what others share with you it makes " +
    "files of your own, which count for you.",
  status: 201,
  headers: { "Idempotency-Key": "The same key within 24 hours gets the first answer again" },
  data: CopiedRecord,
  errors: [
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
    "Fields may come in any order. The answer is sent when content and record are on disk. With share it goes " +
    "below a folder that somebody shares with you for writing, and counts for them.",
  status: 201,
  requestBody: UploadRequest,
  headers: { "Idempotency-Key": "The same key within 24 hours gets the first answer again" },
  data: ref("UploadedFile"),
  errors: [
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
  summary: "Store a new version of a file's content",
  description: "The body is the content. The previous content becomes an earlier version.",
  requestBody: RawRequest,
  headers: {
    "If-Match": "Only if the content has this ETag",
    "Idempotency-Key": "The same key within 24 hours gets the first answer again",
  },
  data: ref("UploadedFile"),
  errors: [
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
  summary: "The content of a file, or its thumbnail",
  description: "Supports ranges and conditional requests (RFC 9110).",
  ...DOWNLOAD,
});

export const checkContent = (): RouteDocs => ({
  tag: "Files",
  summary: "Read the content again and compare it with its digest",
  description: "Reads the whole file from the disk.",
  data: ContentCheckRecord,
  errors: ["not_found", "invalid_field", "storage_error"],
});

export const list = (): RouteDocs => ({
  tag: "Files",
  summary: "List a folder, or search below it",
  query: QUERY_OF_LISTING,
  data: ListingRecord,
  description: `${SHARED_PATHS} Give share to list them.`,
  errors: ["invalid_field", "invalid_path", "not_found"],
});

export const get = (): RouteDocs => ({
  tag: "Files",
  summary: "All about a file",
  description: `${SHARED_PATHS} Whether it is public is told to its owner alone.`,
  query: { at: AT },
  data: ref("FileInfo"),
  errors: ["not_found", "invalid_field"],
});

export const update = (): RouteDocs => ({
  tag: "Files",
  summary: "Rename, move, describe, label or publish a file",
  description: `${SHARED_PATHS} What was itself shared keeps its name and place, and only its owner publishes it.`,
  headers: { "If-Match": "Only if the content has this ETag" },
  data: ref("UpdatedFile"),
  errors: [
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
  summary: "Delete a file for good",
  description: "It is gone at once from listings, links, search, sync and usage.",
  data: ref("DeletedNode"),
  errors: ["not_found", "invalid_field", "share_permission"],
});
