import type { JobState } from "../../jobs/scheduler.ts";
import { toTimestamp } from "../../lib/clock.ts";
import type { presentIntegrity } from "../integrity/present.ts";
import { CATEGORIES, type Plan, WINDOW_SECONDS } from "../plans/plans.ts";
import type { AccountRow, Counted } from "./types.ts";

/** An account as administrators see it. @param plan the one it is on */
export function presentAccount(row: AccountRow, plan: Plan, hasTwoFactor: boolean) {
  const { quotaBytes } = row;
  return {
    id: row.publicId,
    email: row.email,
    name: row.name,
    role: row.role,
    plan: row.plan,
    quota: quotaBytes === null ? plan.quotaBytes : quotaBytes < 0 ? null : quotaBytes,
    quotaOverride: quotaBytes !== null,
    disabled: row.disabledAt !== null,
    createdAt: toTimestamp(row.createdAt),
    lastActiveAt: timestampOrNull(row.lastActiveAt),
    storage: { used: row.usedBytes, files: row.files, folders: row.folders },
    devices: row.devices,
    twoFactor: hasTwoFactor,
  };
}

/** A job in GET /api/admin/stats and GET /api/admin/jobs. */
export function presentJob(job: JobState) {
  return {
    name: job.name,
    description: job.description,
    schedule: job.schedule,
    isRunning: job.isRunning,
    lastStartedAt: timestampOrNull(job.lastStartedAtMs),
    lastFinishedAt: timestampOrNull(job.lastFinishedAtMs),
    lastResult: job.lastResult,
    lastError: job.lastError,
    nextRunAt: timestampOrNull(job.nextRunAtMs),
  };
}

/** What stats tells beside what is counted. */
export interface ServerState {
  readonly diskFreeBytes: number;
  readonly diskTotalBytes: number;
  readonly jobs: readonly JobState[];
  readonly integrity: ReturnType<typeof presentIntegrity>;
  readonly version: string;
  readonly startedAtMs: number;
  readonly nowMs: number;
}

/** GET /api/admin/stats. */
export function presentStats(counted: Counted, state: ServerState) {
  const { diskFreeBytes, diskTotalBytes, jobs, integrity, version, startedAtMs, nowMs } = state;
  return {
    users: counted.users,
    storage: { ...counted.storage, diskFreeBytes, diskTotalBytes },
    transfers: counted.transfers,
    uploadsUnderWay: counted.uploadsUnderWay,
    queues: counted.queues,
    requests: { period: "1h", ...counted.requests },
    integrity,
    jobs: jobs.map(presentJob),
    version,
    startedAt: toTimestamp(startedAtMs),
    uptimeSeconds: Math.max(0, Math.floor((nowMs - startedAtMs) / 1000)),
  };
}

/** A plan in GET /api/admin/plans. */
export function presentPlan(plan: Plan, isDefault: boolean) {
  return {
    name: plan.name,
    isDefault,
    maxFileSize: plan.maxFileSizeBytes,
    quota: plan.quotaBytes,
    devices: plan.devices,
    limits: Object.fromEntries(
      CATEGORIES.map((category) => [
        category,
        { limit: plan.limits[category], windowSeconds: WINDOW_SECONDS[category] },
      ]),
    ),
  };
}

function timestampOrNull(ms: number | null): string | null {
  return ms === null ? null : toTimestamp(ms);
}
