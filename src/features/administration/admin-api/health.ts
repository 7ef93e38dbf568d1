/** The problems of the server that need an administrator's attention. Pure functions. */
import { describeSize } from "../../../config/quantities.ts";
import type { JobState } from "../../../jobs/scheduler.ts";
import type { HealthProblem, ServerHealth } from "./types.ts";

const DAY_MS = 86_400_000;
/** A disk is nearly full if its free space is below both of these. */
const FREE_PART_MIN = 0.05;
const FREE_BYTES_MIN = 10 * 1024 ** 3;
const CERTIFICATE_MS_MIN = 14 * DAY_MS;

/** Worst first. */
export function problemsOf(health: ServerHealth, jobs: readonly JobState[], nowMs: number): HealthProblem[] {
  return [...errorsOf(health), ...warningsOf(health, jobs, nowMs)];
}

function* errorsOf({
  notReady,
  database,
  openFindings,
  bucket,
  replicaProblem,
}: ServerHealth): Generator<HealthProblem> {
  if (notReady !== undefined && notReady !== database.fault) {
    yield { severity: "error", about: "readiness", message: `The server accepts no requests: ${notReady}` };
  }
  if (database.fault !== undefined) yield { severity: "error", about: "database", message: database.fault };
  if (openFindings > 0) {
    const message = `${openFindings} ${openFindings === 1 ? "blob is" : "blobs are"} damaged or missing. To restore from a backup, run: larder heal`;
    yield { severity: "error", about: "findings", message };
  }
  if (bucket?.outage !== undefined) {
    const message =
      `${bucket.outage.problem} ${bucket.waiting === 1 ? "1 blob is" : `${bucket.waiting} blobs are`} stored only on this disk. ` +
      "Files stored only in the bucket can't be opened until it is available again.";
    yield { severity: "error", about: "bucket", message };
  }
  if (replicaProblem !== undefined) {
    const message = `${replicaProblem} Another machine that takes over now would lack the newest changes.`;
    yield { severity: "error", about: "replica", message };
  }
}

function* warningsOf(health: ServerHealth, jobs: readonly JobState[], nowMs: number): Generator<HealthProblem> {
  const { disk, certificateEndsAtMs } = health;
  if (disk.freeBytes < FREE_BYTES_MIN && disk.freeBytes < disk.totalBytes * FREE_PART_MIN) {
    yield warning(
      "disk",
      `The disk has only ${describeSize(disk.freeBytes)} left. Free up space, or add a larger disk.`,
    );
  }
  for (const { name, lastError } of jobs) {
    if (lastError !== null) yield warning("jobs", `The job ${name} failed: ${lastError}`);
  }
  if (certificateEndsAtMs !== undefined && certificateEndsAtMs - nowMs < CERTIFICATE_MS_MIN) {
    yield warning(
      "certificate",
      "The certificate expires within two weeks. Renew it; the server reloads it automatically.",
    );
  }
}

function warning(about: HealthProblem["about"], message: string): HealthProblem {
  return { severity: "warning", about, message };
}
