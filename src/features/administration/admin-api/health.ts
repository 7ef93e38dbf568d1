/** The problems of the server that need an administrator's attention. Pure functions. */
import { describeSize } from "../../../config/quantities.ts";
import type { JobState } from "../../../jobs/scheduler.ts";
import { type Message, plural, say, sayText, size } from "../../../translations/say.ts";
import type { HealthProblem, ServerHealth } from "./types.ts";

const DAY_MS = 86_400_000;
/** See {@link isNearlyFull}. */
const FREE_PART_MIN = 0.05;
const FREE_BYTES_MIN = 10 * 1024 ** 3;
const CERTIFICATE_MS_MIN = 14 * DAY_MS;

/** Whether the free space of a disk is below both limits. */
export function isNearlyFull({ freeBytes, totalBytes }: ServerHealth["disk"]): boolean {
  return freeBytes < FREE_BYTES_MIN && freeBytes < totalBytes * FREE_PART_MIN;
}

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
    yield error("readiness", say`The server is not ready: ${notReady}`);
  }
  if (database.fault !== undefined) yield error("database", sayText(database.fault));
  if (openFindings > 0) {
    yield error(
      "findings",
      say`${plural(openFindings, { one: "# blob is damaged or missing.", other: "# blobs are damaged or missing." })} To restore from a backup, run: larder heal`,
    );
  }
  if (bucket?.outage !== undefined) {
    yield error(
      "bucket",
      say`${bucket.outage.problem} ${plural(bucket.waiting, { one: "# blob is stored only on this disk.", other: "# blobs are stored only on this disk." })} Files stored only in the bucket can't be opened until it is available again.`,
    );
  }
  if (replicaProblem !== undefined) {
    yield error("replica", say`${replicaProblem} Another machine that takes over now would lack the newest changes.`);
  }
}

function* warningsOf(health: ServerHealth, jobs: readonly JobState[], nowMs: number): Generator<HealthProblem> {
  const { disk, certificateEndsAtMs } = health;
  if (isNearlyFull(disk)) {
    yield warning(
      "disk",
      say`The disk has only ${size(disk.freeBytes, describeSize(disk.freeBytes))} left. Free up space, or add a larger disk.`,
    );
  }
  for (const { name, lastError } of jobs) {
    if (lastError !== null) yield warning("jobs", say`The job ${name} failed: ${lastError}`);
  }
  if (certificateEndsAtMs !== undefined && certificateEndsAtMs - nowMs < CERTIFICATE_MS_MIN) {
    yield warning(
      "certificate",
      say`The certificate expires within two weeks. Renew it; the server reloads it automatically.`,
    );
  }
}

function error(about: HealthProblem["about"], message: Message): HealthProblem {
  return { severity: "error", about, message };
}

function warning(about: HealthProblem["about"], message: Message): HealthProblem {
  return { severity: "warning", about, message };
}
