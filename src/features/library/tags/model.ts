import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { FailedItems } from "../files/model.ts";
import { ref } from "../../../http/documented.ts";

/** GET /api/files/tags */
export const TagListRecord = t.Object({
  tags: t.Array(t.Object({ tag: t.String(), count: Type.Integer({ minimum: 1, description: "Files that have it" }) }), {
    description: "Most used first, then by name; at most 10,000",
  }),
});

/** POST /api/files/tags */
export const TagBody = t.Object({
  fileIds: t.Array(t.String(), { minItems: 1, maxItems: 1000 }),
  add: t.Optional(t.Array(t.String(), { maxItems: 1000, description: "Tags to add" })),
  remove: t.Optional(t.Array(t.String(), { maxItems: 1000, description: "Tags to remove" })),
});

/** Response of POST /api/files/tags. */
export const TaggedRecord = {
  type: "object",
  required: ["updated", "failed"],
  properties: {
    updated: { type: "array", items: ref("FileItem") },
    failed: FailedItems,
  },
};
