/**
 * The time machine: an account's tree as it was at a moment, and a folder restored to it (an accidental mass change, or
 * ransomware on one laptop, is undone by one call).
 */
import type { Database } from "bun:sqlite";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError, invalidField, notFound } from "../../../errors.ts";
import { type Clock, toTimestamp } from "../../../lib/clock.ts";
import { ROOT_PATH } from "../../../lib/path.ts";
import { Steps } from "../../../lib/steps.ts";
import type { Turns } from "../../../lib/turns.ts";
import type { StorageLimits } from "../files/service.ts";
import type { PastNode } from "../../../tree/queries/past.ts";
import type { Moment, PastListQuery } from "../../../tree/queries/past-sql.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { TreeTrials } from "../../../tree/trial.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import type { User } from "../../accounts/users/types.ts";
import { RestoreRun, type RestorePlanRun } from "./restore-run.ts";
import type { PastListing, RestoreOutcome, RestoreRequest, RestoreResult } from "./types.ts";

/** What {@link HistoryService} works with. */
export interface HistoryServiceOptions {
  readonly sqlite: Database;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  /** For dry runs. */
  readonly trials: Pick<TreeTrials, "run">;
  readonly limitsOf: (user: User) => Pick<StorageLimits, "quotaBytes" | "plan">;
  /** One copy or restore of an account at a time. */
  readonly turns: Turns;
  /** How far back one may look. */
  readonly reachMs: number;
}

/** Journals are remembered no longer than this, whatever is configured. */
const REACH_MS_MAX = 90 * 24 * 60 * 60 * 1000;

/** How far back one may look where replaced contents are kept for so long. */
export function reachOf(versionsMaxAgeMs: number): number {
  return Math.min(versionsMaxAgeMs, REACH_MS_MAX);
}

/** Files and folders that one call brings back. */
export const RESTORE_CHANGES_MAX = 5_000;
/** How long the event loop waits for one step of a restore. */
const STEP_MS = 4;
/** So much of what is new and stays is told of. */
const NEW_LISTED_MAX = 1_000;

interface RestorePlan extends RestorePlanRun {
  /** How much is new and stays, whatever is told of it. */
  readonly newCount: number;
  readonly isWhole: boolean;
}

/** Rows of deleted folders taken apart before: so many in a transaction (some milliseconds), and transactions in a call. */
const REAP_AT_ONCE = 50;
const REAP_STEPS_MAX = 400;

/** See the head of this file. One's own tree only. */
export class HistoryService {
  readonly #options: HistoryServiceOptions;
  /** Before this, places were not remembered: the program was an earlier one. */
  readonly #sinceMs: number;

  constructor(options: HistoryServiceOptions) {
    this.#options = options;
    const row = options.sqlite.query<{ value: string }, []>("SELECT value FROM meta WHERE key = 'history_since'").get();
    this.#sinceMs = Number(row?.value ?? 0);
  }

  /** A page of the folder that was at a path. @throws AppError invalid_field | not_found */
  async list(user: User, folderPath: string, atMs: number, query: PastListQuery): Promise<PastListing> {
    const { tree } = this.#options;
    const moment = this.#momentOf(user, atMs);
    const folder = await tree.past.findFolder(moment, folderPath);
    if (folder === undefined) throw notFound("This folder at that time");
    return { folder, ...(await tree.past.list(moment, folder, query)) };
  }

  /** A file as it was, also one in the trash now or deleted by a device. @throws AppError invalid_field | not_found */
  file(user: User, fileId: string, atMs: number): Omit<PastNode, "node"> & { readonly file: FileNode } {
    const found = this.#options.tree.past.findFile(this.#momentOf(user, atMs), fileId);
    if (found?.node.kind !== "file") throw notFound("This file at that time");
    const { node, ...rest } = found;
    return { ...rest, file: node };
  }

  /**
   * Brings a folder with all below it back to a moment; durable on return. It is done in short steps, between which others
   * read and write; nothing is begun where the quota has no room for all of it. A dry run does the very same in a trial:
   * its result is true for one moment; others read meanwhile, and their writes wait.
   * @throws AppError invalid_field | not_found | quota_exceeded; invalid_request where more than
   *   {@link RESTORE_CHANGES_MAX} files and folders are other than they were and no part of it will do; overloaded where a
   *   large deletion is still being carried out
   */
  restore(user: User, request: RestoreRequest): Promise<RestoreResult> {
    return this.#options.turns.take([user.id], () => this.#restore(user, request));
  }

