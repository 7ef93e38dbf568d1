/** Records of `/api/admin/*` and `/api/webhooks`. */
import type { Pagination, Role } from "../../api/types.ts";

/** Names of the plans. */
export const PLANS = ["free", "pro", "enterprise"] as const;
/** A plan. */
export type PlanName = (typeof PLANS)[number];
/** The roles, weakest first. */
export const ROLES = ["viewer", "user", "admin"] as const satisfies readonly Role[];

/** An account as administrators see it. */
export interface Account {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly plan: PlanName;
  /** The effective quota; null if there is none. */
  readonly quota: number | null;
  readonly quotaOverride: boolean;
  readonly disabled: boolean;
  readonly emailVerified: boolean;
  readonly createdAt: string;
  readonly lastActiveAt: string | null;
  readonly storage: { readonly used: number; readonly files: number; readonly folders: number };
  readonly devices: number;
  readonly twoFactor: boolean;
}

/** A link to set a password with. */
export interface PasswordLink {
  readonly url: string;
  readonly expiresAt: string;
}

/** GET /api/admin/users */
export interface AccountPage {
  readonly users: readonly Account[];
  readonly pagination: Pagination;
}

/** A sign-in of an account. */
export interface AccountSession {
  readonly id: string;
  readonly kind: string;
  readonly createdAt: string;
  readonly lastSeenAt: string;
  readonly userAgent: string | null;
  readonly clientAddress: string | null;
  readonly device?: { readonly id: string; readonly name: string };
}

/** A phone or tablet of an account. */
export interface AccountDevice {
  readonly id: string;
  readonly name: string;
  readonly platform: string;
}

/** An invitation in the list. */
export interface Invite {
  readonly id: string;
  readonly email: string | null;
  readonly role: Role;
  readonly plan: PlanName | null;
  readonly state: "open" | "used" | "expired";
  readonly createdAt: string;
  readonly createdBy: string | null;
  readonly expiresAt: string;
  readonly usedBy: string | null;
}

/** The response of POST /api/admin/invites. */
export interface NewInvite extends Invite {
  readonly url: string;
  readonly mailed: boolean;
}

/** A plan with its current limits; null means no limit. */
export interface Plan {
  readonly name: PlanName;
  readonly isDefault: boolean;
  readonly maxFileSize: number;
  readonly quota: number | null;
  readonly maxNodes: number | null;
  readonly devices: number | null;
  readonly limits: Readonly<Record<string, { readonly limit: number | null; readonly windowSeconds: number }>>;
}

/** A scheduled job and its state. */
export interface Job {
  readonly name: string;
  readonly description: string;
  readonly schedule: string;
  readonly isRunning: boolean;
  readonly lastFinishedAt: string | null;
  readonly lastResult: string | null;
  readonly lastError: string | null;
  readonly nextRunAt: string | null;
}

/** The parts of GET /api/admin/stats that are shown. */
export interface Stats {
  readonly users: { readonly total: number; readonly active: number; readonly disabled: number };
  readonly storage: {
    readonly usedBytes: number;
    readonly files: number;
    readonly folders: number;
    readonly versionsBytes: number;
    readonly trashBytes: number;
    readonly blobs: number;
    readonly blobBytes: number;
    readonly diskFreeBytes: number;
    readonly diskTotalBytes: number;
  };
  readonly integrity: { readonly readWithinDays: number | null; readonly scrubWithinDays: number };
}

/** A day of GET /api/admin/stats/history. */
export interface Day {
  readonly date: string;
  readonly sampledAt: string;
  readonly users: number;
  readonly activeUsers: number;
  readonly files: number;
  readonly folders: number;
  readonly usedBytes: number;
  readonly storedBytes: number;
  readonly diskFreeBytes: number;
  readonly uploadedBytes: number | null;
  readonly downloadedBytes: number | null;
}

/** GET /api/admin/health */
export interface Health {
  readonly status: "ok" | "warning" | "error";
  readonly problems: readonly {
    readonly severity: "warning" | "error";
    readonly about: string;
    readonly message: string;
  }[];
  readonly isReady: boolean;
  readonly notReadyReason: string | null;
  readonly disk: { readonly freeBytes: number; readonly totalBytes: number };
  readonly database: { readonly bytes: number; readonly logBytes: number; readonly fault: string | null };
  readonly snapshots: { readonly count: number; readonly lastAt: string | null };
  readonly openFindings: number;
  readonly bucket: { readonly isUp: boolean; readonly since: string | null; readonly waiting: number } | null;
  readonly failedJobs: readonly { readonly name: string; readonly lastError: string }[];
  readonly queues: Readonly<Record<string, number>>;
  readonly certificateEndsAt: string | null;
  readonly versions: {
    readonly larder: string;
    readonly commit: string;
    readonly bun: string;
    readonly sqlite: string;
  };
  readonly memoryBytes: number;
  readonly startedAt: string;
}

/** A setting of GET /api/admin/config. */
export interface Setting {
  readonly key: string;
  readonly value: string;
  readonly default: string;
  readonly isDefault: boolean;
  readonly isSecret: boolean;
  readonly source: string;
  readonly environment: string;
  readonly accepts: string;
  readonly help: string;
}

interface Person {
  readonly id: string | null;
  readonly email: string | null;
}

/** An entry of GET /api/admin/audit. */
export interface AuditEntry {
  readonly id: string;
  readonly at: string;
  readonly action: string;
  readonly outcome: "done" | "refused" | "failed";
  readonly reason: string | null;
  readonly target: { readonly type: string; readonly id: string | null } | null;
  readonly clientAddress: string | null;
  readonly userAgent: string | null;
  readonly times: number;
  readonly user: Person | null;
  readonly account: Person | null;
  readonly via: { readonly kind: string; readonly name: string | null };
  readonly details: Readonly<Record<string, unknown>>;
}

/** An entry of GET /api/admin/findings. */
export interface Finding {
  readonly id: string;
  readonly kind: string;
  readonly checksum: string | null;
  readonly size: number | null;
  readonly detail: string;
  readonly files: number;
  readonly foundAt: string;
  readonly resolvedAt: string | null;
  readonly resolution: string | null;
}

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
export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly active: boolean;
  readonly stoppedBecause: string | null;
  readonly failures: number;
  readonly waiting: number;
}

/** A webhook with its secret, which can't be shown again. */
export interface WebhookWithSecret extends Webhook {
  readonly secret: string;
}

/** One delivery. */
export interface Delivery {
  readonly id: string;
  readonly event: string;
  readonly status: "queued" | "delivered" | "failed";
  readonly attempts: number;
  readonly responseStatus: number | null;
  readonly error: string | null;
  readonly createdAt: string;
}
