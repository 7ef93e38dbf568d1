import { t } from "elysia";
import { ref } from "../../../http/documented.ts";
import { Timestamp } from "../../../http/fields.ts";
import { ItemRightsFields } from "../permissions/item-rights.ts";
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
      ...ItemRightsFields,
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
