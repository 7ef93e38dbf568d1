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
  folder: t.String({ description: "Path that the folder had at that moment; / is everything" }),
  at: t.String({
    maxLength: 64,
    examples: ["2026-01-02T03:04:05.678Z"],
    description: "The moment, at most 30 days ago (configurable)",
  }),
  dryRun: t.Optional(t.Boolean({ description: "Tell what would be done, and do nothing" })),
  removeNew: t.Optional(t.Boolean({ description: "Put into the trash what came into the folder since" })),
  partial: t.Optional(
    t.Boolean({ description: "Where there is more than one call takes, do a part of it; call until hasMore is false" }),
  ),
});

/** Answer of a restore. */
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
            "content: the content of then is a new version; place: renamed or moved back; undelete: out of the trash, or " +
            "made again; aside: renamed because it stood where something else was; remove: new, put into the trash",
        },
      ),
      from: t.Optional(t.Object({ name: t.String(), folder: FolderPath }, { description: "Where it was until now" })),
      formerId: t.Optional(t.String({ description: "The id before it was deleted, where it got another" })),
      version: t.Optional(Type.Integer({ minimum: 1, description: "The version whose content it has again" })),
    }),
    { description: "What was done, in this order, the first 1,000; a file may be in it more than once" },
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
      ]),
      message: t.String(),
    }),
    { description: "What is left other than it was, and why; the first 1,000" },
  ),
  new: t.Array(t.Object(NODE), { description: "What came into the folder since and is left there; the first 1,000" }),
  hasMore: t.Boolean({ description: "With partial: more is left to be brought back" }),
});
