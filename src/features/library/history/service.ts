/**
 * The history of a tree: shows an account at a moment and restores a folder to it. One call reverts an accidental mass
 * change, or the damage done by ransomware on a device.
 */
import type { Database } from "bun:sqlite";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError, invalidField, notFound } from "../../../errors.ts";
import { type Clock, toTimestamp } from "../../../lib/clock.ts";
import { ROOT_PATH } from "../../../lib/path.ts";
import { Steps } from "../../../lib/steps.ts";
import type { Turns } from "../../../lib/turns.ts";
import type { StorageLimits } from "../files/storage-limits.ts";
import type { PastNode } from "../../../tree/queries/past.ts";
import type { AccountMoment, PastListQuery } from "../../../tree/queries/past-sql.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { TreeTrials } from "../../../tree/trial.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import { say } from "../../../translations/say.ts";
import type { User } from "../../accounts/users/types.ts";
import { RestoreRun, type RestoreRunPlan } from "./restore-run.ts";
import type { PastListing, RestoreOutcome, RestoreRequest, RestoreResult } from "./types.ts";

/** Dependencies of {@link HistoryService}. */
export interface HistoryServiceOptions {
  readonly sqlite: Database;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  /** For dry runs. */
  readonly trials: Pick<TreeTrials, "run">;
  readonly limitsOf: (user: User) => Pick<StorageLimits, "quotaBytes" | "plan">;
  /** Allows one copy or restore per account at a time. */
  readonly turns: Turns;
  /** How far back the history goes. */
  readonly maxAgeMs: () => number;
}

/** The journal is retained no longer than this, regardless of the configuration. */
const HISTORY_AGE_MS_MAX = 90 * 24 * 60 * 60 * 1000;

/** How far back the history goes if replaced versions are retained this long. */
export function historyAgeMs(versionsMaxAgeMs: number): number {
  return Math.min(versionsMaxAgeMs, HISTORY_AGE_MS_MAX);
}

/** Files and folders that one call restores. */
export const RESTORE_CHANGES_MAX = 5_000;
/** How long one step of a restore may block the event loop. */
const STEP_MS = 4;
/** New nodes listed in the result if they stay. */
const NEW_LISTED_MAX = 1_000;

interface RestorePlan extends RestoreRunPlan {
  /** How many new nodes stay, including those not listed. */
  readonly newCount: number;
  readonly isComplete: boolean;
}

/** Limits for deleting the rows of deleted folders before a restore: rows per transaction (some milliseconds), */
const ROWS_PER_TRANSACTION = 50;
/** and transactions per call. */
const TRANSACTIONS_MAX = 400;

/** Shows the history of a user's own tree and restores from it. */
export class HistoryService {
  readonly #options: HistoryServiceOptions;
  /** Earlier versions of the program recorded no locations: the history begins at this time. */
  readonly #sinceMs: number;

  constructor(options: HistoryServiceOptions) {
    this.#options = options;
    const row = options.sqlite.query<{ value: string }, []>("SELECT value FROM meta WHERE key = 'history_since'").get();
    this.#sinceMs = Number(row?.value ?? 0);
  }

  /** A page of the folder at a path at a moment. @throws AppError invalid_field | not_found */
  async list(user: User, folderPath: string, atMs: number, query: PastListQuery): Promise<PastListing> {
    const { tree } = this.#options;
    const moment = this.#momentAt(user, atMs);
    const folder = await tree.past.findFolder(moment, folderPath);
    if (folder === undefined) throw notFound(say`This folder at that time was not found.`);
    return { folder, ...(await tree.past.list(moment, folder, query)) };
  }

  /**
   * A file at a moment, even if it is now in the trash or a device deleted it.
   * @throws AppError invalid_field | not_found
   */
  file(user: User, fileId: string, atMs: number): Omit<PastNode, "node"> & { readonly file: FileNode } {
    const found = this.#options.tree.past.findFile(this.#momentAt(user, atMs), fileId);
    if (found?.node.kind !== "file") throw notFound(say`This file at that time was not found.`);
    const { node, ...rest } = found;
    return { ...rest, file: node };
  }

  /**
   * Restores a folder and everything below it to a moment; durable on return. It runs in short steps, with other requests
   * in between. It does not start if the quota is too small for the result. A dry run does the same in a trial: other
   * requests can read during the trial, but writes wait.
   * @throws AppError invalid_field | not_found | quota_exceeded; invalid_request if more than {@link
   *   RESTORE_CHANGES_MAX} nodes changed and a part is not accepted; overloaded while a large deletion is in progress
   */
  restore(user: User, request: RestoreRequest): Promise<RestoreResult> {
    return this.#options.turns.take([user.id], () => this.#restore(user, request));
  }

