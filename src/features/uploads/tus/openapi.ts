/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { FirstBytes, GuestTusRecord, OffsetBytes, TusListRecord, TusRecord } from "./model.ts";

const GRANT = { "X-Share-Grant": "The grant from unlock, for a locked share" };

/** Errors for the bytes of an upload, and for the file that it becomes. */
const BYTES_ERRORS = [
  "invalid_field",
  "invalid_path",
  "path_too_long",
  "not_found",
  "not_a_folder",
  "share_permission",
  "precondition_failed",
  "unsupported_media_type",
  "upload_offset",
  "upload_state",
  "upload_expired",
  "final_upload",
  "chunk_checksum",
  "checksum_mismatch",
  "name_taken",
  "file_too_large",
  "quota_exceeded",
  "body_too_large",
  "storage_error",
  "store_missing",
  "disk_full",
] as const;

const ERRORS = [...BYTES_ERRORS, "share_expired", "share_used_up", "password_required"] as const;

/** Headers of requests, for the document. */
const TUS_HEADERS = { "Tus-Resumable": "1.0.0" };

/** Headers of the request that begins an upload. */
const CREATION_HEADERS = {
  ...TUS_HEADERS,
  "Upload-Length": "Bytes of the file",
  "Upload-Defer-Length": "1 if the length follows later, in a PATCH with Upload-Length",
  "Upload-Metadata":
    "filename, filetype, folder, relativePath, onConflict, checksum, tags, metadata, description, lastModified, capturedAt, share; each with its value in base64",
  "Upload-Concat": "partial, or final and the addresses of the parts",
  "Upload-Checksum": "If the request has bytes: sha1, sha256 or md5, and their digest in base64",
};

/** Headers of a request with bytes. */
const BYTES_HEADERS = {
  ...TUS_HEADERS,
  "Upload-Offset": "Offset of these bytes",
  "Upload-Length": "The length, if it was deferred",
  "Upload-Checksum": "sha1, sha256 or md5, and the digest of these bytes in base64",
};

export const createInDropBox = (): RouteDocs => ({
  tag: "Public links",
  summary: "Start a resumable upload to a drop box",
  description:
    "Like /api/tus, for anyone who has the link. Only the metadata filename, filetype, checksum and sender are used. " +
    "The upload can be continued only by clients that know its address. The owner's quota is checked as the bytes " +
    "arrive.",
  status: 201,
  headers: { ...CREATION_HEADERS, ...GRANT },
  requestBody: FirstBytes,
  data: GuestTusRecord,
  errors: ERRORS,
});

export const progressInDropBox = (): RouteDocs => ({
  tag: "Public links",
  summary: "Get the offset of a resumable upload to a drop box",
  description: "HEAD returns it in headers, as defined by tus.",
  headers: { ...TUS_HEADERS, ...GRANT },
  data: GuestTusRecord,
  errors: ERRORS,
});

export const appendInDropBox = (): RouteDocs => ({
  tag: "Public links",
  summary: "Append bytes to a resumable upload to a drop box",
  description: "The bytes are durable when the response is sent. The last bytes create the file.",
  status: 204,
  headers: { ...BYTES_HEADERS, ...GRANT },
  requestBody: OffsetBytes,
  errors: ERRORS,
});

export const overrideInDropBox = (): RouteDocs => ({
  tag: "Public links",
  summary: "Send PATCH, HEAD or DELETE of a resumable upload to a drop box as POST",
  description: "For clients that cannot send these methods. The header X-HTTP-Method-Override names the method.",
  status: 204,
  otherResponses: { 200: "For HEAD" },
  headers: { ...BYTES_HEADERS, ...GRANT, "X-HTTP-Method-Override": "PATCH, HEAD or DELETE" },
  requestBody: OffsetBytes,
  errors: [...ERRORS, "method_not_allowed"],
});

export const endInDropBox = (): RouteDocs => ({
  tag: "Public links",
  summary: "Cancel a resumable upload to a drop box",
  description: "Its bytes are removed.",
  status: 204,
  headers: { ...TUS_HEADERS, ...GRANT },
  errors: ERRORS,
});

export const list = (): RouteDocs => ({
  tag: "Files",
  summary: "List resumable uploads in progress",
  description: "Newest first, at most 1,000. The offset is that of the last durable step.",
  data: TusListRecord,
});

export const create = (): RouteDocs => ({
  tag: "Files",
  summary: "Start a resumable upload",
  description:
    "tus 1.0.0 with creation, creation-with-upload, creation-defer-length, expiration, checksum, termination and " +
    "concatenation. Space is reserved for its length until it is completed or canceled, or no byte has arrived for " +
    "24 hours. Location is its address. Larder-File-Id names the file after it is complete.",
  status: 201,
  headers: {
    ...CREATION_HEADERS,
    "Idempotency-Key": "The same key within 24 hours returns the same upload again",
  },
  requestBody: FirstBytes,
  data: TusRecord,
  errors: [...BYTES_ERRORS, "idempotency_key"],
});

export const progress = (): RouteDocs => ({
  tag: "Files",
  summary: "Get the offset of a resumable upload",
  description:
    "HEAD returns it in headers, as defined by tus. Upload-Offset counts durable bytes. If an upload has all its " +
    "bytes but could not become a file, it becomes one now.",
  headers: TUS_HEADERS,
  data: TusRecord,
  errors: BYTES_ERRORS,
});

export const append = (): RouteDocs => ({
  tag: "Files",
  summary: "Append bytes to a resumable upload",
  description:
    "The bytes are durable when the response is sent. If the request is interrupted, the received bytes are stored. " +
    "A new request takes over from an earlier one. The last bytes create the file.",
  status: 204,
  headers: BYTES_HEADERS,
  requestBody: OffsetBytes,
  errors: BYTES_ERRORS,
});

export const override = (): RouteDocs => ({
  tag: "Files",
  summary: "Send PATCH, HEAD or DELETE of a resumable upload as POST",
  description: "For clients that cannot send these methods. The header X-HTTP-Method-Override names the method.",
  status: 204,
  otherResponses: { 200: "For HEAD" },
  headers: { ...BYTES_HEADERS, "X-HTTP-Method-Override": "PATCH, HEAD or DELETE" },
  requestBody: OffsetBytes,
  errors: [...BYTES_ERRORS, "method_not_allowed"],
});

export const end = (): RouteDocs => ({
  tag: "Files",
  summary: "Cancel a resumable upload",
  description: "Its bytes are removed and its reserved quota is released. The file of a completed upload stays.",
  status: 204,
  headers: TUS_HEADERS,
  errors: ["not_found", "precondition_failed", "upload_expired"],
});
