import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { ref } from "../../../http/documented.ts";
import { Timestamp } from "../../../http/fields.ts";

/** POST /api/admin/groups, PATCH /api/admin/groups/{id} */
export const GroupBody = t.Object({
  name: t.String({ maxLength: 400, description: "1 to 100 characters, unlike the name of any other group" }),
});

/** A group. */
export const GroupRecord = t.Object({
  id: t.String({ description: "grp_…" }),
  name: t.String(),
  members: Type.Integer({ minimum: 0 }),
  shares: Type.Integer({ minimum: 0, description: "Shares that are for the group" }),
  createdAt: Timestamp,
});

/** GET /api/admin/groups */
export const GroupPageRecord = {
  type: "object",
  required: ["groups", "pagination"],
  properties: { groups: { type: "array", items: GroupRecord }, pagination: ref("Pagination") },
};

/** GET /api/admin/groups/{id}/members */
export const MemberPageRecord = {
  type: "object",
  required: ["members", "pagination"],
  properties: {
    members: t.Array(
      t.Object({
        id: t.String({ description: "usr_…" }),
        email: t.String(),
        name: t.String(),
        disabled: t.Boolean(),
        addedAt: Timestamp,
      }),
    ),
    pagination: ref("Pagination"),
  },
};

export const MemberParams = t.Object({ id: t.String(), userId: t.String() });

export const LIMIT_MAX = 1_000;
export const LIMIT_DEFAULT = 100;
