import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { ref } from "../../../http/documented.ts";
import { Checksum, FolderPath, Timestamp } from "../../../http/fields.ts";

const TextOrNull = t.Union([t.String(), t.Null()]);
const TimestampOrNull = t.Union([Timestamp, t.Null()]);
const Count = Type.Integer({ minimum: 0 });
const CountOrNull = t.Union([Count, t.Null()]);
const Url = t.String({ format: "uri" });
const Permissions = t.Union([t.Literal("read"), t.Literal("upload"), t.Literal("write")]);

const SharedNode = (type: "file" | "folder") =>
  t.Object({ id: t.String(), name: t.String(), type: t.Literal(type) }, { description: "What is shared" });

/** Records of this feature, by the name under which the OpenAPI document refers to them. */
export const SHARE_SCHEMAS = {
  Share: t.Object({
    id: t.String({ description: "shr_…" }),
    kind: t.Union([t.Literal("public"), t.Literal("link"), t.Literal("upload"), t.Literal("account")], {
      description:
        "public: the link of a file with isPublic. link: reads a file or folder. upload: a drop box. account: for one other account",
    }),
    permissions: Permissions,
    url: Url,
    token: t.String({ description: "The last part of url. Shown to the owner alone" }),
    label: TextOrNull,
    expiresAt: TimestampOrNull,
    hasPassword: t.Boolean(),
    maxDownloads: CountOrNull,
    downloads: Count,
    views: Count,
    lastAccessedAt: TimestampOrNull,
    createdAt: Timestamp,
    pinned: t.Boolean({ description: "Shows the content that was shared, whatever came since" }),
    pinnedVersion: CountOrNull,
    hideLocation: t.Boolean({ description: "Gives pictures without location and camera data, under neutral names" }),
    maxUploadBytes: t.Union([Count, t.Null()], { description: "Of a drop box: bytes that it takes in all" }),
    maxUploadsPerAddress: t.Union([Count, t.Null()], {
      description: "Of a drop box: unfinished resumable uploads (tus) of one address; the drop box takes 200 in all",
    }),
    uploads: Count,
    uploadedBytes: Count,
    user: t.Union([t.String(), t.Null()], { description: "Of a share for an account: the e-mail it was given to" }),
    versions: t.Union([t.Boolean(), t.Null()], {
      description: "Of a share for an account: whether earlier versions are shown, too; null for others",
    }),
    file: t.Optional(SharedNode("file")),
    folder: t.Optional(SharedNode("folder")),
  }),
} as const;

/** Lists of shares. */
export const SharesRecord = {
  type: "object",
  required: ["shares"],
  properties: { shares: { type: "array", items: ref("Share") } },
};

/** GET /api/shares */
export const SharePageRecord = {
  type: "object",
  required: ["shares", "pagination"],
  properties: { shares: { type: "array", items: ref("Share") }, pagination: ref("Pagination") },
};

/** DELETE /api/shares/{id} */
export const RevokedRecord = t.Object({ id: t.String(), revokedAt: Timestamp });

const optional = {
  expiresAt: t.Optional(
    t.Union([t.String(), t.Null()], { description: "An instant to come, ISO 8601 with Z or an offset" }),
  ),
  expiresIn: t.Optional(
    t.Union([t.String(), t.Null()], { description: 'Instead: from now on, such as "12h" or "7d"' }),
  ),
  password: t.Optional(t.Union([t.String(), t.Null()], { description: "4 to 256 characters; links alone" })),
  maxDownloads: t.Optional(t.Union([Type.Integer(), t.Null()], { description: "At least 1; links alone" })),
  label: t.Optional(t.Union([t.String(), t.Null()], { description: "At most 200 characters; drop boxes show theirs" })),
  permissions: t.Optional(
    t.Union([t.Literal("read"), t.Literal("upload"), t.Literal("write"), t.Null()], {
      description:
        "read is the default. upload makes a folder a drop box: it takes files and shows none. write is for a user alone",
    }),
  ),
  pinned: t.Optional(
    t.Union([t.Boolean(), t.Null()], {
      description: "Of a file: this very content, also after new uploads. By default the latest is shown",
    }),
  ),
  hideLocation: t.Optional(
    t.Union([t.Boolean(), t.Null()], {
      description:
        "JPEG, PNG and WebP pictures are given without location, camera data and remarks, not encoded anew; of other pictures a large preview is given; films and XMP files are not given. Names of all become neutral",
    }),
  ),
  maxUploadBytes: t.Optional(
    t.Union([Type.Integer(), t.Null()], { description: "Of a drop box: bytes that it takes in all" }),
  ),
  maxUploadsPerAddress: t.Optional(
    t.Union([Type.Integer(), t.Null()], {
      description: "Of a drop box: unfinished resumable uploads of one address, 1 to 200; null is 20",
    }),
  ),
  versions: t.Optional(
    t.Union([t.Boolean(), t.Null()], {
      description:
        "Of a share for an account: whether it shows earlier versions, too. By default true for write, false for read",
    }),
  ),
};

