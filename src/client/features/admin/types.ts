/** Records of `/api/admin/*` and `/api/webhooks`. */
import type { ResponseData, Schemas } from "../../api/generated.ts";
import type { Role } from "../../api/types.ts";

/** Names of the plans. */
export const PLANS = ["free", "pro", "enterprise"] as const;
/** A plan. */
export type PlanName = (typeof PLANS)[number];
/** The roles, weakest first. */
export const ROLES = ["viewer", "user", "admin"] as const satisfies readonly Role[];

/** An account as administrators see it. */
export type Account = Schemas["Account"];

/** A link to set a password with. */
export type PasswordLink = ResponseData["POST /api/admin/users/{id}/reset-link"];

/** A sign-in of an account. */
export type AccountSession = ResponseData["GET /api/admin/users/{id}/sessions"]["sessions"][number];

/** An app password of an account, without its folder. */
export type AppPassword = Schemas["AppPassword"];

/** A group as administrators see it. */
export type Group = ResponseData["GET /api/admin/groups"]["groups"][number];

/** A member of a group. */
export type GroupMember = ResponseData["GET /api/admin/groups/{id}/members"]["members"][number];

/** An invitation in the list. */
export type Invite = Schemas["Invite"];

/** The response of POST /api/admin/invites. */
export type NewInvite = ResponseData["POST /api/admin/invites"];

/** A plan with its current limits; null means no limit. */
export type Plan = Schemas["Plan"];

/** A scheduled job and its state. */
export type Job = Schemas["Job"];

/** The parts of GET /api/admin/stats that are shown. */
export type Stats = ResponseData["GET /api/admin/stats"];

/** A day of GET /api/admin/stats/history. */
export type Day = ResponseData["GET /api/admin/stats/history"]["days"][number];

/** GET /api/admin/health */
export type Health = ResponseData["GET /api/admin/health"];

/** A setting of GET /api/admin/config. */
export type Setting = ResponseData["GET /api/admin/config"]["settings"][number];

/** An entry of GET /api/admin/audit. */
export type AuditEntry = Schemas["AuditEntry"];

/** An entry of GET /api/admin/findings. */
export type Finding = Schemas["Finding"];

/** The events that webhooks can subscribe to. */
export const WEBHOOK_EVENTS = [
  "file.created",
  "file.updated",
  "file.moved",
  "file.deleted",
  "file.downloaded",
  "folder.created",
  "folder.deleted",
  "share.created",
  "share.revoked",
  "share.downloaded",
  "device.registered",
  "device.removed",
  "storage.warning",
  "user.created",
] as const;

/** A webhook. */
export type Webhook = Schemas["Webhook"];

/** A webhook with its secret, which can't be shown again. */
export type WebhookWithSecret = Schemas["WebhookWithSecret"];

/** One delivery. */
export type Delivery = Schemas["WebhookDelivery"];

/** An import as administrators see it. */
export type AccountImport = ResponseData["GET /api/admin/imports"]["imports"][number];
