import { type TProperties, Type } from "@sinclair/typebox";
import { t } from "elysia";
import { ref } from "../../../http/documented.ts";
import { Checksum, FolderPath, Timestamp, Motion } from "../../../http/fields.ts";
import { MediaRecord } from "../../media/metadata/present.ts";

const Size = Type.Integer({ minimum: 0, description: "Bytes" });
const Url = t.String({ format: "uri" });
const Metadata = t.Record(t.String(), t.String());
const TextOrNull = t.Union([t.String(), t.Null()]);
const Version = Type.Integer({ minimum: 1 });

const FILE_BASICS = {
  id: t.String(),
  name: t.String(),
  mimeType: t.String(),
  size: Size,
  folder: FolderPath,
  url: Url,
  thumbnailUrl: Url,
  hasThumbnail: t.Boolean(),
  isPublic: t.Boolean(),
  tags: t.Array(t.String()),
  metadata: Metadata,
  checksum: Checksum,
  version: Version,
};

/** Additional fields of records requested with `at`. */
const AT_FIELDS = {
  contentAvailable: t.Optional(
    t.Boolean({
      description:
        "With at: whether the content of that time is retained. If not, size, checksum, version and mimeType are " +
        "those of the nearest retained one",
    }),
  ),
  isDeleted: t.Optional(
    t.Boolean({ description: "With at: the item is now in the trash, or was deleted by a device" }),
  ),
};

/** How the caller shares a file or folder. */
export const ShareMarkRecord = t.Object({
  links: Type.Integer({ minimum: 0 }),
  people: Type.Integer({ minimum: 0, description: "Shares with accounts and groups" }),
  dropBoxes: Type.Integer({ minimum: 0 }),
  expiresAt: { ...TextOrNull, description: "When the first of them ends" },
});

/** How the caller shares it. */
const Shared = t.Optional(
  t.Union([ShareMarkRecord, t.Null()], {
    description:
      "Your live shares of it; null if you do not share it, or if it belongs to somebody else. Only in lists",
  }),
);

/** Whether the caller marked it. */
const IsFavorite = t.Optional(
  t.Boolean({ description: "Whether it is your favorite; not in records of past states and of synchronization" }),
);

/** A record of a file: the common fields and these. */
function withBasics(properties: TProperties) {
  return { allOf: [ref("FileBasics"), t.Object(properties)] };
}

/** Records of this feature, by the name under which the OpenAPI document refers to them. */
export const FILE_SCHEMAS = {
  FileBasics: t.Object(FILE_BASICS),
  UploadedFile: withBasics({
    originalName: t.String(),
    uploadedAt: Timestamp,
    fileModifiedAt: TextOrNull,
    capturedAt: TextOrNull,
  }),
  FileItem: withBasics({
    type: t.Literal("file"),
    createdAt: Timestamp,
    modifiedAt: Timestamp,
    isFavorite: IsFavorite,
    shared: Shared,
    fileModifiedAt: TextOrNull,
    ...AT_FIELDS,
  }),
  FolderItem: t.Object({
    id: t.String(),
    name: t.String(),
    type: t.Literal("folder"),
    folder: FolderPath,
    path: FolderPath,
    itemCount: Type.Integer({ minimum: 0 }),
    size: t.Optional(
      t.Union([Type.Integer({ minimum: 0 }), t.Null()], {
        description: "Bytes of all files below it. Absent where it is not counted, null until it is",
      }),
    ),
    createdAt: Timestamp,
    modifiedAt: Timestamp,
    description: t.String(),
    isFavorite: IsFavorite,
    shared: Shared,
    isDeleted: AT_FIELDS.isDeleted,
  }),
  FileInfo: withBasics({
    ...AT_FIELDS,
    originalName: t.String(),
    downloadUrl: Url,
    createdAt: Timestamp,
    modifiedAt: Timestamp,
    uploadedAt: Timestamp,
    fileModifiedAt: TextOrNull,
    capturedAt: TextOrNull,
    lastAccessedAt: Timestamp,
    downloadCount: Type.Integer({ minimum: 0 }),
    shareLink: TextOrNull,
    isFavorite: IsFavorite,
    owner: t.Object({ id: t.String(), name: t.String(), email: t.String() }),
    media: t.Union([MediaRecord, t.Null()]),
    place: t.Union([t.Object({ id: t.String(), name: t.String() }), t.Null()], {
      description: "The nearest town, for the owner of the file: see GET /api/photos/places",
    }),
    motion: Motion,
    motionFileId: TextOrNull,
  }),
  UpdatedFile: t.Object({
    id: t.String(),
    name: t.String(),
    folder: FolderPath,
    modifiedAt: Timestamp,
    isPublic: t.Boolean(),
    shareLink: TextOrNull,
    tags: t.Array(t.String()),
    metadata: Metadata,
  }),
  DeletedNode: t.Object({ id: t.String(), name: t.String(), deletedAt: Timestamp }),
} as const;

