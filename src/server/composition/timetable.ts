/** Every scheduled job on one page: name, schedule, what it calls. Each does a bounded piece and may be killed at any point. */
import { describeSize } from "../../config/quantities.ts";
import { rows } from "../../db/reader.ts";
import { isDamage } from "../../db/transaction.ts";
import { REMOTE_STORE_JOB, readMoveRequest } from "../../features/storage/remote-store/service.ts";
import { reachOf } from "../../features/library/history/service.ts";
import { journalRoot } from "../../features/storage/store-journal/open.ts";
import { forgetNewer } from "../../features/storage/store-journal/newer-objects.ts";
import { UNDO_MS } from "../../tree/tables/undo.ts";
import { sweepErased } from "../../features/accounts/profile/erase-account.ts";
import { readSettings } from "../../features/accounts/users/settings.ts";
import type { Job } from "../../jobs/scheduler.ts";
import type { Services } from "./services.ts";

const SWEEP_ROWS = 1_000;
const REAP_REST_MS = 5;
/** A device that was away for longer begins anew (contract, section 7). */
const JOURNAL_AGE_MS = 90 * 24 * 60 * 60 * 1000;
const FIRST_BYTES = 256;
/** How long what is newer than a database that was put back can still be brought into it. */
const NEWER_AGE_MS = 30 * 24 * 60 * 60 * 1000;
/** Folders of the store looked through per run for files without a row; the whole store in a week of nights. */
const FOLDERS_PER_RUN = 37;

/** Name of the job that looks for damage, also soon after each start (D45). */
export const QUICK_CHECK_JOB = "quick-check";

/** Name of the job that takes deleted folders apart; it is also woken by each such deletion. */
export const REAP_JOB = "reap-deleted";

/** Name of the job that copies the database; woken earlier where the database is small and has changed. */
export const SNAPSHOT_JOB = "snapshot";