/** POST …/shares */
export const CreateShareBody = t.Object({
  ...optional,
  user: t.Optional(
    t.Union([t.String(), t.Null()], {
      description: "E-mail of another account, for which alone it opens, signed in. Nothing tells whether there is one",
    }),
  ),
});

/** PATCH /api/shares/{id} */
export const UpdateShareBody = t.Object(optional);

/** POST /api/public/{token}/unlock */
export const UnlockBody = t.Object({ password: t.String() });
export const GrantRecord = t.Object({
  grant: t.String({ description: "Send it as X-Share-Grant" }),
  expiresAt: Timestamp,
});

const ChecksumOrNull = t.Union([Checksum, t.Null()], { description: "null where location and camera data are hidden" });
const PUBLIC_FILE = {
  name: t.String(),
  type: t.Literal("file"),
  mimeType: t.String(),
  size: Count,
  modifiedAt: Timestamp,
  checksum: ChecksumOrNull,
  downloadUrl: Url,
  thumbnailUrl: Url,
  hasThumbnail: t.Boolean(),
};

/** GET /api/public/{token} */
export const PublicShareRecord = t.Union([
  t.Object({ ...PUBLIC_FILE, permissions: t.Literal("read"), expiresAt: TimestampOrNull }),
  t.Object({
    name: t.String(),
    type: t.Literal("folder"),
    permissions: t.Literal("read"),
    expiresAt: TimestampOrNull,
    itemCount: Count,
    files: Type.Integer({ minimum: 0, description: "Directly in it" }),
    folders: Type.Integer({ minimum: 0, description: "Directly in it" }),
    filesUrl: Url,
    downloadUrl: t.String({ format: "uri", description: "All of it as a ZIP" }),
  }),
  t.Object({
    name: t.String(),
    type: t.Literal("folder"),
    permissions: t.Literal("upload"),
    expiresAt: TimestampOrNull,
    label: TextOrNull,
    maxFileSize: t.Union([Count, t.Null()], { description: "Largest file taken now, in bytes; null for no limit" }),
    uploadUrl: Url,
  }),
]);

const SizeOrNull = t.Union([Count, t.Null()], {
  description: "null for pictures and films where location and camera data are hidden: what is given has another size",
});

/** GET /api/public/{token}/files */
export const PublicListingRecord = t.Object({
  files: t.Array(
    t.Union([
      t.Object({ ...PUBLIC_FILE, size: SizeOrNull, id: t.String(), folder: FolderPath }),
      t.Object({
        id: t.String(),
        name: t.String(),
        type: t.Literal("folder"),
        folder: FolderPath,
        path: FolderPath,
        itemCount: Count,
        modifiedAt: Timestamp,
      }),
    ]),
  ),
  pagination: t.Object({
    page: t.Number(),
    limit: t.Number(),
    total: t.Number(),
    totalPages: t.Number(),
    hasNext: t.Boolean(),
    hasPrev: t.Boolean(),
  }),
  currentFolder: t.Object({ path: FolderPath, name: t.String(), parent: FolderPath }),
});

/** POST /api/public/{token}/upload */
export const DroppedRecord = t.Object({ name: t.String(), size: Count, checksum: Checksum });

/** The form of a drop box, for the document; it is read as a stream. */
export const DropRequest = {
  required: true,
  content: {
    "multipart/form-data": {
      schema: {
        type: "object",
        required: ["file"],
        properties: {
          file: { type: "string", format: "binary" },
          sender: { type: "string", description: "Who sends it; kept with the file as metadata.sender" },
          checksum: { type: "string", description: "sha256:<hex>, verified" },
        },
      },
    },
  },
};
