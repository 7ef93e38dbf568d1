import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { ref } from "../../../http/documented.ts";
import { Timestamp } from "../../../http/fields.ts";
import { AUDIT_OUTCOMES, AUDIT_VIAS } from "./types.ts";

const TextOrNone = t.Union([t.String(), t.Null()]);
const Person = t.Union([t.Object({ id: TextOrNone, email: TextOrNone }), t.Null()]);
const Via = t.Object({ kind: t.String({ enum: [...AUDIT_VIAS] }), name: TextOrNone });
const Target = t.Union([t.Object({ type: t.String(), id: TextOrNone }), t.Null()]);

const COMMON_FIELDS = {
  id: t.String(),
  at: Timestamp,
  action: t.String({ examples: ["sign_in", "user.change"] }),
  outcome: t.String({ enum: [...AUDIT_OUTCOMES] }),
  reason: t.Union([t.String(), t.Null()], { description: "The error reason" }),
  target: Target,
  clientAddress: TextOrNone,
  userAgent: TextOrNone,
  times: Type.Integer({ minimum: 1, description: "Repeated rejections within one minute share an entry" }),
};

/** An entry of GET /api/admin/audit. */
export const AuditRecord = t.Object({
  ...COMMON_FIELDS,
  user: Person,
  via: Via,
  account: Person,
  details: t.Object({}, { additionalProperties: true }),
});

/** An entry of GET /api/users/activity. */
const ActivityRecord = t.Object({
  ...COMMON_FIELDS,
  by: t.String({
    enum: ["you", "administrator", "guest", "unknown"],
    description: "guest: someone with whom it is shared",
  }),
  via: Via,
});

/** GET /api/admin/audit */
export const AuditPageRecord = {
  type: "object",
  required: ["entries", "pagination"],
  properties: { entries: t.Array(AuditRecord), pagination: ref("Pagination") },
};

/** GET /api/users/activity */
export const ActivityPageRecord = {
  type: "object",
  required: ["activity", "pagination"],
  properties: { activity: t.Array(ActivityRecord), pagination: ref("Pagination") },
};

export const LIMIT_MAX = 100;
export const LIMIT_DEFAULT = 20;
