import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { ref } from "../../../http/documented.ts";
import { Timestamp } from "../../../http/fields.ts";
import { ACTIVITY_KINDS } from "./types.ts";

const NamedRecord = t.Union([t.Object({ id: t.String(), name: t.String() }), t.Null()]);
const Location = t.Object({
  name: t.String(),
  folder: t.Union([t.String(), t.Null()], { description: "null if that folder no longer exists" }),
});

const NodeActivityRecord = t.Object({
  kind: t.String({
    enum: [...ACTIVITY_KINDS],
    description:
      "content: it was replaced; shared: an active share was created; downloaded: only if the operator logs " +
      "downloads (audit.files)",
  }),
  at: Timestamp,
  by: NamedRecord,
  device: NamedRecord,
  from: t.Optional(Location),
  to: t.Optional(Location),
  version: t.Optional(Type.Integer({ minimum: 1 })),
  share: t.Optional(t.String({ enum: ["public", "link", "upload", "account"] })),
});

/** GET /api/files/{id}/activity */
export const NodeActivityPageRecord = {
  type: "object",
  required: ["activity", "pagination"],
  properties: { activity: t.Array(NodeActivityRecord), pagination: ref("Pagination") },
};
