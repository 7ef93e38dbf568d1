import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { ShareMarkRecord } from "../../library/files/model.ts";
import { ref } from "../../../http/documented.ts";
import { Checksum, FolderPath, Timestamp } from "../../../http/fields.ts";

const TextOrNull = t.Union([t.String(), t.Null()]);
const TimestampOrNull = t.Union([Timestamp, t.Null()]);
const Count = Type.Integer({ minimum: 0 });
const CountOrNull = t.Union([Count, t.Null()]);
const Url = t.String({ format: "uri" });
const Permissions = t.Union([t.Literal("read"), t.Literal("upload"), t.Literal("write")]);

const SharedNode = (type: "file" | "folder" | "album") =>
  t.Object({ id: t.String(), name: t.String(), type: t.Literal(type) }, { description: "The shared item" });

const Named = t.Object({ id: t.String(), name: t.String() });

/** Records of this feature, by the name under which the OpenAPI document refers to them. */
export const SHARE_SCHEMAS = {
  Share: t.Object({
    id: t.String({ description: "shr_…" }),
    kind: t.Union([t.Literal("public"), t.Literal("link"), t.Literal("upload"), t.Literal("account")], {
      description:
        "public: the link of a file with isPublic. link: reads a file, folder or album. upload: a drop box. account: for one other account, or the members of a group",
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
    pinned: t.Boolean({ description: "Always the content that was shared, even after new uploads" }),
    pinnedVersion: CountOrNull,
    hideLocation: t.Boolean({ description: "Sends photos without location and camera data, with neutral names" }),
    maxUploadBytes: t.Union([Count, t.Null()], { description: "Drop box: maximum total bytes" }),
    maxUploadsPerAddress: t.Union([Count, t.Null()], {
      description: "Drop box: maximum unfinished resumable uploads (tus) per address; at most 200 in total",
    }),
    uploads: Count,
    uploadedBytes: Count,
    user: t.Union([t.String(), t.Null()], {
      description: "Share with an account: its email, unless the person was chosen by name",
    }),
    person: t.Union([Named, t.Null()], { description: "Share with a person who was chosen by name" }),
    group: t.Union([Named, t.Null()], { description: "Share with the members of a group" }),
    versions: t.Union([t.Boolean(), t.Null()], {
      description: "Share with an account: whether it includes earlier versions; null for others",
    }),
    file: t.Optional(SharedNode("file")),
    folder: t.Optional(SharedNode("folder")),
    albumId: t.Optional(t.String()),
    album: t.Optional(SharedNode("album")),
  }),
} as const;

/** Lists of shares. */
export const SharesRecord = {
  type: "object",
  required: ["shares", "inherited"],
  properties: {
    shares: { type: "array", items: ref("Share") },
    inherited: {
      type: "array",
      description: "The folders above it that you share too, the nearest first; their shares cover it",
      items: { allOf: [t.Object({ id: t.String(), name: t.String(), path: FolderPath }), ShareMarkRecord] },
    },
  },
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
    t.Union([t.String(), t.Null()], { description: "A future time, ISO 8601 with Z or an offset" }),
  ),
  expiresIn: t.Optional(
    t.Union([t.String(), t.Null()], { description: 'Instead: from now on, such as "12h" or "7d"' }),
  ),
  password: t.Optional(t.Union([t.String(), t.Null()], { description: "4 to 256 characters; links only" })),
  maxDownloads: t.Optional(t.Union([Type.Integer(), t.Null()], { description: "At least 1; links only" })),
  label: t.Optional(
    t.Union([t.String(), t.Null()], { description: "At most 200 characters; shown to visitors of a drop box" }),
  ),
  permissions: t.Optional(
    t.Union([t.Literal("read"), t.Literal("upload"), t.Literal("write"), t.Null()], {
      description:
        "By default read. upload makes a folder a drop box: it accepts files and shows none. write is only for a " +
        "user",
    }),
  ),
  pinned: t.Optional(
    t.Union([t.Boolean(), t.Null()], {
      description: "File: always this content, even after new uploads. By default the latest content",
    }),
  ),
  hideLocation: t.Optional(
    t.Union([t.Boolean(), t.Null()], {
      description:
        "JPEG, PNG and WebP photos are sent without location, camera data and comments, and are not re-encoded. " +
        "Other photos are sent as a large preview. Videos and XMP files are not sent. All names become neutral",
    }),
  ),
  maxUploadBytes: t.Optional(t.Union([Type.Integer(), t.Null()], { description: "Drop box: maximum total bytes" })),
  maxUploadsPerAddress: t.Optional(
    t.Union([Type.Integer(), t.Null()], {
      description: "Drop box: maximum unfinished resumable uploads per address, 1 to 200; null is 20",
    }),
  ),
  versions: t.Optional(
    t.Union([t.Boolean(), t.Null()], {
      description:
        "Share with an account: whether it includes earlier versions. By default true for write, false for read",
    }),
  ),
};

/** POST …/shares */
export const CreateShareBody = t.Object({
  ...optional,
  user: t.Optional(
    t.Union([t.String(), t.Null()], {
      description:
        "Email of the only account that can open it, signed in. Whether there is such an account is not revealed",
    }),
  ),
  users: t.Optional(
    t.Array(t.String({ maxLength: 320 }), {
      maxItems: 50,
      description: "Emails, and ids from GET /api/users/people. Each gets a share",
    }),
  ),
  groups: t.Optional(
    t.Array(t.String({ maxLength: 64 }), {
      maxItems: 50,
      description: "Ids of groups. Each gets one share for its members",
    }),
  ),
});

/** The response of POST …/shares. */
export const CreatedShareRecord = {
  oneOf: [
    ref("Share"),
    {
      type: "object",
      required: ["shares", "updated"],
      description: "With `users` or `groups`",
      properties: {
        shares: { type: "array", items: ref("Share") },
        updated: {
          type: "array",
          items: { type: "string" },
          description: "Ids of shares that there were before: they have the requested permissions now",
        },
      },
    },
  ],
};

/** PATCH /api/shares/{id} */
export const UpdateShareBody = t.Object(optional);

/** POST /api/public/{token}/unlock */
export const UnlockBody = t.Object({ password: t.String() });
export const GrantRecord = t.Object({
  grant: t.String({ description: "Send it as X-Share-Grant" }),
  expiresAt: Timestamp,
});

const ChecksumOrNull = t.Union([Checksum, t.Null()], { description: "null if location and camera data are hidden" });
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
    files: Type.Integer({ minimum: 0, description: "Directly in the folder" }),
    folders: Type.Integer({ minimum: 0, description: "Directly in the folder" }),
    filesUrl: Url,
    downloadUrl: t.String({ format: "uri", description: "The whole folder as a ZIP file" }),
  }),
  t.Object({
    name: t.String(),
    type: t.Literal("album"),
    description: t.String(),
    permissions: t.Literal("read"),
    expiresAt: TimestampOrNull,
    itemCount: Count,
    filesUrl: Url,
    downloadUrl: t.String({ format: "uri", description: "All files as a ZIP file" }),
  }),
  t.Object({
    name: t.String(),
    type: t.Literal("folder"),
    permissions: t.Literal("upload"),
    expiresAt: TimestampOrNull,
    label: TextOrNull,
    maxFileSize: t.Union([Count, t.Null()], { description: "Largest file accepted now, in bytes; null for no limit" }),
    uploadUrl: Url,
  }),
]);

const SizeOrNull = t.Union([Count, t.Null()], {
  description: "null for photos and videos whose location and camera data are hidden: the sent file has another size",
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
          sender: { type: "string", description: "Name of the sender; stored as metadata.sender of the file" },
          checksum: { type: "string", description: "sha256:<hex>, verified" },
        },
      },
    },
  },
};
