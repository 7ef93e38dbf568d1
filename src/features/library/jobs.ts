import type { Config } from "../../config/settings.ts";
import type { Db } from "../../db/open.ts";
import type { Writer } from "../../db/transaction.ts";
import type { Job } from "../../jobs/scheduler.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { TreeReader } from "../../tree/reader.ts";
import type { NaturalKeys } from "../../tree/tables/natural-keys.ts";
import { UNDO_MS } from "../../tree/tables/undo.ts";
import type { TreeWriter } from "../../tree/writer.ts";
import { sweepErased } from "../accounts/profile/erase-account.ts";
import type { UserService } from "../accounts/users/service.ts";
import { readSettings } from "../accounts/users/settings.ts";
import { historyAgeMs } from "./history/service.ts";
import type { Idempotency } from "./idempotency/service.ts";
import type { TrashService } from "./trash/service.ts";

/** Dependencies of the jobs of files and folders. */
export interface LibraryJobsOptions {
  readonly config: Pick<Config, "versions">;
  readonly clock: Clock;
  readonly log: Log;
  readonly db: Db;
  readonly writer: Writer;
  readonly users: UserService;
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  readonly naturalKeys: Pick<NaturalKeys, "repair">;
  readonly trash: TrashService;
  readonly idempotency: Idempotency;
}

/** Name of the job that removes the rows of deleted folders; each such deletion also starts it. */
export const REAP_JOB = "reap-deleted";
/** The job that updates the sizes of folders. */
export const FOLDER_STATES_JOB = "folder-states";

/** The result of {@link REAP_JOB} when nothing is left to remove. */
export const NOTHING_REAPED = reapResult(0, 0);

const SWEEP_ROWS = 1_000;
const REAP_REST_MS = 5;
/** A device that did not sync for longer starts again from the beginning. */
const JOURNAL_AGE_MS = 90 * 24 * 60 * 60 * 1000;

/** Removes deleted, superseded and expired items, and recounts what is stored. */
export function libraryJobs(options: LibraryJobsOptions): Job[] {
  const { trash, writer, idempotency } = options;
  return [
    reapJob(options),
    {
      name: "trash",
      schedule: "19 * * * *",
      description: "Permanently deletes items whose time in the trash has expired.",
      deletesByAge: true,
      run: async ({ signal }) => `${await trash.sweep(signal)} files and folders deleted`,
    },
    oldVersionsJob(options),
    historyJob(options),
    journalJob(options),
    {
      name: "idempotency-keys",
      schedule: "31 * * * *",
      description: "Removes stored results of idempotent requests older than one day.",
      deletesByAge: true,
      run: async () => `${await writer.run(() => idempotency.sweep(SWEEP_ROWS))} results removed`,
    },
    undoJob(options),
    folderStatesJob(options),
    recountJob(options),
  ];
}

function reapJob({ db, writer, treeWriter }: LibraryJobsOptions): Job {
  return {
    name: REAP_JOB,
    schedule: "*/10 * * * *",
    description: "Removes the rows of deleted folders and accounts, a few files at a time.",
    async run({ signal }) {
      let removed = 0;
      while (!signal.aborted) {
        const some = await writer.run((tx) => treeWriter.reapSome(tx));
        if (some === 0) break;
        removed += some;
        // Other writers go first: deleted items are already invisible, only their rows remain.
        await Bun.sleep(REAP_REST_MS);
      }
      const accounts = await sweepErased({ db, writer });
      return reapResult(removed, accounts);
    },
  };
}

function reapResult(items: number, accounts: number): string {
  return `${items} items, ${accounts} accounts removed`;
}

