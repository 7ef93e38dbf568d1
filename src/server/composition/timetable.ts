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
      description: "Frees the bytes that nothing refers to any more, after their grace period.",
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
      description: "Copies the database into snapshots/ where it has changed, and thins out old copies.",
      async run({ isAsked }) {
        const taken = isAsked && !snapshots.isDue() ? await snapshots.take("requested") : await snapshots.takeWhenDue();
        return taken === undefined ? "not due" : `${taken.name}, ${describeSize(taken.sizeBytes)}`;
      },
    },
    {
      name: "leftovers",
      schedule: "47 3 * * *",
      description: "Sets aside contents that a crash left without a record.",
      async run({ signal, cursor, setCursor }) {
        rejectDamaged(writer);
        let next = Number(cursor ?? 0);
        let found = 0;
        for (let count = 0; count < FOLDERS_PER_RUN && !signal.aborted; count++) {
          found += await collector.sweepLeftovers(next.toString(16).padStart(2, "0"));
          next = (next + 1) % FIRST_BYTES;
        }
        await setCursor(String(next));
        return `${found} set aside`;
      },
    },
    ...(services.remoteStore === undefined ? [] : remoteStoreJobs(services.remoteStore, services)),
    {
      name: "scrub",
      schedule: "7 1 * * *",
      description:
        "Reads stored contents again, those first that were read longest ago, and looks through the database.",
      async run({ signal, isAsked }) {
        const done = await services.scrub.run(signal, isAsked === true);
        if (done === undefined) return "switched off (scrub.rate)";
        const { contents, bytes, found, problems, isDone } = done;
        const sum = `${contents} contents read, ${describeSize(bytes)}; ${found + problems} new faults`;
        return isDone ? sum : `${sum}; the rest follows in the next run`;
      },
    },
    {
      name: REAP_JOB,
      schedule: "*/10 * * * *",
      description: "Takes deleted folders and erased accounts apart, a few files at a time.",
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
        return `${removed} entries, ${accounts} accounts removed`;
      },
    },
    {
      name: "trash",
      schedule: "19 * * * *",
      description: "Deletes for good what has been in the trash for its time.",
      deletesByAge: true,
      run: async ({ signal }) => `${await services.trash.sweep(signal)} files and folders deleted`,
    },
    {
      name: "newer-notes",
      schedule: "53 3 * * *",
      description: "Forgets what was noted after the state that a database was put back to, a month later.",
      deletesByAge: true,
      run: async () =>
        `${await forgetNewer(journalRoot(services.paths.blobs), clock.nowMs() - NEWER_AGE_MS)} forgotten`,
    },
    {
      name: "old-versions",
      schedule: "7 4 * * *",
      description: "Lets go of earlier contents beyond their number or age.",
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
        return `${pruned} versions let go`;
      },
    },
    {
      name: "history",
      schedule: "13 4 * * *",
      description: "Forgets where files and folders were before the time that one may look back to.",
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
      description: "Forgets deletions of more than 90 days ago, and changes that later ones have superseded.",
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
      description: "Removes sign-ins and refresh tokens that have expired.",
      deletesByAge: true,
      run: async () => `${await auth.sweepSessions(SWEEP_ROWS)} sessions and refresh tokens removed`,
    },
    {
      name: "api-keys",
      schedule: "19 4 * * *",
      description: "Forgets API keys that were deleted more than 90 days ago.",
      deletesByAge: true,
      run: async () => `${await apiKeys.sweep(SWEEP_ROWS)} keys forgotten`,
    },
    {
      name: "mail",
      schedule: "33 * * * *",
      description: "Gives up mails that could not be sent in time, and forgets what became of them after a week.",
      deletesByAge: true,
      async run() {
        const { mail, passwordReset, emailConfirmation } = services;
        const [mails, links, confirmations] = await writer.run((tx) => [
          mail.sweep(tx, SWEEP_ROWS),
          passwordReset.sweep(SWEEP_ROWS),
          emailConfirmation.sweep(SWEEP_ROWS),
        ]);
        return (
          `${mails} mails given up or forgotten, ${links} links for new passwords ended, ` +
          `${confirmations} links to confirm e-mails forgotten`
        );
      },
    },
    {
      name: "audit",
      schedule: "11 4 * * *",
      description: "Forgets entries of the audit log that are older than its retention.",
      deletesByAge: true,
      run: async ({ signal }) => `${await services.audit.sweep(signal)} entries removed`,
    },
    {
      name: "invites",
      schedule: "33 4 * * *",
      description: "Forgets invitations that were over 90 days ago.",
      deletesByAge: true,
      run: async () => `${await writer.run(() => services.invites.sweep(SWEEP_ROWS))} invitations removed`,
    },
    {
      name: "rate-limits",
      schedule: "29 * * * *",
      description: "Forgets requests that have left every window.",
      run: async () => `${await limiter.prune()} rows removed`,
    },
    {
      name: "idempotency-keys",
      schedule: "31 * * * *",
      description: "Forgets the results of keyed requests older than a day.",
      deletesByAge: true,
      run: async () => `${await writer.run(() => idempotency.sweep(SWEEP_ROWS))} results removed`,
    },
    {
      name: "shares",
      schedule: "33 4 * * *",
      description:
        "Removes shares that expired more than 30 days ago, pictures made for shares a week ago, and digests of addresses that opened no locked link for 30 days.",
      deletesByAge: true,
      async run({ signal }) {
        let removed = 0;
        for (let some = -1; some !== 0 && !signal.aborted; removed += Math.max(0, some)) {
          some = (await services.shares.sweep(SWEEP_ROWS)) + (await services.linkGuesses.sweep(SWEEP_ROWS));
          await Bun.sleep(REAP_REST_MS);
        }
        return `${removed} shares and addresses, ${await services.barePictures.sweep()} pictures removed`;
      },
    },
    {
      name: "offline-queue",
      schedule: "23 * * * *",
      description: "Ends queued operations that have waited for 30 days, and forgets those finished for 7.",
      deletesByAge: true,
      run: ({ signal }) => services.queue.sweep(signal),
    },
    {
      name: "device-changes",
      schedule: "*/20 * * * *",
      description: "Goes on with confirmed changes of devices, and forgets conflicts and repetitions of long ago.",
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
      description: "Looks through the structure of the database for damage, in a thread of its own.",
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
      description: "Ends uploads whose time is over, and frees what they held.",
      deletesByAge: true,
      run: async ({ signal }) => `${await services.uploads.sweep(signal)} uploads ended`,
    },
    {
      name: "undo",
      schedule: "43 4 * * *",
      description: "Forgets what devices did more than 30 days ago.",
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
      description: "Forgets what contents told of themselves that are not in the store any more.",
      run: async ({ signal }) => `${await services.mediaInfo.sweep(signal)} contents forgotten`,
    },
    {
      name: "daily-sample",
      schedule: "55 * * * *",
      description: "Notes what the server holds and what was transferred, for the plots of administration.",
      async run() {
        const { files, storedBytes } = await services.dailySamples.take();
        return `${files} files, ${describeSize(storedBytes)} in the store`;
      },
    },
    {
      name: "disk-reserve",
      schedule: "*/5 * * * *",
      description: "Keeps a few megabytes for the database, for the day when the disk is full.",
      async run() {
        services.reserve.take();
        return "done";
      },
    },
    {
      name: "notifications",
      schedule: "41 * * * *",
      description: "Forgets messages older than 90 days, and what became of pushes after a week.",
      deletesByAge: true,
      run: async () => `${await services.notifications.sweep(SWEEP_ROWS)} rows removed`,
    },
    {
      name: "webhooks",
      schedule: "*/15 * * * *",
      description: "Gives up deliveries to webhooks after a day, and forgets those of more than 30 days ago.",
      deletesByAge: true,
      run: async () =>
        `${await writer.run((tx) => services.webhooks.sweep(tx, SWEEP_ROWS))} deliveries ended or forgotten`,
    },
    {
      name: "recount",
      schedule: "37 4 * * *",
      description: "Counts again what the counters say, and reports what differs.",
      async run({ signal }) {
        const drifts = await tree.recountBlobs();
        for (const user of services.users.list()) {
          if (signal.aborted) break;
          drifts.push(...(await tree.recount(user.id)));
        }
        for (const drift of drifts) services.log.error("A counter differs from what counting gives.", { ...drift });
        return drifts.length === 0 ? "no drift" : `${drifts.length} counters differ; see the log`;
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
      description: "Sends contents to the bucket, and lets copies here go that are not used.",
      run: ({ signal, arguments: given }) => places.run(signal, readMoveRequest(given)),
    },
    {
      name: "bucket-stock",
      schedule: "29 5 * * *",
      description: "Compares the bucket with what is known of it, and learns of objects that are new to this database.",
      run: ({ signal }) => places.reconcileBucket(signal),
    },
    {
      name: "bucket-scrub",
      schedule: "37 1 * * *",
      description: "Reads contents stored only in the bucket again, least recently read first (s3.scrub).",
      async run({ signal, isAsked }) {
        const { scrub, s3 } = config;
        if (!s3.scrub || s3.verifyRateBytes === 0) return "switched off (s3.scrub)";
        // As in the store: half of the time lies between two readings, because nights are missed.
        const ageMs = isAsked === true ? 0 : Math.floor(scrub.withinMs / 2);
        const { contents, bytes, found, isDone } = await places.readObjects(
          { rateBytes: s3.verifyRateBytes, untilMs: clock.nowMs() - ageMs, maxTimeMs: scrub.maxTimeMs },
          signal,
        );
        const sum = `${contents} contents read, ${describeSize(bytes)}; ${found} new faults`;
        return isDone ? sum : `${sum}; the rest follows in the next run`;
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
  if (isDamaged) throw new Error("The database is damaged. Nothing is removed from the store until it was restored.");
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
    log.warn("The database could not be copied before the collection; it goes on.", { error });
  }
}
