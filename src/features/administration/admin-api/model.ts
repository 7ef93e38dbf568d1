import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { ref } from "../../../http/documented.ts";
import { Timestamp } from "../../../http/fields.ts";
import { PROOF_FIELDS } from "../../accounts/auth/model.ts";
import { IntegrityRecord } from "../../storage/integrity/model.ts";
import { STORAGE_KINDS } from "./storage-usage.ts";
import { PLAN_NAMES, ROLES } from "../../accounts/users/types.ts";

const Count = Type.Integer({ minimum: 0 });
const CountOrNone = t.Union([Count, t.Null()]);
const TimestampOrNone = t.Union([Timestamp, t.Null()]);
const Role = t.Union([t.Literal("admin"), t.Literal("user"), t.Literal("viewer")]);
const Plan = t.Union([t.Literal("free"), t.Literal("pro"), t.Literal("enterprise")]);
const Quota = t.Union([Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), t.Null(), t.Literal("plan")], {
  description: 'Bytes; null for no limit; "plan" for the limit of the plan',
});
const Password = t.String({ minLength: 8, maxLength: 2048, description: "8 to 256 characters, any Unicode" });
const Email = t.String({ maxLength: 320 });

/** POST /api/admin/users */
export const NewAccountBody = t.Object({
  email: Email,
  name: t.Optional(t.String()),
  password: t.Optional(Password),
  role: t.Optional(Role),
  plan: t.Optional(Plan),
  quota: t.Optional(Quota),
  ...PROOF_FIELDS,
});

/** PATCH /api/admin/users/{id} */
export const AccountBody = t.Object({
  email: t.Optional(Email),
  name: t.Optional(t.String()),
  password: t.Optional(Password),
  role: t.Optional(Role),
  plan: t.Optional(Plan),
  quota: t.Optional(Quota),
  disabled: t.Optional(t.Boolean()),
  emailVerified: t.Optional(
    t.Boolean({
      description:
        "true: the email belongs to the owner, and shares that wait for it open; false: it must be confirmed, if " +
        "mail.verify is on",
    }),
  ),
  endKeys: t.Optional(t.Boolean({ description: "With password: ends all API keys and app passwords too" })),
  ...PROOF_FIELDS,
});

/** An account as administrators see it. */
export const AccountRecord = t.Object({
  id: t.String(),
  email: t.String(),
  name: t.String(),
  role: t.String({ enum: [...ROLES] }),
  plan: t.String({ enum: [...PLAN_NAMES] }),
  quota: t.Union([Count, t.Null()], { description: "The effective value; null for none" }),
  quotaOverride: t.Boolean({ description: "Whether it is set for the account, not by the plan" }),
  disabled: t.Boolean(),
  emailVerified: t.Boolean({ description: "false: the email is not confirmed yet" }),
  createdAt: Timestamp,
  lastActiveAt: TimestampOrNone,
  storage: t.Object({ used: Count, files: Count, folders: Count }),
  devices: Count,
  twoFactor: t.Boolean(),
});

/** GET /api/admin/users */
export const AccountPageRecord = {
  type: "object",
  required: ["users", "pagination"],
  properties: { users: t.Array(AccountRecord), pagination: ref("Pagination") },
};

/** The response of POST /api/admin/users. */
export const NewAccountRecord = t.Intersect([
  AccountRecord,
  t.Object({
    passwordLink: t.Optional(
      t.Object(
        { url: t.String(), expiresAt: Timestamp },
        { description: "If no password was given: link to set one; works once" },
      ),
    ),
  }),
]);

/** POST /api/admin/users/{id}/reset-link */
export const ResetLinkRecord = t.Object({ url: t.String(), expiresAt: Timestamp });

/** A job and its state. */
export const JobRecord = t.Object({
  name: t.String(),
  description: t.String(),
  schedule: t.String({ description: "Cron pattern, in the server's time zone" }),
  isRunning: t.Boolean(),
  lastStartedAt: TimestampOrNone,
  lastFinishedAt: TimestampOrNone,
  lastResult: t.Union([t.String(), t.Null()]),
  lastError: t.Union([t.String(), t.Null()]),
  nextRunAt: TimestampOrNone,
});

const ByName = t.Record(t.String(), Count);

/** GET /api/admin/stats */
export const StatsRecord = t.Object({
  users: t.Object({
    total: Count,
    active: Type.Integer({ description: "Enabled, and seen within 30 days" }),
    disabled: Count,
    byPlan: ByName,
    byRole: ByName,
  }),
  storage: t.Object({
    usedBytes: Count,
    files: Count,
    folders: Count,
    versionsBytes: Count,
    trashBytes: Count,
    blobs: Count,
    blobBytes: Type.Integer({ description: "Blobs in the store; equal content counts once" }),
    diskFreeBytes: Count,
    diskTotalBytes: Count,
  }),
  transfers: t.Object({
    period: t.String({ examples: ["2026-01"] }),
    uploads: Count,
    uploadedBytes: Count,
    downloads: Count,
    downloadedBytes: Count,
  }),
  uploadsUnderWay: Count,
  queues: t.Record(t.String(), Count, { description: "Waiting to be sent or processed" }),
  requests: t.Object({
    period: t.String({ examples: ["1h"] }),
    accepted: Count,
    refused: Type.Integer({ description: "For their rate" }),
  }),
  integrity: IntegrityRecord,
  jobs: t.Array(JobRecord),
  version: t.String(),
  startedAt: Timestamp,
  uptimeSeconds: Count,
});

