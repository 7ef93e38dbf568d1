import { t } from "elysia";
import { ref } from "../../../http/documented.ts";
import { Timestamp } from "../../../http/fields.ts";
import { PROOF_FIELDS } from "../auth/model.ts";
import { ROLES } from "../users/types.ts";

/** POST /api/admin/invites */
export const NewInviteBody = t.Object({
  email: t.Optional(t.String({ maxLength: 320, description: "The only email address that can use it" })),
  role: t.Optional(t.Union([t.Literal("admin"), t.Literal("user"), t.Literal("viewer")])),
  plan: t.Optional(t.Union([t.Literal("free"), t.Literal("pro"), t.Literal("enterprise")])),
  expiresAt: t.Optional(t.String({ description: "Default: in 7 days; at most in 365" })),
  expiresIn: t.Optional(t.String({ description: "Instead of expiresAt", examples: ["7d"] })),
  ...PROOF_FIELDS,
});

const TextOrNone = t.Union([t.String(), t.Null()]);

/** An invitation in the list. */
export const InviteRecord = t.Object({
  id: t.String(),
  email: TextOrNone,
  role: t.String({ enum: [...ROLES] }),
  plan: t.Union([t.String(), t.Null()], { description: "null for the default plan" }),
  state: t.String({ enum: ["open", "used", "expired"] }),
  createdAt: Timestamp,
  createdBy: TextOrNone,
  expiresAt: Timestamp,
  usedAt: t.Union([Timestamp, t.Null()]),
  usedBy: TextOrNone,
});

/** The response of POST /api/admin/invites. */
export const NewInviteRecord = t.Intersect([
  InviteRecord,
  t.Object({
    invite: t.String({ description: "The token, shown only in this response: `invite` of POST /api/auth/signup" }),
    url: t.String({ description: "The page for it" }),
    mailed: t.Boolean({ description: "Whether it is sent to `email`" }),
  }),
]);

/** GET /api/admin/invites */
export const InvitePageRecord = {
  type: "object",
  required: ["invites", "pagination"],
  properties: { invites: t.Array(InviteRecord), pagination: ref("Pagination") },
};

export const LIMIT_MAX = 100;
export const LIMIT_DEFAULT = 20;