/** The jobs of this server. */
export function timetable(services: Omit<Services, "close">): Job[] {
  const {
    auth,
    apiKeys,
    users,
    limiter,
    idempotency,
    collector,
    snapshots,
    tree,
    treeWriter,
    writer,
    db,
    clock,
    config,
  } = services;
  return [
    {
      name: "gc",
      schedule: "17 3 * * *",
      description: "Garbage collection: removes unreferenced blobs after their grace period.",
      deletesByAge: true,
      async run({ signal, arguments: given }) {
        rejectDamaged(writer);
        const isNow = typeof given === "object" && given !== null && "now" in given && given.now === true;
        if (!isNow) return JSON.stringify(await collector.run(signal));
        await snapshotBeforeCollecting(services);
        return snapshots.whileStill(async () => {
          const snapshotsRemoved = snapshots.removeOlder();
          return JSON.stringify({ ...(await collector.run(signal, isNow)), snapshotsRemoved });
        });
      },
    },
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
    {
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
    },
    ...(services.remoteStore === undefined ? [] : remoteStoreJobs(services.remoteStore, services)),
    {
      name: "scrub",
      schedule: "7 1 * * *",
      description: "Scrub: verifies stored blobs, least recently verified first, and checks the database.",
      async run({ signal, isRequested }) {
        const done = await services.scrub.run(signal, isRequested === true);
        if (done === undefined) return "turned off (scrub.rate)";
        const { contents, bytes, found, problems, isDone } = done;
        const sum = `${contents} blobs read, ${describeSize(bytes)}; ${found + problems} new findings`;
        return isDone ? sum : `${sum}; the next run continues`;
      },
    },
    {
      name: REAP_JOB,
      schedule: "*/10 * * * *",
      description: "Removes the rows of deleted folders and accounts, a few files at a time.",
      async run({ signal }) {
        let removed = 0;
        while (!signal.aborted) {
          const some = await writer.run((tx) => treeWriter.reapSome(tx));
          if (some === 0) break;
          removed += some;
          // Everybody else's turn: what is deleted is gone already, only its rows are not.
          await Bun.sleep(REAP_REST_MS);
        }
        const accounts = await sweepErased({ db, writer });
        return `${removed} items, ${accounts} accounts removed`;
      },
    },
    {
      name: "trash",
      schedule: "19 * * * *",
      description: "Permanently deletes items whose time in the trash has expired.",
      deletesByAge: true,
      run: async ({ signal }) => `${await services.trash.sweep(signal)} files and folders deleted`,
    },
    {
      name: "newer-notes",
      schedule: "53 3 * * *",
      description: "Removes changes recorded after a restored snapshot, 30 days after the restore.",
      deletesByAge: true,
      run: async () => `${await forgetNewer(journalRoot(services.paths.blobs), clock.nowMs() - NEWER_AGE_MS)} removed`,
    },
    {
      name: "old-versions",
      schedule: "7 4 * * *",
      description: "Removes earlier versions that exceed the number or age to keep.",
      deletesByAge: true,
      async run({ signal }) {
        let pruned = 0;
        let afterNodeId = 0;
        const kept = new Map<number, number>();
        const keepOf = (accountId: number) => {
          const keep =
            kept.get(accountId) ?? readSettings(users.settingsJson(accountId), config.versions.keep).versioning.keep;
          kept.set(accountId, keep);
          return keep;
        };
        do {
          const options = {
            keepOf,
            olderThanMs: clock.nowMs() - config.versions.maxAgeMs,
            limit: SWEEP_ROWS,
            afterNodeId,
          };
          const { removed, nextNodeId } = await writer.run((tx) => treeWriter.pruneVersions(tx, options));
          pruned += removed;
          afterNodeId = nextNodeId;
        } while (afterNodeId > 0 && !signal.aborted);
        return `${pruned} versions removed`;
      },
    },
    {
      name: "history",
      schedule: "13 4 * * *",
      description: "Removes previous locations of files and folders that are older than the history limit.",
      deletesByAge: true,
      async run({ signal }) {
        const olderThanMs = clock.nowMs() - reachOf(config.versions.maxAgeMs);
        let removed = 0;
        for (const { id } of users.list()) {
          for (let some = SWEEP_ROWS; some === SWEEP_ROWS && !signal.aborted; removed += some) {
            some = await writer.run((tx) => treeWriter.sweepHistory(tx, id, olderThanMs, SWEEP_ROWS));
            await Bun.sleep(REAP_REST_MS);
          }
        }
        return `${removed} rows removed`;
      },
    },
    {
      name: "journal",
      schedule: "27 4 * * *",
      description: "Removes journal entries of deletions older than 90 days and of superseded changes.",
      deletesByAge: true,
      async run({ signal }) {
        const olderThanMs = clock.nowMs() - JOURNAL_AGE_MS;
        let looked = 0;
        for (const { id } of users.list()) {
          let afterSeq = 0;
          do {
            afterSeq = await writer.run((tx) => treeWriter.sweepJournal(tx, id, olderThanMs, afterSeq));
            looked++;
            await Bun.sleep(REAP_REST_MS);
          } while (afterSeq > 0 && !signal.aborted);
          if (signal.aborted) break;
        }
        return `${looked} steps`;
      },
    },
    {
      name: "sessions",
      schedule: "23 * * * *",
      description: "Removes expired sessions and refresh tokens.",
      deletesByAge: true,
      run: async () => `${await auth.sweepSessions(SWEEP_ROWS)} sessions and refresh tokens removed`,
    },
    {
      name: "api-keys",
      schedule: "19 4 * * *",
      description: "Removes records of API keys that were deleted more than 90 days ago.",
      deletesByAge: true,
      run: async () => `${await apiKeys.sweep(SWEEP_ROWS)} keys removed`,
    },
    {
      name: "mail",
      schedule: "33 * * * *",
      description: "Drops emails that could not be sent in time, and removes delivery results after one week.",
      deletesByAge: true,
      async run() {
        const { mail, passwordReset, emailConfirmation } = services;
        const [mails, links, confirmations] = await writer.run((tx) => [
          mail.sweep(tx, SWEEP_ROWS),
          passwordReset.sweep(SWEEP_ROWS),
          emailConfirmation.sweep(SWEEP_ROWS),
        ]);
        return (
          `${mails} emails dropped or removed, ${links} password reset links removed, ` +
          `${confirmations} confirmation links removed`
        );
      },
    },
    {
      name: "audit",
      schedule: "11 4 * * *",
      description: "Removes audit log entries that are older than audit.keep.",
      deletesByAge: true,
      run: async ({ signal }) => `${await services.audit.sweep(signal)} entries removed`,
    },
    {
      name: "invites",
      schedule: "33 4 * * *",
      description: "Removes invites that expired more than 90 days ago.",
      deletesByAge: true,
      run: async () => `${await writer.run(() => services.invites.sweep(SWEEP_ROWS))} invites removed`,
    },
    {
      name: "rate-limits",
      schedule: "29 * * * *",
      description: "Removes rate-limit counts that are no longer needed.",
      run: async () => `${await limiter.prune()} rows removed`,
    },
    {
      name: "idempotency-keys",
      schedule: "31 * * * *",
      description: "Removes stored results of idempotent requests older than one day.",
      deletesByAge: true,
      run: async () => `${await writer.run(() => idempotency.sweep(SWEEP_ROWS))} results removed`,
    },
    {
      name: "shares",
      schedule: "33 4 * * *",
      description:
        "Removes shares that expired more than 30 days ago, photos without metadata made for shares after one week, and address digests of failed link passwords after 30 days.",
      deletesByAge: true,
      async run({ signal }) {
        let removed = 0;
        for (let some = -1; some !== 0 && !signal.aborted; removed += Math.max(0, some)) {
          some = (await services.shares.sweep(SWEEP_ROWS)) + (await services.linkGuesses.sweep(SWEEP_ROWS));
          await Bun.sleep(REAP_REST_MS);
        }
        return `${removed} shares and addresses, ${await services.barePictures.sweep()} photos removed`;
      },
    },
    {
      name: "offline-queue",
      schedule: "23 * * * *",
      description: "Expires queued operations after 30 days, and removes finished ones after 7 days.",
      deletesByAge: true,
      run: ({ signal }) => services.queue.sweep(signal),
    },
    {
      name: "device-changes",
      schedule: "*/20 * * * *",
      description: "Continues confirmed device changes, and removes old conflicts and records of repeated changes.",
      async run() {
        const { holds, conflicts, localChanges } = services;
        const resumed = await holds.resume();
        const removed = await writer.run(
          () => holds.sweep() + conflicts.sweep(SWEEP_ROWS) + localChanges.sweep(SWEEP_ROWS),
        );
        return `${resumed} holds finished, ${removed} rows removed`;
      },
    },
    {
      name: QUICK_CHECK_JOB,
      schedule: "53 3 * * *",
      description: "Checks the structure of the database for damage.",
      async run() {
        const found = await quickCheck(services);
        const problems = found.map((row) => row.quick_check);
        if (problems.length === 1 && problems[0] === "ok") return "ok";
        writer.noteDamage(problems.join("; "));
        await services.integrity.noteDatabase(problems);
        throw new Error(`The database is damaged: ${problems.join("; ")}`);
      },
    },
    {
      name: "uploads",
      schedule: "*/10 * * * *",
      description: "Removes expired uploads and frees their space.",
      deletesByAge: true,
      run: async ({ signal }) => `${await services.uploads.sweep(signal)} uploads removed`,
    },
    {
      name: "undo",
      schedule: "43 4 * * *",
      description: "Removes the records needed to undo device changes older than 30 days.",
      deletesByAge: true,
      async run({ signal }) {
        let removed = 0;
        for (const { id } of users.list()) {
          for (let some = -1; some !== 0 && !signal.aborted; removed += Math.max(0, some)) {
            // The time machine shows and brings back what devices deleted, as far back as it looks.
            const ageMs = Math.max(UNDO_MS, reachOf(config.versions.maxAgeMs));
            some = await writer.run((tx) => treeWriter.sweepUndo(tx, id, clock.nowMs() - ageMs, SWEEP_ROWS));
            await Bun.sleep(REAP_REST_MS);
          }
        }
        return `${removed} rows removed`;
      },
    },
    {
      name: "media-info",
      schedule: "47 4 * * *",
      description: "Removes the metadata of blobs that are no longer in the store.",
      run: async ({ signal }) => `${await services.mediaInfo.sweep(signal)} entries removed`,
    },
    {
      name: "daily-sample",
      schedule: "55 * * * *",
      description: "Records storage and transfer figures for the charts in administration.",
      async run() {
        const { files, storedBytes } = await services.dailySamples.take();
        return `${files} files, ${describeSize(storedBytes)} in the store`;
      },
    },
    {
      name: "disk-reserve",
      schedule: "*/5 * * * *",
      description: "Reserves a few megabytes for the database in case the disk becomes full.",
      async run() {
        services.reserve.take();
        return "done";
      },
    },
    {
      name: "notifications",
      schedule: "41 * * * *",
      description: "Removes notifications older than 90 days, and push delivery results after one week.",
      deletesByAge: true,
      run: async () => `${await services.notifications.sweep(SWEEP_ROWS)} rows removed`,
    },
    {
      name: "webhooks",
      schedule: "*/15 * * * *",
      description: "Drops webhook deliveries after one day, and removes those older than 30 days.",
      deletesByAge: true,
      run: async () =>
        `${await writer.run((tx) => services.webhooks.sweep(tx, SWEEP_ROWS))} deliveries dropped or removed`,
    },
    {
      name: "recount",
      schedule: "37 4 * * *",
      description: "Recounts all stored counters, and reports differences.",
      async run({ signal }) {
        const drifts = await tree.recountBlobs();
        for (const user of services.users.list()) {
          if (signal.aborted) break;
          drifts.push(...(await tree.recount(user.id)));
        }
        for (const drift of drifts) services.log.error("A stored counter is wrong. Please report this.", { ...drift });
        return drifts.length === 0 ? "no differences" : `${drifts.length} counters differ; see the log`;
      },
    },
  ];
}