/** GET /api/files */
export const ListingRecord = {
  type: "object",
  required: ["files", "pagination", "currentFolder"],
  properties: {
    files: { type: "array", items: { oneOf: [ref("FileItem"), ref("FolderItem")] } },
    pagination: ref("Pagination"),
    at: { ...Timestamp, description: "With at: the time shown" },
    currentFolder: {
      type: "object",
      required: ["path", "name", "parent"],
      properties: { path: FolderPath, name: t.String(), parent: FolderPath },
    },
  },
};

/** PUT /api/files/{id}: all optional, at least one. */
export const UpdateBody = t.Object({
  name: t.Optional(t.String()),
  folder: t.Optional(t.String({ description: "Moves the file" })),
  description: t.Optional(t.String()),
  tags: t.Optional(t.Array(t.String())),
  isPublic: t.Optional(t.Boolean()),
  metadata: t.Optional(
    t.Record(t.String(), t.Union([t.String(), t.Null()]), { description: "Merged; null removes a key" }),
  ),
});

/** The items of a bulk request. */
export const FileIds = t.Array(t.String(), { minItems: 1, maxItems: 1000, description: "Files and folders" });

const DESTINATION = {
  destinationFolder: t.String(),
  share: t.Optional(t.String({ description: "Id of a share with you; destinationFolder is a path below it" })),
};

/** POST /api/files/move */
export const MoveBody = t.Object({ fileIds: FileIds, ...DESTINATION });

/** POST /api/files/copy */
export const CopyBody = t.Object({
  fileIds: FileIds,
  ...DESTINATION,
  preserveMetadata: t.Optional(t.Boolean({ default: true })),
  onConflict: t.Optional(t.Union([t.Literal("rename"), t.Literal("version"), t.Literal("error")])),
});

/** An item of a bulk request that failed. */
export const FailedItem = {
  type: "object",
  required: ["id", "error"],
  properties: { id: t.String(), error: ref("ItemError") },
};
/** The items of a bulk request that failed, each with its error. */
export const FailedItems = { type: "array", items: FailedItem };
/** A file or a folder. */
export const Item = { oneOf: [ref("FileItem"), ref("FolderItem")] };

/** Response of move. */
export const MovedRecord = {
  type: "object",
  required: ["moved", "failed"],
  properties: { moved: { type: "array", items: Item }, failed: FailedItems },
};

/** Response of copy. */
export const CopiedRecord = {
  type: "object",
  required: ["copied", "failed"],
  properties: { copied: { type: "array", items: Item }, failed: FailedItems },
};

/** GET /api/files/{id}/checksum */
export const ContentCheckRecord = t.Object({
  stored: Checksum,
  actual: t.Union([Checksum, t.Null()], { description: "null if the content is missing" }),
  ok: t.Boolean(),
});

/** The form of an upload, for the OpenAPI document only: it is read as a stream. */
export const UploadRequest = {
  required: true,
  content: {
    "multipart/form-data": {
      schema: {
        type: "object",
        required: ["file"],
        properties: {
          file: { type: "string", format: "binary" },
          folder: { type: "string", default: "/" },
          share: { type: "string", description: "Id of a share with you; folder is a path below it" },
          description: { type: "string" },
          tags: { type: "string", description: "Comma-separated; may also be repeated" },
          isPublic: { type: "boolean", default: false },
          metadata: { type: "string", description: "JSON object of strings" },
          checksum: { type: "string", description: "sha256:<hex>, verified" },
          onConflict: { type: "string", enum: ["rename", "version", "error"], default: "rename" },
          fileModifiedAt: { type: "string", format: "date-time", description: "The file's own modification time" },
          capturedAt: { type: "string", format: "date-time", description: "When a photo was taken" },
        },
      },
    },
  },
};

/** A raw body of any type, for the OpenAPI document. */
export const RawRequest = {
  required: true,
  content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } },
};
