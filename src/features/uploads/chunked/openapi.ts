/** Texts of these routes in the OpenAPI document. */
import { ChunkRecord, DeviceUploadRequest, ProgressRecord, SessionRecord } from "./model.ts";
import { RawRequest } from "../../library/files/model.ts";
import { ref, type RouteDocs } from "../../../http/documented.ts";

const CHUNK_ERRORS = [
  "missing_token",
  "invalid_token",
  "expired_token",
  "revoked_token",
  "role",
  "not_found",
  "invalid_field",
  "chunk_size",
  "checksum_mismatch",
  "upload_state",
  "upload_expired",
  "storage_error",
  "store_missing",
  "disk_full",
] as const;

export const upload = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Upload a file in one request",
  description:
    "Like files/upload, on behalf of the device. If no time and place are given, they are read from the photo. " +
    "Nothing is duplicated: if an automatic backup sends content that exists, the response is the existing file.",
  status: 201,
  otherResponses: { 200: "Nothing was created: this is the existing file" },
  requestBody: DeviceUploadRequest,
  headers: { "Idempotency-Key": "The same key within 24 hours returns the first response again" },
  data: ref("UploadedFile"),
  errors: [
    "locked",
    "invalid_multipart",
    "invalid_field",
    "invalid_path",
    "path_too_long",
    "not_a_folder",
    "email_unconfirmed",
    "checksum_mismatch",
    "name_taken",
    "idempotency_key",
    "deleted_by_you",
    "unsupported_media_type",
    "file_too_large",
    "quota_exceeded",
    "body_too_large",
    "storage_error",
    "store_missing",
    "disk_full",
  ],
});

export const begin = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Start a chunked upload",
  description:
    "Each file is planned separately: a file that cannot be accepted has an error instead of a plan. Quota is " +
    "reserved for planned files until they are completed, canceled or expired. An upload of the same file (checksum, " +
    "localId, name, folder, size, and fileId) continues with its uploadId and completedChunks.",
  data: SessionRecord,
  errors: [
    "invalid_path",
    "path_too_long",
    "chunk_size",
    "not_found",
    "file_too_large",
    "quota_exceeded",
    "deleted_by_you",
    "confirmation_required",
    "store_missing",
    "disk_full",
  ],
});

export const reportProgress = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Report the progress of an upload and get its actual state",
  description: "Reported chunks and bytes change nothing: a chunk counts when the server has it.",
  data: ProgressRecord,
  errors: ["not_found", "upload_state"],
});

export const complete = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Complete an upload",
  description:
    "Creates the file. Repeating it returns the same file. As in POST /api/mobile/upload, time and place are read " +
    "from the photo if none are given, and nothing is duplicated.",
  data: ref("UploadedFile"),
  errors: [
    "locked",
    "not_found",
    "checksum_mismatch",
    "upload_state",
    "upload_expired",
    "version_conflict",
    "deleted_by_you",
    "name_taken",
    "not_a_folder",
    "invalid_path",
    "path_too_long",
    "quota_exceeded",
    "storage_error",
    "store_missing",
    "disk_full",
  ],
});

export const progress = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Get the progress of an upload",
  description: "Lists the chunks that are on disk and those that are missing.",
  data: ProgressRecord,
  errors: ["not_found"],
});

export const cancel = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Cancel an upload",
  description: "Releases its reserved quota. An upload that was canceled or has expired stays as it is.",
  data: ProgressRecord,
  errors: ["not_found", "upload_state"],
});

export const sendChunk = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Upload one chunk",
  description:
    "Authorized by the token of a device, or by the signature in the address. The chunk is durable when the response " +
    "is sent. The request can be repeated.",
  query: { sig: { type: "string", description: "The signature from upload/init" } },
  headers: { "Content-Digest": "sha-256=:<base64>: of the chunk (RFC 9530), verified" },
  requestBody: RawRequest,
  data: ChunkRecord,
  errors: CHUNK_ERRORS,
});

export const sendWhole = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Upload all chunks of a file in one request",
  description: "Like sending its chunks one after another: if the transfer is interrupted, complete chunks are stored.",
  query: { sig: { type: "string", description: "The signature from upload/init" } },
  headers: { "Content-Digest": "sha-256=:<base64>: of the file (RFC 9530), verified" },
  requestBody: RawRequest,
  data: ChunkRecord,
  errors: CHUNK_ERRORS,
});
