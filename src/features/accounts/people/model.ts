import { Type } from "@sinclair/typebox";
import { t } from "elysia";

/** GET /api/users/people */
export const PeopleRecord = t.Object({
  people: t.Array(
    t.Object({
      id: t.String({ description: "usr_…" }),
      name: t.String(),
      email: t.Optional(t.String({ description: "Only if the server shows email addresses" })),
    }),
  ),
  groups: t.Array(
    t.Object({
      id: t.String({ description: "grp_…" }),
      name: t.String(),
      members: Type.Integer({ minimum: 0 }),
    }),
  ),
});

/** GET /api/users/groups/{id}/members */
export const GroupPeopleRecord = t.Object({
  people: t.Array(t.Object({ id: t.String({ description: "usr_…" }), name: t.String() })),
  total: Type.Integer({ minimum: 0 }),
});

/** Longest text that is searched. */
export const TEXT_MAX = 100;