  async #restore(user: User, request: RestoreRequest): Promise<RestoreResult> {
    const moment = this.#momentAt(user, request.atMs);
    await this.#finishDeletions(user.id);
    const plan = await this.#plan(user, moment, request);
    try {
      const outcomes = await (request.isDryRun ? this.#tryOut(user, plan) : this.#carryOut(user, plan));
      // If nothing was done, another call would not help either.
      const hasProgress = outcomes.some(({ outcome }) => outcome === "done");
      return { outcomes, newCount: plan.newCount, hasMore: !plan.isComplete && hasProgress };
    } catch (error) {
      if (!(error instanceof AppError) || error.reason !== "quota_exceeded") throw error;
      // A quota error names the plan.
      const { plan: userPlan } = this.#options.limitsOf(user);
      throw new AppError(error.reason, error.text, { ...error.details, plan: userPlan });
    }
  }

  async #carryOut(user: User, plan: RestorePlan): Promise<readonly RestoreOutcome[]> {
    const { writer, treeWriter } = this.#options;
    const restoreRun = new RestoreRun(this.#options, plan);
    await this.#requireQuota(user, restoreRun, plan);
    const step = (tx: Transaction) => treeWriter.by(user.viaDeviceId, () => restoreRun.run(tx, STEP_MS));
    // The progress is in memory, so a step cannot be repeated.
    while (!(await writer.run(step, { isRepeatable: false }))) await Bun.sleep(0);
    return restoreRun.outcomes;
  }

  #tryOut(user: User, plan: RestorePlan): Promise<readonly RestoreOutcome[]> {
    return this.#options.trials.run(async ({ tx, tree, treeWriter }) => {
      const restoreRun = new RestoreRun({ tree, treeWriter }, plan);
      while (!treeWriter.by(user.viaDeviceId, () => restoreRun.run(tx, STEP_MS))) await new Promise(setImmediate);
      return restoreRun.outcomes;
    });
  }

  async #plan(user: User, moment: AccountMoment, request: RestoreRequest): Promise<RestorePlan> {
    const { folderPath, removesNew, isPartial } = request;
    const { tree, limitsOf } = this.#options;
    const folder = await tree.past.findFolder(moment, folderPath);
    if (folder === undefined) throw notFound(say`This folder at that time was not found.`);
    const contents = await tree.past.contents(moment, folder, RESTORE_CHANGES_MAX);
    const { changed, newIds } = contents;
    const left = removesNew ? RESTORE_CHANGES_MAX - changed.length : NEW_LISTED_MAX;
    const isComplete = contents.isComplete && !(removesNew && newIds.length > left);
    if (!isComplete && !isPartial) {
      throw new AppError(
        "invalid_request",
        say`More than ${RESTORE_CHANGES_MAX} items in "${folderPath}" have changed. Restore its folders one by one, or send partial and repeat until hasMore is false.`,
        { field: "folder", limit: RESTORE_CHANGES_MAX },
      );
    }
    const parentId = folder.path === ROOT_PATH ? undefined : tree.past.parentAt(moment, folder.id);
    const { quotaBytes } = limitsOf(user);
    return {
      moment,
      folder,
      parentId,
      contents: { ...contents, newIds: newIds.slice(0, left) },
      removesNew,
      createdBy: user.id,
      quotaBytes,
      newCount: removesNew ? 0 : newIds.length,
      isComplete,
    };
  }

  /** @throws AppError quota_exceeded if the restored content does not fit; nothing was changed then */
  async #requireQuota(user: User, restoreRun: RestoreRun, { contents, quotaBytes }: RestorePlan): Promise<void> {
    let [bytes, nodes] = [0, 0];
    const steps = new Steps(STEP_MS);
    for (const entry of contents.changed) {
      bytes += restoreRun.addedBytes(entry);
      if (restoreRun.isRecreated(entry)) nodes++;
      await steps.next();
    }
    const { writer, treeWriter, tree } = this.#options;
    if (nodes > 0) tree.rejectNodes(user.id, nodes);
    if (bytes === 0 || quotaBytes === null) return;
    await writer.run((tx) => {
      // Only a check: each version is counted when it is restored.
      treeWriter.reserveBytes(tx, user.id, bytes, quotaBytes);
      treeWriter.reserveBytes(tx, user.id, -bytes, null);
    });
  }

  /** Completes pending deletions: the content of a folder that a device deleted is recorded while its rows are deleted. */
  async #finishDeletions(accountId: number): Promise<void> {
    const { tree, treeWriter, writer } = this.#options;
    for (let step = 0; step < TRANSACTIONS_MAX && tree.isReaping(accountId); step++) {
      const removed = await writer.run((tx) => treeWriter.reapSome(tx, ROWS_PER_TRANSACTION));
      // Then only an unfinished copy is left.
      if (removed === 0) return;
    }
    if (!tree.isReaping(accountId)) return;
    throw new AppError("overloaded", say`A large folder is still being deleted. Try again in a minute.`);
  }

  #momentAt(user: User, atMs: number): AccountMoment {
    const { clock, maxAgeMs, tree } = this.#options;
    const nowMs = clock.nowMs();
    const oldestMs = Math.max(nowMs - maxAgeMs(), this.#sinceMs);
    if (atMs > nowMs) throw invalidField("at", say`The time in at is in the future. Send a past time.`);
    if (atMs < oldestMs) {
      const oldest = toTimestamp(oldestMs);
      throw invalidField("at", say`History before ${oldest} is no longer available. Send a later time.`, { oldest });
    }
    return tree.past.momentAt(user.id, atMs);
  }
}
