import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { Timestamp } from "../../../http/fields.ts";

const Kind = t.Union([t.Literal("file"), t.Literal("folder")]);
const Count = Type.Integer({ minimum: 0 });

/** POST …/devices/{deviceId}/rewind */
export const RewindBody = t.Object({
  since: t.String({
    maxLength: 64,
    examples: ["2026-01-02T03:04:05.678Z"],
    description: "Undo what the device did from this time on; at most 30 days ago",
  }),
  dryRun: t.Optional(t.Boolean({ description: "Return what would be done, and change nothing" })),
});

/** Path parameters of a device, which may be removed. */
export const DeviceParams = t.Object({ deviceId: t.String({ description: "As the device chose it" }) });

/** Response of a rewind. */
export const RewindRecord = t.Object({
  deviceId: t.String(),
  since: Timestamp,
  dryRun: t.Boolean(),
  undone: t.Array(
    t.Object({
      fileId: t.String({ description: "Id of a folder if kind is folder; in a dry run the former id" }),
      kind: Kind,
      action: t.Union([
        t.Literal("deleted_created"),
        t.Literal("restored_deleted"),
        t.Literal("restored_content"),
        t.Literal("renamed_back"),
        t.Literal("moved_back"),
        t.Literal("labels_back"),
      ]),
      name: t.String(),
      folder: t.String(),
      formerId: t.Optional(t.String({ description: "The id before it was deleted" })),
    }),
    { description: "Changes in order; a file can appear more than once" },
  ),
  skipped: t.Array(
    t.Object({
      fileId: t.String(),
      kind: Kind,
      name: t.String(),
      folder: t.String(),
      reason: t.Union([
        t.Literal("changed_by_others"),
        t.Literal("deleted_by_others"),
        t.Literal("content_gone"),
        t.Literal("not_empty"),
      ]),
      message: t.String(),
    }),
    { description: "Items that were left unchanged, and why; reported once" },
  ),
  failed: t.Array(
    t.Object({
      fileId: t.String(),
      error: t.Object({
        code: t.String(),
        message: t.String(),
        details: t.Object({ reason: t.String() }, { additionalProperties: true }),
      }),
    }),
    { description: "Items that failed; send the request again to retry them" },
  ),
  counts: t.Object({ undone: Count, skipped: Count, failed: Count }),
  hasMore: t.Boolean({ description: "More changes are left: send the request again" }),
});
