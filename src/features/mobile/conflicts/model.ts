import { type Static, Type } from "@sinclair/typebox";
import { t } from "elysia";
import { ref } from "../../../http/documented.ts";
import { Checksum, Timestamp, readInstant } from "../../../http/fields.ts";
import { normalizeName } from "../../../lib/path.ts";
import type { ResolveRequest } from "./types.ts";

const TextOrNull = t.Union([t.String(), t.Null()]);
const SizeOrNull = t.Union([Type.Integer({ minimum: 0 }), t.Null()]);

const SIDE = {
  name: TextOrNull,
  folder: TextOrNull,
  size: SizeOrNull,
  checksum: t.Union([Checksum, t.Null()]),
  modifiedAt: t.Union([Timestamp, t.Null()]),
};

/** Schemas of this feature, by their names in the OpenAPI document. */
export const CONFLICT_SCHEMAS = {
  Conflict: t.Object({
    conflictId: t.String(),
    fileId: t.String({ description: "The changed file; for a new file, the file that has the name" }),
    type: t.Union([t.Literal("modified"), t.Literal("deleted"), t.Literal("name")]),
    action: t.Union(["upload", "update", "rename", "move", "delete"].map((action) => t.Literal(action))),
    localId: t.String(),
    local: t.Object(
      { ...SIDE, deviceId: t.String() },
      { description: "What the device requested; null for fields that it did not send" },
    ),
    remote: t.Object(
      { fileId: t.String(), ...SIDE, deviceId: TextOrNull },
      { description: "The other side now; if it was deleted, only fileId is not null" },
    ),
    detectedAt: Timestamp,
    awaitsContent: t.Boolean({ description: "keep_local was chosen, and ends the conflict when the content arrives" }),
  }),
} as const;

/** A list of conflict records. */
export const Conflicts = { type: "array", items: ref("Conflict") };

const ResolveItem = t.Object({
  conflictId: t.String({ maxLength: 100 }),
  resolution: t.Union([t.Literal("keep_remote"), t.Literal("keep_local")]),
  fileId: t.Optional(t.String({ maxLength: 100 })),
  localData: t.Optional(
    t.Object({
      name: t.Optional(t.String({ description: "A free name keeps both files" })),
      modifiedAt: t.Optional(t.String({ description: "ISO 8601" })),
    }),
  ),
});

/** POST /api/mobile/conflicts/resolve */
export const ResolveBody = t.Object({ conflicts: t.Array(ResolveItem, { minItems: 1, maxItems: 1000 }) });

/** Parses one resolution. @throws AppError invalid_path | invalid_field */
export function readResolution(item: Static<typeof ResolveItem>): ResolveRequest {
  const { conflictId, resolution, fileId, localData } = item;
  const { name } = localData ?? {};
  return {
    conflictId,
    resolution,
    fileId,
    localName: name === undefined ? undefined : normalizeName(name, "localData.name"),
    localModifiedAt: readInstant(localData?.modifiedAt, "localData.modifiedAt"),
  };
}

/** An error inside a list of results. */
export const ItemError = {
  type: "object",
  required: ["code", "message", "details"],
  properties: {
    code: { type: "string" },
    message: { type: "string" },
    details: {
      type: "object",
      required: ["reason"],
      properties: { reason: { type: "string" } },
      additionalProperties: true,
    },
  },
};

/** Response of resolve. */
export const ResolvedRecord = {
  type: "object",
  required: ["results", "conflicts"],
  properties: {
    results: {
      type: "array",
      items: {
        type: "object",
        required: ["conflictId", "status"],
        properties: {
          conflictId: { type: "string" },
          status: { type: "string", enum: ["resolved", "upload_required", "rejected"] },
          fileId: { type: "string", description: "The resulting file, or the file to send the content for" },
          error: ItemError,
        },
      },
    },
    conflicts: { ...Conflicts, description: "Unresolved conflicts" },
  },
};

/** GET /api/users/conflicts */
export const ConflictsRecord = {
  type: "object",
  required: ["conflicts"],
  properties: { conflicts: Conflicts },
};

/** Path parameters of one conflict. */
export const ConflictParams = t.Object({ conflictId: t.String() });

/** POST /api/users/conflicts/{conflictId} */
export const DecideBody = t.Object({ resolution: t.Union([t.Literal("keep_remote"), t.Literal("keep_local")]) });

/** Response of POST /api/users/conflicts/{conflictId} */
export const DecidedRecord = {
  type: "object",
  required: ["conflictId", "status"],
  properties: {
    conflictId: { type: "string" },
    status: { type: "string", enum: ["resolved", "upload_required"] },
    fileId: { type: "string", description: "The resulting file, or the file to send the content for" },
  },
};
