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
    "As files/upload, in the device's name. Time and place are read from a photo where none are given. Nothing is " +
    "doubled: what an automatic backup sends is answered with the file that has it, and so is any upload that " +
    "would be a renamed copy beside a file of its very name and bytes.",
  status: 201,
  otherResponses: { 200: "Nothing was made: this is the file that is there already" },
  requestBody: DeviceUploadRequest,
  headers: { "Idempotency-Key": "The same key within 24 hours gets the first answer again" },
  data: ref("UploadedFile"),
  errors: [
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
  summary: "Begin sending files in chunks",
  description:
    "Each file is planned by itself: one that can't be gets an error in place of its plan. " +
    "Quota is held for what is planned until it is completed, cancelled or expired. A file with a checksum that the " +
    "device is sending already, by the same localId, name, folder, size and fileId, goes on in this session with " +
    "its uploadId and completedChunks; with another chunkSize it takes the place of the earlier one.",
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
  summary: "Tell how an upload goes, and hear how it really is",
  description: "What the client says of chunks and bytes marks nothing: a chunk counts when the server has it.",
  data: ProgressRecord,
  errors: ["not_found", "upload_state"],
});

export const complete = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Make a file of what was sent",
  description:
    "Called again it gives the same file. Time and place are read from a photo where none are given. Nothing is " +
    "doubled: what an automatic backup sends is answered with the file that has it, and so is any upload that " +
    "would be a renamed copy beside a file of its very name and bytes.",
  data: ref("UploadedFile"),
  errors: [
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
  summary: "How far an upload is",
  description: "Lists the chunks that are on disk and those that are missing.",
  data: ProgressRecord,
  errors: ["not_found"],
});

export const cancel = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Cancel an upload",
  description: "Frees what it holds. One that was cancelled or has expired stays as it is.",
  data: ProgressRecord,
  errors: ["not_found", "upload_state"],
});

export const sendChunk = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Send one chunk",
  description: "Open to a device's token, or to the signature in the address. Durable when answered; repeatable.",
  query: { sig: { type: "string", description: "As given by upload/init" } },
  headers: { "Content-Digest": "sha-256=:<base64>: of the chunk (RFC 9530), verified" },
  requestBody: RawRequest,
  data: ChunkRecord,
  errors: CHUNK_ERRORS,
});

export const sendWhole = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Send a whole planned file at once",
  description: "As its chunks one after the other: what is whole of a broken transfer is kept.",
  query: { sig: { type: "string", description: "As given by upload/init" } },
  headers: { "Content-Digest": "sha-256=:<base64>: of the file (RFC 9530), verified" },
  requestBody: RawRequest,
  data: ChunkRecord,
  errors: CHUNK_ERRORS,
});