function oldVersionsJob({ config, clock, users, writer, treeWriter }: LibraryJobsOptions): Job {
  return {
    name: "old-versions",
    schedule: "7 4 * * *",
    description: "Removes earlier versions that exceed the number or age to keep.",
    deletesByAge: true,
    async run({ signal }) {
      let pruned = 0;
      let afterNodeId = 0;
      const keepCounts = new Map<number, number>();
      const retainedVersions = (accountId: number) => {
        const keep =
          keepCounts.get(accountId) ??
          readSettings(users.settingsJson(accountId), config.versions.keep).versioning.keep;
        keepCounts.set(accountId, keep);
        return keep;
      };
      do {
        const options = {
          retainedVersions,
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
  };
}

function historyJob({ config, clock, users, writer, treeWriter }: LibraryJobsOptions): Job {
  return {
    name: "history",
    schedule: "13 4 * * *",
    description: "Removes previous locations of files and folders that are older than the history limit.",
    deletesByAge: true,
    async run({ signal }) {
      const olderThanMs = clock.nowMs() - historyAgeMs(config.versions.maxAgeMs);
      let removed = 0;
      for (const { id } of users.list()) {
        for (let some = SWEEP_ROWS; some === SWEEP_ROWS && !signal.aborted; removed += some) {
          some = await writer.run((tx) => treeWriter.sweepHistory(tx, id, olderThanMs, SWEEP_ROWS));
          await Bun.sleep(REAP_REST_MS);
        }
      }
      return `${removed} rows removed`;
    },
  };
}

function journalJob({ clock, users, writer, treeWriter }: LibraryJobsOptions): Job {
  return {
    name: "journal",
    schedule: "27 4 * * *",
    description: "Removes journal entries of deletions older than 90 days and of superseded changes.",
    deletesByAge: true,
    async run({ signal }) {
      const olderThanMs = clock.nowMs() - JOURNAL_AGE_MS;
      let steps = 0;
      for (const { id } of users.list()) {
        let afterSeq = 0;
        do {
          afterSeq = await writer.run((tx) => treeWriter.sweepJournal(tx, id, olderThanMs, afterSeq));
          steps++;
          await Bun.sleep(REAP_REST_MS);
        } while (afterSeq > 0 && !signal.aborted);
        if (signal.aborted) break;
      }
      return `${steps} steps`;
    },
  };
}

function undoJob({ config, clock, users, writer, treeWriter }: LibraryJobsOptions): Job {
  return {
    name: "undo",
    schedule: "43 4 * * *",
    description: "Removes the records needed to undo device changes older than 30 days.",
    deletesByAge: true,
    async run({ signal }) {
      let removed = 0;
      for (const { id } of users.list()) {
        for (let some = -1; some !== 0 && !signal.aborted; removed += Math.max(0, some)) {
          // The history needs these records to show and restore items that devices deleted.
          const ageMs = Math.max(UNDO_MS, historyAgeMs(config.versions.maxAgeMs));
          some = await writer.run((tx) => treeWriter.sweepUndo(tx, id, clock.nowMs() - ageMs, SWEEP_ROWS));
          await Bun.sleep(REAP_REST_MS);
        }
      }
      return `${removed} rows removed`;
    },
  };
}

function folderStatesJob({ treeWriter }: LibraryJobsOptions): Job {
  return {
    name: FOLDER_STATES_JOB,
    schedule: "*/10 * * * *",
    description: "Updates the ETags and sizes of folders for clients that sync.",
    async run({ signal }) {
      const { refreshed, filled } = await treeWriter.refreshEverything(signal);
      return `${refreshed} changed folders refreshed, ${filled} sizes added up`;
    },
  };
}

function recountJob({ log, users, tree, naturalKeys }: LibraryJobsOptions): Job {
  return {
    name: "recount",
    schedule: "37 4 * * *",
    description: "Recounts all stored counters and reports differences. Corrects the keys that sort names.",
    async run({ signal }) {
      const drifts = await tree.recountBlobs();
      for (const user of users.list()) {
        if (signal.aborted) break;
        drifts.push(...(await tree.recount(user.id)));
      }
      for (const drift of drifts) log.error("A stored counter is wrong. Please report this.", { ...drift });
      const wrongKeys = await naturalKeys.repair(signal);
      if (wrongKeys > 0) log.error("Stored keys that sort names were wrong. Please report this.", { wrongKeys });
      if (drifts.length === 0 && wrongKeys === 0) return "no differences";
      return `${drifts.length} counters differ, ${wrongKeys} sort keys corrected; see the log`;
    },
  };
}
