import type { LoadedConfig } from "../../../config/load.ts";
import { environmentName, SETTINGS_BY_KEY } from "../../../config/settings.ts";
import type { JobState } from "../../../jobs/scheduler.ts";
import { toTimestamp, timestampOrNull } from "../../../lib/clock.ts";
import { translateMessage } from "../../../translations/error-texts.ts";
import { acceptsKey, translateSettingText } from "../../../translations/setting-texts.ts";
import type { presentIntegrity } from "../../storage/integrity/present.ts";
import { RATE_CATEGORIES } from "../../../config/settings/plans.ts";
import { type Plan, WINDOW_SECONDS } from "../../accounts/plans/plans.ts";
import type { DailyTransfers } from "./daily-samples.ts";
import { problemsOf } from "./health.ts";
import type { AccountRow, ServerCounts, DailySample, ServerHealth } from "./types.ts";

const DAY_MS = 86_400_000;

/** An account as administrators see it. @param plan the plan of the account */
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
    emailVerified: row.emailUnconfirmedSince === null,
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

/** State of the server that GET /api/admin/stats shows in addition to counts. */
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
export function presentStats(counted: ServerCounts, state: ServerState) {
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
    maxNodes: plan.maxNodes,
    devices: plan.devices,
    limits: Object.fromEntries(
      RATE_CATEGORIES.map((category) => [
        category,
        { limit: plan.limits[category], windowSeconds: WINDOW_SECONDS[category] },
      ]),
    ),
  };
}

/** State that GET /api/admin/health shows in addition to the server's own. */
interface HealthContext {
  readonly queues: Readonly<Record<string, number>>;
  readonly jobs: readonly JobState[];
  readonly startedAtMs: number;
  readonly nowMs: number;
  /** Of the messages. */
  readonly language: string;
}

/** GET /api/admin/health. */
export function presentHealth(health: ServerHealth, { queues, jobs, startedAtMs, nowMs, language }: HealthContext) {
  const { notReady, disk, database, snapshots, certificateEndsAtMs, openFindings, bucket, versions, memoryBytes } =
    health;
  const problems = problemsOf(health, jobs, nowMs);
  return {
    status: problems[0]?.severity ?? ("ok" as const),
    problems: problems.map((problem) => ({ ...problem, message: translateMessage(problem.message, language) })),
    isReady: notReady === undefined,
    notReadyReason: notReady ?? null,
    disk,
    database: { bytes: database.bytes, logBytes: database.logBytes, fault: database.fault ?? null },
    snapshots: {
      count: snapshots.count,
      lastAt: timestampOrNull(snapshots.lastAtMs),
      lastBytes: snapshots.lastBytes,
    },
    openFindings,
    bucket:
      bucket === undefined
        ? null
        : {
            isUp: bucket.outage === undefined,
            problem: bucket.outage?.problem ?? null,
            since: timestampOrNull(bucket.outage?.sinceMs ?? null),
            waiting: bucket.waiting,
          },
    failedJobs: jobs.flatMap(({ name, lastError, lastFinishedAtMs }) =>
      lastError === null ? [] : [{ name, lastError, lastFinishedAt: timestampOrNull(lastFinishedAtMs) }],
    ),
    queues,
    certificateEndsAt: timestampOrNull(certificateEndsAtMs ?? null),
    versions,
    memoryBytes,
    startedAt: toTimestamp(startedAtMs),
    uptimeSeconds: Math.max(0, Math.floor((nowMs - startedAtMs) / 1000)),
  };
}

/** GET /api/admin/config. Of secrets, it shows only whether they are set. @param language of the texts about settings */
export function presentConfig(loaded: Pick<LoadedConfig, "values" | "sources" | "file">, language: string) {
  const settings = [...SETTINGS_BY_KEY].map(([key, setting]) => {
    const source = loaded.sources.get(key) ?? "default";
    return {
      key,
      value: setting.show(loaded.values.get(key) ?? setting.default),
      default: setting.show(setting.default),
      isDefault: source === "default",
      isSecret: setting.isSecret,
      source,
      environment: environmentName(key),
      accepts: translateSettingText(acceptsKey(setting.kind.accepts), setting.kind.accepts, language),
      help: translateSettingText(key, setting.help, language),
    };
  });
  return { file: loaded.file ?? null, settings };
}

/** The days of GET /api/admin/stats/history. */
export function presentHistory(samples: readonly (DailySample & { readonly transfers: DailyTransfers })[]) {
  return samples.map(({ day, sampledAtMs, transfers, ...totals }) => ({
    ...totals,
    ...transfers,
    date: new Date(day * DAY_MS).toISOString().slice(0, 10),
    sampledAt: toTimestamp(sampledAtMs),
  }));
}
