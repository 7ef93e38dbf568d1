import { t } from "elysia";

/** GET /api/users/avatars */
export const AvatarsRecord = t.Object({
  people: t.Array(t.Object({ id: t.String({ description: "usr_…" }), version: t.String() })),
});

/** PUT and DELETE of a picture. */
export const AvatarRecord = t.Object({
  avatar: t.Union([t.Object({ version: t.String() }), t.Null()]),
});
