import { describeSize } from "../../config/quantities.ts";
import type { Config } from "../../config/settings.ts";
import type { Reader } from "../../db/reader.ts";
import type { DiskReserve } from "../../db/reserve.ts";
import { isDamage, type Writer } from "../../db/transaction.ts";
import type { Job } from "../../jobs/scheduler.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { Collector } from "./integrity/gc.ts";
import { quickCheck } from "./integrity/quick-check.ts";
import type { Scrub } from "./integrity/scrub.ts";
import type { Integrity } from "./integrity/service.ts";
import { readMoveRequest, REMOTE_STORE_JOB, type RemoteStoreService } from "./remote-store/service.ts";
import type { Snapshots } from "./snapshots/service.ts";
import { forgetNewer } from "./store-journal/newer-objects.ts";
import { journalRoot } from "./store-journal/open.ts";

/** Dependencies of {@link storageJobs}. */
interface StorageJobsOptions {
  readonly config: Pick<Config, "scrub" | "s3">;
  readonly clock: Clock;
  readonly log: Log;
  readonly paths: { readonly blobs: string };
  readonly reader: Reader;
  readonly writer: Writer;
  readonly reserve: DiskReserve;
  readonly collector: Collector;
  readonly scrub: Scrub;
  readonly integrity: Integrity;
  readonly snapshots: Snapshots;
  readonly remoteStore: RemoteStoreService | undefined;
}

/** Name of the job that checks the database for damage, also soon after each start. */
export const QUICK_CHECK_JOB = "quick-check";

/** Name of the job that copies the database. A small database that has changed wakes it earlier. */
export const SNAPSHOT_JOB = "snapshot";

/** Also started after a takeover. */
export const BUCKET_RECONCILIATION_JOB = "bucket-stock";

const FIRST_BYTES = 256;
/** How long changes that are newer than a restored snapshot can be restored. */
const NEWER_AGE_MS = 30 * 24 * 60 * 60 * 1000;
/** Folders of the store that one run searches for files without a row: the whole store in a week. */
const FOLDERS_PER_RUN = 37;

/** Garbage collection, scrubs, snapshots and checks. */
export function storageJobs(options: StorageJobsOptions): Job[] {
  const { clock, paths, snapshots, reserve, remoteStore } = options;
  return [
    gcJob(options),
    {
      name: SNAPSHOT_JOB,
      schedule: "*/10 * * * *",
      description: "Takes a snapshot of the database if it has changed, and thins out old snapshots.",
      async run({ isRequested }) {
        const taken =
          isRequested && !snapshots.isDue() ? await snapshots.take("requested") : await snapshots.takeWhenDue();
        return taken === undefined ? "not due" : `${taken.name}, ${describeSize(taken.sizeBytes)}`;
      },
    },
    leftoversJob(options),
    ...(remoteStore === undefined ? [] : remoteStoreJobs(remoteStore, options)),
    scrubJob(options),
    {
      name: "newer-notes",
      schedule: "53 3 * * *",
      description: "Removes changes recorded after a restored snapshot, 30 days after the restore.",
      deletesByAge: true,
      run: async () => `${await forgetNewer(journalRoot(paths.blobs), clock.nowMs() - NEWER_AGE_MS)} removed`,
    },
    quickCheckJob(options),
    {
      name: "disk-reserve",
      schedule: "*/5 * * * *",
      description: "Reserves a few megabytes for the database in case the disk becomes full.",
      async run() {
        reserve.take();
        return "done";
      },
    },
  ];
}

function gcJob({ collector, snapshots, writer, log }: StorageJobsOptions): Job {
  return {
    name: "gc",
    schedule: "17 3 * * *",
    description: "Garbage collection: removes unreferenced blobs after their grace period.",
    deletesByAge: true,
    async run({ signal, arguments: given }) {
      rejectDamaged(writer);
      const isNow = typeof given === "object" && given !== null && "now" in given && given.now === true;
      if (!isNow) return JSON.stringify(await collector.run(signal));
      await snapshotBeforeCollecting({ snapshots, writer, log });
      return snapshots.whileStill(async () => {
        const snapshotsRemoved = snapshots.removeOlder();
        return JSON.stringify({ ...(await collector.run(signal, isNow)), snapshotsRemoved });
      });
    },
  };
}

