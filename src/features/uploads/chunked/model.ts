import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { Timestamp } from "../../../http/fields.ts";
import { UploadRequest } from "../../library/files/model.ts";
import { ON_CONFLICT } from "../../library/files/upload-form.ts";
import { CHUNK_BYTES_DEFAULT, CHUNK_BYTES_MAX, CHUNK_BYTES_MIN, CHUNKS_MAX } from "./chunk-plan.ts";
import { CLIENT_STATUSES } from "./types.ts";

const FORM = UploadRequest.content["multipart/form-data"].schema;
const Text = t.String({ minLength: 1, maxLength: 4096 });
/** A number of bytes. */
export const Bytes = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: "Bytes" });
const Index = Type.Integer({ minimum: 0, maximum: CHUNKS_MAX - 1 });
const Url = t.String({ format: "uri" });

/** One file of upload/init. An invalid value is an error of this file; a wrong type rejects the call. */
const Entry = t.Object({
  localId: t.String({ maxLength: 1024, description: "Chosen by the client, echoed" }),
  name: Text,
  size: Bytes,
  mimeType: t.Optional(t.String()),
  folder: t.Optional(t.String({ default: "/" })),
  checksum: t.Optional(t.String({ description: "sha256:<hex> of the whole file, verified at the end" })),
  priority: t.Optional(t.String()),
  onConflict: t.Optional(t.Union(ON_CONFLICT.map((word) => t.Literal(word)))),
  fileId: t.Optional(t.String({ description: "The content becomes the next version of this file" })),
  baseChecksum: t.Optional(t.String({ description: "Checksum of the content that it replaces" })),
  automatic: t.Optional(t.Boolean({ description: "Sent by an automatic backup" })),
});

/** The form of an upload in one request, for the document; it is read as a stream. */
export const DeviceUploadRequest = {
  required: true,
  content: {
    "multipart/form-data": {
      schema: {
        ...FORM,
        properties: {
          ...FORM.properties,
          location: { type: "string", description: "Latitude and longitude, separated by a comma" },
          automatic: { type: "boolean", default: false, description: "Sent by an automatic backup" },
        },
      },
    },
  },
};

/** POST /api/mobile/upload/init */
export const InitBody = t.Object({
  files: t.Array(Entry, { minItems: 1, maxItems: 1000 }),
  uploadOptions: t.Optional(
    t.Object({
      wifiOnly: t.Optional(t.Boolean()),
      chunkSize: t.Optional(
        Type.Integer({
          description: `Bytes, from ${CHUNK_BYTES_MIN} to ${CHUNK_BYTES_MAX}; ${CHUNK_BYTES_DEFAULT} where none is named`,
        }),
      ),
      maxRetries: t.Optional(Type.Integer({ description: "0 to 20; by default 3" })),
      automatic: t.Optional(t.Boolean({ description: "Files that the user deleted are not uploaded again" })),
    }),
  ),
});

/** POST /api/mobile/upload/progress */
export const ProgressBody = t.Object({
  uploadId: t.String(),
  completedChunks: t.Optional(t.Array(Type.Integer({ minimum: 0 }), { maxItems: CHUNKS_MAX })),
  bytesUploaded: t.Optional(Bytes),
  status: t.Optional(t.Union(CLIENT_STATUSES.map((word) => t.Literal(word)))),
});

/** POST /api/mobile/upload/complete */
export const CompleteBody = t.Object({
  uploadId: t.String(),
  checksum: t.Optional(t.String()),
  metadata: t.Optional(
    t.Object({
      location: t.Optional(t.String({ description: "Latitude and longitude, separated by a comma" })),
      capturedAt: t.Optional(t.String({ description: "ISO 8601 with its offset" })),
    }),
  ),
});

const ItemError = t.Object({ code: t.String(), message: t.String(), details: t.Any() });

const PlannedFile = t.Object({
  localId: t.String(),
  uploadId: t.Optional(t.String()),
  uploadUrl: t.Optional(t.String({ format: "uri", description: "Takes PUT of the whole file" })),
  chunks: t.Optional(
    t.Array(t.Object({ index: Index, start: Bytes, end: Type.Integer({ description: "Inclusive" }), uploadUrl: Url })),
  ),
  totalChunks: t.Optional(Type.Integer({ minimum: 0 })),
  chunkSize: t.Optional(Bytes),
  completedChunks: t.Optional(t.Array(Index, { description: "Exists from an earlier request for the same file" })),
  alreadyStored: t.Optional(t.Boolean({ description: "The account has this content: call complete at once" })),
  error: t.Optional(ItemError),
});

/** An upload session. */
export const SessionRecord = t.Object({
  uploadSession: t.String(),
  files: t.Array(PlannedFile),
  expiresAt: Timestamp,
  uploadOptions: t.Object({
    wifiOnly: t.Boolean(),
    chunkSize: Bytes,
    maxRetries: Type.Integer(),
    automatic: t.Boolean(),
  }),
});

const Indexes = t.Array(Index);

/** The state of an upload on the server. */
export const ProgressRecord = t.Object({
  uploadId: t.String(),
  status: t.String({ enum: ["pending", "uploading", "paused", "completed", "failed", "cancelled", "expired"] }),
  completedChunks: Indexes,
  missingChunks: Indexes,
  bytesUploaded: Bytes,
  totalBytes: Bytes,
  totalChunks: Type.Integer({ minimum: 0 }),
  percentage: t.Number({ minimum: 0, maximum: 100 }),
  expiresAt: Timestamp,
  fileId: t.Optional(t.String({ description: "The file that it became" })),
});

/** The response to a chunk. */
export const ChunkRecord = t.Object({
  uploadId: t.String(),
  index: t.Union([Index, t.Null()], { description: "null for a whole file" }),
  completedChunks: Indexes,
  bytesUploaded: Bytes,
  totalChunks: Type.Integer({ minimum: 0 }),
});
