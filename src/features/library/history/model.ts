import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { FolderPath, Timestamp } from "../../../http/fields.ts";

const Count = Type.Integer({ minimum: 0 });
const NODE = {
  id: t.String(),
  type: t.Union([t.Literal("file"), t.Literal("folder")]),
  name: t.String(),
  folder: FolderPath,
};

/** POST /api/files/restore */
export const RestoreBody = t.Object({
  folder: t.String({ description: "Path of the folder at that time; / is everything" }),
  at: t.String({
    maxLength: 64,
    examples: ["2026-01-02T03:04:05.678Z"],
    description: "The time, at most 30 days ago (configurable)",
  }),
  dryRun: t.Optional(t.Boolean({ description: "Return what would be done, and change nothing" })),
  removeNew: t.Optional(t.Boolean({ description: "Move to the trash what was added to the folder since" })),
  partial: t.Optional(
    t.Boolean({
      description: "If there are too many changes for one request, apply a part; repeat until hasMore is false",
    }),
  ),
});

/** Response of a restore. */
export const RestoreRecord = t.Object({
  folder: FolderPath,
  at: Timestamp,
  dryRun: t.Boolean(),
  removeNew: t.Boolean(),
  counts: t.Object({
    content: Count,
    place: Count,
    undelete: Count,
    aside: Count,
    remove: Count,
    skipped: Count,
    new: Count,
  }),
  changes: t.Array(
    t.Object({
      ...NODE,
      change: t.Union(
        [t.Literal("content"), t.Literal("place"), t.Literal("undelete"), t.Literal("aside"), t.Literal("remove")],
        {
          description:
            "content: the former content becomes a new version; place: renamed or moved back; undelete: restored from " +
            "the trash, or created again; aside: renamed because it was in the way; remove: new, moved to the trash",
        },
      ),
      from: t.Optional(t.Object({ name: t.String(), folder: FolderPath }, { description: "Former location" })),
      formerId: t.Optional(t.String({ description: "The id before it was deleted, if it changed" })),
      version: t.Optional(Type.Integer({ minimum: 1, description: "The version that was restored" })),
    }),
    { description: "Changes in order, the first 1,000; a file can appear more than once" },
  ),
  skipped: t.Array(
    t.Object({
      ...NODE,
      reason: t.Union([
        t.Literal("content_gone"),
        t.Literal("folder_gone"),
        t.Literal("inside_itself"),
        t.Literal("too_deep"),
        t.Literal("not_empty"),
        t.Literal("locked"),
      ]),
      message: t.String(),
    }),
    { description: "Items that stay changed, and why; the first 1,000" },
  ),
  new: t.Array(t.Object(NODE), { description: "Items added to the folder since, which stay there; the first 1,000" }),
  hasMore: t.Boolean({ description: "With partial: more items are left to restore" }),
});