function leftoversJob({ collector, writer }: StorageJobsOptions): Job {
  return {
    name: "leftovers",
    schedule: "47 3 * * *",
    description: "Moves blobs that a crash left without a database row to quarantine/.",
    async run({ signal, cursor, setCursor }) {
      rejectDamaged(writer);
      let next = Number(cursor ?? 0);
      let found = 0;
      for (let count = 0; count < FOLDERS_PER_RUN && !signal.aborted; count++) {
        found += await collector.sweepLeftovers(next.toString(16).padStart(2, "0"));
        next = (next + 1) % FIRST_BYTES;
      }
      await setCursor(String(next));
      return `${found} blobs moved to quarantine`;
    },
  };
}

function scrubJob({ scrub }: StorageJobsOptions): Job {
  return {
    name: "scrub",
    schedule: "7 1 * * *",
    description: "Scrub: verifies stored blobs, least recently verified first, and checks the database.",
    async run({ signal, isRequested }) {
      const done = await scrub.run(signal, isRequested === true);
      if (done === undefined) return "turned off (scrub.rate)";
      const { contents, bytes, found, problems, isDone } = done;
      const summary = `${contents} blobs read, ${describeSize(bytes)}; ${found + problems} new findings`;
      return isDone ? summary : `${summary}; the next run continues`;
    },
  };
}

function quickCheckJob({ reader, writer, integrity }: StorageJobsOptions): Job {
  return {
    name: QUICK_CHECK_JOB,
    schedule: "53 3 * * *",
    description: "Checks the structure of the database for damage.",
    async run() {
      const problems = await checkDatabase({ reader, writer });
      if (problems.length === 0) return "ok";
      writer.noteDamage(problems.join("; "));
      await integrity.noteDatabase(problems);
      throw new Error(`The database is damaged: ${problems.join("; ")}`);
    },
  };
}

/** Jobs for the bucket. A command can pass options to the first one ({@link MoveRequest}). */
function remoteStoreJobs(
  remoteStore: RemoteStoreService,
  { config, clock }: Pick<StorageJobsOptions, "config" | "clock">,
): Job[] {
  return [
    {
      name: REMOTE_STORE_JOB,
      schedule: "* * * * *",
      description: "Sends blobs to the bucket, and evicts unused local copies.",
      run: ({ signal, arguments: given }) => remoteStore.run(signal, readMoveRequest(given)),
    },
    {
      name: BUCKET_RECONCILIATION_JOB,
      schedule: "29 5 * * *",
      description: "Compares the bucket with the database, and registers new objects.",
      run: ({ signal }) => remoteStore.reconcileBucket(signal),
    },
    {
      name: "bucket-scrub",
      schedule: "37 1 * * *",
      description: "Scrub of the bucket: verifies blobs stored only there, least recently verified first (s3.scrub).",
      async run({ signal, isRequested }) {
        const { scrub, s3 } = config;
        if (!s3.scrub || s3.verifyRateBytes === 0) return "turned off (s3.scrub)";
        // Like the scrub of the store: blobs are due after half of the interval, because nights are missed.
        const ageMs = isRequested === true ? 0 : Math.floor(scrub.withinMs / 2);
        const { contents, bytes, found, isDone } = await remoteStore.readObjects(
          { rateBytes: s3.verifyRateBytes, untilMs: clock.nowMs() - ageMs, maxTimeMs: scrub.maxTimeMs },
          signal,
        );
        const summary = `${contents} blobs read, ${describeSize(bytes)}; ${found} new findings`;
        return isDone ? summary : `${summary}; the next run continues`;
      },
    },
  ];
}

/** Checks the database. Damage that prevents the check itself is recorded too. @returns the problems */
async function checkDatabase({
  reader,
  writer,
}: Pick<StorageJobsOptions, "reader" | "writer">): Promise<readonly string[]> {
  try {
    return await quickCheck(reader);
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    if (isDamage(cause)) writer.noteDamage(String(cause));
    throw error;
  }
}

/** Nothing may be deleted based on a damaged database: blobs that its good copies name may be missing in it. */
function rejectDamaged({ isDamaged }: Pick<Writer, "isDamaged">): void {
  if (isDamaged) throw new Error("The database is damaged. Nothing is removed from the store until it is restored.");
}

/**
 * Takes a snapshot, because older ones may name the blobs that garbage collection is about to delete. On a full disk,
 * it is skipped.
 */
async function snapshotBeforeCollecting({
  snapshots,
  writer,
  log,
}: Pick<StorageJobsOptions, "snapshots" | "writer" | "log">): Promise<void> {
  try {
    await snapshots.take("before-collection");
  } catch (error) {
    rejectDamaged(writer);
    log.warn("Could not take a snapshot before garbage collection; continuing without it.", { error });
  }
}
