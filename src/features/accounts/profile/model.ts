import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { Timestamp } from "../../../http/fields.ts";
import { PROOF_FIELDS, SessionDevice } from "../auth/model.ts";
import { PLAN_NAMES, ROLES } from "../users/types.ts";

/** PUT /api/users/profile */
export const ProfileBody = t.Object({
  name: t.Optional(t.String()),
  email: t.Optional(t.String({ maxLength: 320 })),
  newPassword: t.Optional(t.String({ maxLength: 2048, description: "8 to 256 characters. Ends all other sessions" })),
  endKeys: t.Optional(t.Boolean({ description: "With newPassword: ends all API keys and app passwords too" })),
  ...PROOF_FIELDS,
});

/** DELETE /api/users/profile */
export const EraseBody = t.Object({
  password: t.Optional(t.String({ maxLength: 2048, description: "The same as currentPassword" })),
  ...PROOF_FIELDS,
});

const QuietHours = {
  enabled: t.Boolean(),
  start: t.String({ pattern: "^([01]\\d|2[0-3]):[0-5]\\d$", examples: ["22:00"] }),
  end: t.String({ pattern: "^([01]\\d|2[0-3]):[0-5]\\d$", examples: ["07:00"] }),
  timezone: t.String({ maxLength: 64, examples: ["Europe/Berlin"] }),
};
const Categories = { uploads: t.Boolean(), shares: t.Boolean(), storage: t.Boolean(), security: t.Boolean() };
const SETTINGS = {
  language: t.String({ examples: ["en"] }),
  timezone: t.String({ maxLength: 64, examples: ["Europe/Berlin"] }),
  theme: t.Union([t.Literal("system"), t.Literal("light"), t.Literal("dark")]),
  defaultView: t.Union([t.Literal("list"), t.Literal("grid")]),
  showNameToGuests: t.Boolean({ description: "Whether the pages of your links and drop boxes show your name" }),
};
const Versioning = { keep: Type.Integer({ minimum: 1, maximum: 100 }) };

/** PUT /api/users/settings: any part, at any depth. */
export const SettingsBody = t.Partial(
  t.Object({
    ...SETTINGS,
    notifications: t.Partial(t.Object({ ...Categories, quietHours: t.Partial(t.Object(QuietHours)) })),
    versioning: t.Partial(t.Object(Versioning)),
  }),
);

/** GET /api/users/settings */
export const SettingsRecord = t.Object({
  ...SETTINGS,
  notifications: t.Object({ ...Categories, quietHours: t.Object(QuietHours) }),
  versioning: t.Object(Versioning),
});

/** GET /api/users/profile */
export const ProfileRecord = t.Object({
  id: t.String(),
  email: t.String(),
  name: t.String(),
  role: t.String({ enum: [...ROLES] }),
  plan: t.String({ enum: [...PLAN_NAMES] }),
  createdAt: Timestamp,
  emailVerified: t.Boolean({
    description: "false: the email must be confirmed before this account shares, or opens shares for its email",
  }),
  avatar: t.Union([t.Object({ version: t.String() }), t.Null()], { description: "null without a picture" }),
});

/** GET /api/users/sessions */
export const SessionItem = t.Object({
  id: t.String(),
  kind: t.String({ enum: ["web", "mobile", "cli"] }),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  lastSeenAt: Timestamp,
  userAgent: t.Union([t.String(), t.Null()]),
  clientAddress: t.Union([t.String(), t.Null()]),
  isCurrent: t.Boolean(),
  device: t.Optional(SessionDevice),
});

const Count = Type.Integer({ minimum: 0 });
const CountOrNone = t.Union([Count, t.Null()]);

/** GET /api/users/usage */
export const UsageRecord = t.Object({
  storage: t.Object({
    used: Count,
    quota: CountOrNone,
    remaining: CountOrNone,
    percentage: t.Number(),
    files: Count,
    folders: Count,
    versions: Count,
    trash: Count,
  }),
  byType: t.Array(t.Object({ type: t.String(), files: Count, bytes: Count })),
  transfers: t.Object({
    period: t.String({ examples: ["2026-01"] }),
    uploads: Count,
    uploadedBytes: Count,
    downloads: Count,
    downloadedBytes: Count,
  }),
  devices: t.Object({ count: Count, limit: CountOrNone }),
  plan: t.Object({ name: t.String({ enum: [...PLAN_NAMES] }), maxFileSize: CountOrNone, maxNodes: CountOrNone }),
});

/** GET /api/users/usage/rate-limits */
export const RateLimitUsage = t.Object({
  period: t.String({ examples: ["1h"] }),
  endpoints: t.Array(
    t.Object({
      endpoint: t.String(),
      resource: t.String(),
      limit: t.Number(),
      used: t.Number(),
      remaining: t.Number(),
      usagePercentage: t.Number(),
      resetsAt: Timestamp,
    }),
  ),
  overallUsage: t.Object({
    totalRequests: t.Number(),
    successfulRequests: t.Number(),
    rateLimitedRequests: t.Number(),
    successRate: t.Number(),
  }),
});