/** A plan with its current numbers; null for no limit. */
export const PlanRecord = t.Object({
  name: t.String({ enum: [...PLAN_NAMES] }),
  isDefault: t.Boolean(),
  maxFileSize: Count,
  quota: CountOrNone,
  maxNodes: t.Union([Count, t.Null()], {
    description: "Files and folders, including the trash; null for no limit",
  }),
  devices: CountOrNone,
  limits: t.Record(t.String(), t.Object({ limit: CountOrNone, windowSeconds: Count })),
});

/** GET /api/admin/health */
export const HealthRecord = t.Object({
  status: t.String({ enum: ["ok", "warning", "error"], description: "The worst of the problems" }),
  problems: t.Array(
    t.Object({
      severity: t.String({ enum: ["warning", "error"] }),
      about: t.String({
        enum: ["readiness", "disk", "database", "findings", "bucket", "replica", "jobs", "certificate"],
      }),
      message: t.String(),
    }),
    { description: "The worst first" },
  ),
  isReady: t.Boolean(),
  notReadyReason: t.Union([t.String(), t.Null()]),
  disk: t.Object({ freeBytes: Count, totalBytes: Count }),
  database: t.Object({ bytes: Count, logBytes: Count, fault: t.Union([t.String(), t.Null()]) }),
  snapshots: t.Object({ count: Count, lastAt: TimestampOrNone, lastBytes: CountOrNone }),
  openFindings: Count,
  bucket: t.Union(
    [
      t.Object({
        isUp: t.Boolean(),
        problem: t.Union([t.String(), t.Null()], { description: "Why it is disabled" }),
        since: t.Union([Timestamp, t.Null()], { description: "When it was disabled" }),
        waiting: Type.Integer({ description: "Blobs that are only on this disk; counted up to 100,000" }),
      }),
      t.Null(),
    ],
    { description: "null if none is set up" },
  ),
  failedJobs: t.Array(t.Object({ name: t.String(), lastError: t.String(), lastFinishedAt: TimestampOrNone })),
  queues: t.Record(t.String(), Count, { description: "Waiting to be sent or processed" }),
  certificateEndsAt: TimestampOrNone,
  versions: t.Object({ larder: t.String(), commit: t.String(), bun: t.String(), sqlite: t.String() }),
  memoryBytes: Type.Integer({ description: "Resident memory of the server" }),
  startedAt: Timestamp,
  uptimeSeconds: Count,
});

/** GET /api/admin/config */
export const ConfigRecord = t.Object({
  file: t.Union([t.String(), t.Null()], { description: "The configuration file that was read" }),
  settings: t.Array(
    t.Object({
      key: t.String({ examples: ["plans.free.quota"] }),
      value: t.String({ description: "As it is written in the configuration; (set) for a secret" }),
      default: t.String(),
      isDefault: t.Boolean(),
      isSecret: t.Boolean(),
      source: t.String({ examples: ["default", "LARDER_PORT", "/srv/larder/larder.toml:3"] }),
      environment: t.String({ description: "The variable that sets it" }),
      accepts: t.String({ description: "What can be written" }),
      help: t.String({ description: "In the language of the reader" }),
    }),
  ),
});

/** GET /api/admin/stats/history */
export const HistoryRecord = t.Object({
  days: t.Array(
    t.Object({
      date: t.String({ format: "date" }),
      sampledAt: Timestamp,
      users: Count,
      activeUsers: Count,
      files: Count,
      folders: Count,
      usedBytes: Type.Integer({ description: "Everything that counts toward quotas" }),
      versionsBytes: Count,
      trashBytes: Count,
      contents: Type.Integer({ description: "In the store; equal content counts once" }),
      storedBytes: Count,
      diskFreeBytes: Count,
      diskTotalBytes: Count,
      uploads: t.Union([Count, t.Null()], {
        description: "On that day; null if the day before was not sampled",
      }),
      uploadedBytes: CountOrNone,
      downloads: CountOrNone,
      downloadedBytes: CountOrNone,
    }),
  ),
});

/** GET /api/admin/stats/storage */
export const StorageUsageRecord = t.Object({
  people: t.Array(
    t.Object({
      id: t.String(),
      name: t.String(),
      email: t.String(),
      filesBytes: Count,
      versionsBytes: Count,
      trashBytes: Count,
    }),
    { description: "The 50 accounts that use most, largest first" },
  ),
  others: t.Object({ accounts: Count, bytes: Count }, { description: "All further accounts" }),
  kinds: t.Array(t.Object({ kind: t.String({ enum: [...STORAGE_KINDS] }), files: Count, bytes: Count }), {
    description: "Files only, without earlier versions and trash",
  }),
  texts: t.Object(
    {
      isFilling: t.Boolean({ description: "Whether the files that existed before the index are still being read" }),
      indexed: Count,
      waiting: Count,
      unread: Type.Array(t.Object({ reason: t.String(), count: Count }), {
        description: "Files without text, or whose text can't be read, by reason",
      }),
      textBytes: Count,
      indexBytes: Type.Integer({ description: "Of the words" }),
      fileBytes: Type.Integer({ description: "Of the words and the compressed texts" }),
    },
    { description: "The index of the texts of files; all 0 if it is off" },
  ),
});

export const PAGE_LIMIT_MAX = 100;
export const PAGE_LIMIT_DEFAULT = 20;
export const DAYS_MAX = 731;