  async #restore(user: User, request: RestoreRequest): Promise<RestoreResult> {
    const moment = this.#momentOf(user, request.atMs);
    await this.#takeApart(user.id);
    const plan = await this.#plan(user, moment, request);
    try {
      const outcomes = await (request.isDryRun ? this.#tryOut(user, plan) : this.#bringBack(user, plan));
      // Where nothing could be done, another call would do no better.
      const hasProgress = outcomes.some(({ outcome }) => outcome === "done");
      return { outcomes, newCount: plan.newCount, hasMore: !plan.isWhole && hasProgress };
    } catch (error) {
      if (!(error instanceof AppError) || error.reason !== "quota_exceeded") throw error;
      // A refusal for the quota says which plan it comes from (contract §1).
      const { plan: userPlan } = this.#options.limitsOf(user);
      throw new AppError(error.reason, error.message, { ...error.details, plan: userPlan });
    }
  }

  async #bringBack(user: User, plan: RestorePlan): Promise<readonly RestoreOutcome[]> {
    const { writer, treeWriter } = this.#options;
    const bringBack = new RestoreRun(this.#options, plan);
    await this.#requireRoom(user, bringBack, plan);
    const step = (tx: Transaction) => treeWriter.by(user.viaDeviceId, () => bringBack.run(tx, STEP_MS));
    // What is done is remembered outside of the database.
    while (!(await writer.run(step, { isRepeatable: false }))) await Bun.sleep(0);
    return bringBack.outcomes;
  }

  #tryOut(user: User, plan: RestorePlan): Promise<readonly RestoreOutcome[]> {
    return this.#options.trials.run(async ({ tx, tree, treeWriter }) => {
      const bringBack = new RestoreRun({ tree, treeWriter }, plan);
      while (!treeWriter.by(user.viaDeviceId, () => bringBack.run(tx, STEP_MS))) await new Promise(setImmediate);
      return bringBack.outcomes;
    });
  }

  async #plan(user: User, moment: Moment, request: RestoreRequest): Promise<RestorePlan> {
    const { folderPath, removesNew, isPartial } = request;
    const { tree, limitsOf } = this.#options;
    const folder = await tree.past.findFolder(moment, folderPath);
    if (folder === undefined) throw notFound("This folder at that time");
    const contents = await tree.past.contents(moment, folder, RESTORE_CHANGES_MAX);
    const { changed, newIds } = contents;
    const left = removesNew ? RESTORE_CHANGES_MAX - changed.length : NEW_LISTED_MAX;
    const isWhole = contents.isComplete && !(removesNew && newIds.length > left);
    if (!isWhole && !isPartial) {
      throw new AppError(
        "invalid_request",
        `More than ${RESTORE_CHANGES_MAX} items in "${folderPath}" have changed. Restore ` +
          "its folders one by one, or send partial and repeat until hasMore is false.",
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
      isWhole,
    };
  }

  /** @throws AppError quota_exceeded where what comes back finds no room; nothing was changed then */
  async #requireRoom(user: User, bringBack: RestoreRun, { contents, quotaBytes }: RestorePlan): Promise<void> {
    let [bytes, nodes] = [0, 0];
    const steps = new Steps(STEP_MS);
    for (const entry of contents.changed) {
      bytes += bringBack.bytesOf(entry);
      if (bringBack.isRemade(entry)) nodes++;
      await steps.next();
    }
    const { writer, treeWriter, tree } = this.#options;
    if (nodes > 0) tree.rejectNodes(user.id, nodes);
    if (bytes === 0 || quotaBytes === null) return;
    await writer.run((tx) => {
      // Only a question: each content is counted when it comes back.
      treeWriter.reserveBytes(tx, user.id, bytes, quotaBytes);
      treeWriter.reserveBytes(tx, user.id, -bytes, null);
    });
  }

  /** What lay in a folder that a device deleted is noted as it is taken apart: goes on with that until it is done. */
  async #takeApart(accountId: number): Promise<void> {
    const { tree, treeWriter, writer } = this.#options;
    for (let step = 0; step < REAP_STEPS_MAX && tree.isReaping(accountId); step++) {
      const removed = await writer.run((tx) => treeWriter.reapSome(tx, REAP_AT_ONCE));
      // What is left then is a copy under way.
      if (removed === 0) return;
    }
    if (!tree.isReaping(accountId)) return;
    throw new AppError("overloaded", "A large folder is still being deleted. Try again in a minute.");
  }

  #momentOf(user: User, atMs: number): Moment {
    const { clock, reachMs, tree } = this.#options;
    const nowMs = clock.nowMs();
    const oldestMs = Math.max(nowMs - reachMs, this.#sinceMs);
    if (atMs > nowMs) throw invalidField("at", "The time in at is in the future. Send a past time.");
    if (atMs < oldestMs) {
      const oldest = toTimestamp(oldestMs);
      throw invalidField("at", `History before ${oldest} is no longer available. Send a later time.`, { oldest });
    }
    return tree.past.momentOf(user.id, atMs);
  }
}