/** Contents on this disk and in a bucket; a command may ask the first for more ({@link MoveRequest}). */
function remoteStoreJobs(
  places: NonNullable<Services["remoteStore"]>,
  { config, clock }: Pick<Services, "config" | "clock">,
): Job[] {
  return [
    {
      name: REMOTE_STORE_JOB,
      schedule: "* * * * *",
      description: "Sends blobs to the bucket, and evicts unused local copies.",
      run: ({ signal, arguments: given }) => places.run(signal, readMoveRequest(given)),
    },
    {
      name: "bucket-stock",
      schedule: "29 5 * * *",
      description: "Compares the bucket with the database, and registers new objects.",
      run: ({ signal }) => places.reconcileBucket(signal),
    },
    {
      name: "bucket-scrub",
      schedule: "37 1 * * *",
      description: "Scrub of the bucket: verifies blobs stored only there, least recently verified first (s3.scrub).",
      async run({ signal, isRequested }) {
        const { scrub, s3 } = config;
        if (!s3.scrub || s3.verifyRateBytes === 0) return "turned off (s3.scrub)";
        // As in the store: half of the time lies between two readings, because nights are missed.
        const ageMs = isRequested === true ? 0 : Math.floor(scrub.withinMs / 2);
        const { contents, bytes, found, isDone } = await places.readObjects(
          { rateBytes: s3.verifyRateBytes, untilMs: clock.nowMs() - ageMs, maxTimeMs: scrub.maxTimeMs },
          signal,
        );
        const sum = `${contents} blobs read, ${describeSize(bytes)}; ${found} new findings`;
        return isDone ? sum : `${sum}; the next run continues`;
      },
    },
  ];
}

/** Where the damage is such that not even the check can be carried out, that is the finding. */
async function quickCheck({
  reader,
  writer,
}: Pick<Services, "reader" | "writer">): Promise<readonly { quick_check: string }[]> {
  try {
    const [found] = await reader.read([rows<{ quick_check: string }>("PRAGMA quick_check(20)")]);
    return found;
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    if (isDamage(cause)) writer.noteDamage(String(cause));
    throw error;
  }
}

/** On the word of a damaged database nothing may go: its good copies name contents that it may have forgotten. */
function rejectDamaged({ isDamaged }: Pick<Services["writer"], "isDamaged">): void {
  if (isDamaged) throw new Error("The database is damaged. Nothing is removed from the store until it is restored.");
}

/** What is about to go is named by older copies only: a new one takes their place. On a full disk there is no room for it. */
async function snapshotBeforeCollecting({
  snapshots,
  writer,
  log,
}: Pick<Services, "snapshots" | "writer" | "log">): Promise<void> {
  try {
    await snapshots.take("before-collection");
  } catch (error) {
    rejectDamaged(writer);
    log.warn("Could not take a snapshot before garbage collection; continuing without it.", { error });
  }
}
