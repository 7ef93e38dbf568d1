import { t } from "elysia";
import { Timestamp } from "../../../http/fields.ts";

/** An entry of GET /api/users/locks */
export const LockRecord = t.Object({
  id: t.String(),
  fileId: t.Optional(t.String()),
  folderId: t.Optional(t.String()),
  name: t.String(),
  path: t.String(),
  program: t.Union([t.String(), t.Null()]),
  createdAt: Timestamp,
  expiresAt: Timestamp,
});
