import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { ref } from "../../../http/documented.ts";
import { Timestamp } from "../../../http/fields.ts";
import { FailedItems } from "../files/model.ts";
import { PhotoFields } from "../photos/model.ts";

/** Albums on a page. */
export const ALBUMS_LIMIT_MAX = 1_000;
/** Items on a page. */
export const ITEMS_LIMIT_MAX = 500;

const TextOrNull = t.Union([t.String(), t.Null()]);
const Count = Type.Integer({ minimum: 0 });

/** Records of this feature, by the name under which the OpenAPI document refers to them. */
export const ALBUM_SCHEMAS = {
  Album: t.Object({
    id: t.String({ description: "albm_…" }),
    type: t.Literal("album"),
    name: t.String(),
    description: t.String(),
    itemCount: Count,
    coverFileId: t.Union([t.String(), t.Null()], { description: "The chosen cover; null for the first file" }),
    coverUrl: TextOrNull,
    createdAt: Timestamp,
    modifiedAt: Timestamp,
    isShared: t.Boolean(),
    owner: t.Optional(
      t.Object({ id: t.String(), name: t.String(), email: t.String() }, { description: "Of an album shared with you" }),
    ),
  }),
} as const;

/** A page of albums. */
export const AlbumPageRecord = {
  type: "object",
  required: ["albums", "pagination"],
  properties: { albums: { type: "array", items: ref("Album") }, pagination: ref("Pagination") },
};

/** GET /api/files/{id}/albums */
export const AlbumsRecord = {
  type: "object",
  required: ["albums"],
  properties: { albums: { type: "array", items: ref("Album") } },
};

/** A page of the files of an album. */
export const AlbumItemsRecord = {
  type: "object",
  required: ["items", "pagination"],
  properties: {
    items: { type: "array", items: { allOf: [ref("FileItem"), PhotoFields] } },
    pagination: ref("Pagination"),
  },
};

/** GET /api/albums/{id}/aspects */
export const ItemAspectsRecord = t.Object({
  fileIds: t.Array(t.String()),
  aspects: t.Array(Count, {
    description: "Width divided by height as displayed, in percent, of each file; 0 if not known",
    examples: [[133, 75]],
  }),
});

/** POST /api/albums */
export const CreatedAlbumRecord = {
  allOf: [ref("Album"), { type: "object", required: ["failed"], properties: { failed: FailedItems } }],
};

/** POST /api/albums/{id}/items */
export const AddedItemsRecord = {
  type: "object",
  required: ["added", "alreadyThere", "failed", "album"],
  properties: { added: Count, alreadyThere: Count, failed: FailedItems, album: ref("Album") },
};

/** POST /api/albums/{id}/items/move */
export const MovedItemsRecord = { type: "object", required: ["album"], properties: { album: ref("Album") } };

/** POST /api/albums/{id}/items/remove */
export const RemovedItemsRecord = {
  type: "object",
  required: ["removed", "album"],
  properties: { removed: Count, album: ref("Album") },
};

/** DELETE /api/albums/{id} */
export const DeletedAlbumRecord = t.Object({ id: t.String(), name: t.String(), deletedAt: Timestamp });

/** Some files of a request. */
const Files = t.Array(t.String(), { minItems: 1, maxItems: 1000 });

export const CreateAlbumBody = t.Object({
  name: t.String(),
  description: t.Optional(t.String()),
  fileIds: t.Optional(t.Array(t.String(), { maxItems: 1000, description: "Files of yours" })),
});

export const UpdateAlbumBody = t.Object({
  name: t.Optional(t.String()),
  description: t.Optional(t.String()),
  coverFileId: t.Optional(t.Union([t.String(), t.Null()], { description: "A file in the album; null for the first" })),
});

export const AddItemsBody = t.Object({
  fileIds: Files,
  before: t.Optional(t.String({ description: "A file in the album; by default the end" })),
});

export const MoveItemsBody = t.Object({
  fileIds: Files,
  before: t.Union([t.String(), t.Null()], { description: "Another file in the album; null for the end" }),
});

export const RemoveItemsBody = t.Object({ fileIds: Files });
