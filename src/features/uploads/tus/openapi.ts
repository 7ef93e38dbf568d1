/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { FirstBytes, GuestTusRecord, OffsetBytes, TusListRecord, TusRecord } from "./model.ts";

const GRANT = { "X-Share-Grant": "What unlock gave, for a locked share" };

/** What may be refused of the bytes of an upload, and of the file that it becomes. */
export const BYTES_ERRORS = [
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
export const TUS_HEADERS = { "Tus-Resumable": "1.0.0" };

/** Headers of the request that begins an upload. */
export const CREATION_HEADERS = {
  ...TUS_HEADERS,
  "Upload-Length": "Bytes of the file",
  "Upload-Defer-Length": "1 where the length is told later, by a PATCH with Upload-Length",
  "Upload-Metadata":
    "filename, filetype, folder, relativePath, onConflict, checksum, tags, metadata, description, lastModified, capturedAt, share; each with its value in base64",
  "Upload-Concat": "partial, or final; and the addresses of the parts",
  "Upload-Checksum": "Of the first bytes, where they come along: sha1, sha256 or md5, and the digest in base64",
};

/** Headers of a request with bytes. */
export const BYTES_HEADERS = {
  ...TUS_HEADERS,
  "Upload-Offset": "Where these bytes belong",
  "Upload-Length": "What a deferred length turns out to be",
  "Upload-Checksum": "sha1, sha256 or md5, and the digest of these bytes in base64",
};

export const createInDropBox = (): RouteDocs => ({
  tag: "Public links",
  summary: "Begin a resumable upload into a drop box",
  description:
    "As /api/tus, for whoever has the link. Of the metadata filename, filetype, checksum and sender count. Only who " +
    "knows its address goes on with it. The owner's quota is asked for as the bytes come.",
  status: 201,
  headers: { ...CREATION_HEADERS, ...GRANT },
  requestBody: FirstBytes,
  data: GuestTusRecord,
  errors: ERRORS,
});

export const progressInDropBox = (): RouteDocs => ({
  tag: "Public links",
  summary: "How far a resumable upload into a drop box is",
  description: "HEAD tells it in headers, as tus has it.",
  headers: { ...TUS_HEADERS, ...GRANT },
  data: GuestTusRecord,
  errors: ERRORS,
});

export const appendInDropBox = (): RouteDocs => ({
  tag: "Public links",
  summary: "Send bytes of a resumable upload into a drop box",
  description: "Durable when answered. The last bytes make the file.",
  status: 204,
  headers: { ...BYTES_HEADERS, ...GRANT },
  requestBody: OffsetBytes,
  errors: ERRORS,
});

export const overrideInDropBox = (): RouteDocs => ({
  tag: "Public links",
  summary: "PATCH, HEAD or DELETE of a resumable upload into a drop box, for clients that can't send these",
  description: "The method is named by the header X-HTTP-Method-Override.",
  status: 204,
  otherResponses: { 200: "In place of HEAD" },
  headers: { ...BYTES_HEADERS, ...GRANT, "X-HTTP-Method-Override": "PATCH, HEAD or DELETE" },
  requestBody: OffsetBytes,
  errors: [...ERRORS, "method_not_allowed"],
});

export const endInDropBox = (): RouteDocs => ({
  tag: "Public links",
  summary: "End a resumable upload into a drop box",
  description: "Its bytes are removed.",
  status: 204,
  headers: { ...TUS_HEADERS, ...GRANT },
  errors: ERRORS,
});

export const list = (): RouteDocs => ({
  tag: "Files",
  summary: "Resumable uploads that are under way",
  description: "The newest first, a thousand at most. The offset is that of the last step that was made durable.",
  data: TusListRecord,
});

export const create = (): RouteDocs => ({
  tag: "Files",
  summary: "Begin a resumable upload",
  description:
    "tus 1.0.0, with creation, creation-with-upload, creation-defer-length, expiration, checksum, termination and " +
    "concatenation. Quota and room are held for its length until it is complete, ended, or 24 hours have passed " +
    "without a byte. Location is its address; Larder-File-Id names the file once it is complete.",
  status: 201,
  headers: {
    ...CREATION_HEADERS,
    "Idempotency-Key": "The same key within 24 hours gets the same upload again",
  },
  requestBody: FirstBytes,
  data: TusRecord,
  errors: [...BYTES_ERRORS, "idempotency_key"],
});

export const progress = (): RouteDocs => ({
  tag: "Files",
  summary: "How far a resumable upload is",
  description:
    "HEAD tells it in headers, as tus has it. Upload-Offset is what is durable. An upload that has all its bytes, " +
    "but was kept from becoming a file, becomes one now.",
  headers: TUS_HEADERS,
  data: TusRecord,
  errors: BYTES_ERRORS,
});

export const append = (): RouteDocs => ({
  tag: "Files",
  summary: "Send bytes of a resumable upload",
  description:
    "Durable on return. The received bytes of a request that broke off are stored. A new request takes over from an " +
    "earlier one. The last bytes make the file.",
  status: 204,
  headers: BYTES_HEADERS,
  requestBody: OffsetBytes,
  errors: BYTES_ERRORS,
});

export const override = (): RouteDocs => ({
  tag: "Files",
  summary: "PATCH, HEAD or DELETE of a resumable upload, for clients that can't send these",
  description: "The method is named by the header X-HTTP-Method-Override.",
  status: 204,
  otherResponses: { 200: "In place of HEAD" },
  headers: { ...BYTES_HEADERS, "X-HTTP-Method-Override": "PATCH, HEAD or DELETE" },
  requestBody: OffsetBytes,
  errors: [...BYTES_ERRORS, "method_not_allowed"],
});

export const end = (): RouteDocs => ({
  tag: "Files",
  summary: "End a resumable upload",
  description: "Its bytes go, and what was held for it is free. The file of one that is complete stays.",
  status: 204,
  headers: TUS_HEADERS,
  errors: ["not_found", "precondition_failed", "upload_expired"],
});
