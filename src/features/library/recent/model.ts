import { t } from "elysia";
import { ref } from "../../../http/documented.ts";
import { Timestamp } from "../../../http/fields.ts";
import { RECENT_KINDS } from "./types.ts";

const RecentItem = {
  allOf: [
    ref("FileItem"),
    t.Object({
      activity: t.String({
        enum: [...RECENT_KINDS],
        description: "added: uploaded, or copied; edited: its content was replaced; changed: its tags or description",
      }),
      activityAt: Timestamp,
      permission: t.String({ enum: ["own", "write", "read"], description: "write, read: it is shared with you" }),
      canManage: t.Boolean({ description: "Whether you may rename, move and delete it" }),
      share: t.Optional(t.String({ description: "Id of the received share to which its paths are relative" })),
      showsVersions: t.Boolean({ description: "Whether you may see its earlier versions" }),
    }),
  ],
};

/** GET /api/files/recent */
export const RecentRecord = {
  type: "object",
  required: ["files", "nextCursor"],
  properties: {
    files: { type: "array", items: RecentItem },
    nextCursor: t.Union([t.String(), t.Null()]),
  },
};
