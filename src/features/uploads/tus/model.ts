import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { ref } from "../../../http/documented.ts";
import { Checksum, Timestamp } from "../../../http/fields.ts";
import { OFFSET_MEDIA_TYPE } from "./protocol.ts";

const Bytes = Type.Integer({ minimum: 0 });

const progress = {
  id: t.String({ description: "tus_…; known only to its sender" }),
  state: t.Union([t.Literal("receiving"), t.Literal("complete")]),
  kind: t.Union([t.Literal("whole"), t.Literal("partial"), t.Literal("final")]),
  name: t.String(),
  offset: Bytes,
  length: t.Union([Bytes, t.Null()], { description: "null until a deferred length is known" }),
  expiresAt: t.Union([Timestamp, t.Null()], { description: "Extended as bytes arrive; null when complete" }),
};

const FILE = { description: "What it became", anyOf: [ref("UploadedFile"), { type: "null" }] };

/** An upload of an account. */
export const TusRecord = {
  type: "object",
  required: [...Object.keys(progress), "folder", "file"],
  properties: { ...progress, folder: t.String({ description: "As sent by the client" }), file: FILE },
};

/** The uploads of an account in progress. */
export const TusListRecord = {
  type: "object",
  required: ["uploads"],
  properties: { uploads: { type: "array", items: TusRecord } },
};

/** An upload of a guest. */
export const GuestTusRecord = t.Object({
  ...progress,
  file: t.Union([t.Object({ name: t.String(), size: Bytes, checksum: Checksum }), t.Null()]),
});

/** The bytes in the body of a request. */
export const OffsetBytes = {
  required: true,
  content: { [OFFSET_MEDIA_TYPE]: { schema: { type: "string", format: "binary" } } },
};

/** The bytes in the body of a request that begins an upload; optional. */
export const FirstBytes = { ...OffsetBytes, required: false };
