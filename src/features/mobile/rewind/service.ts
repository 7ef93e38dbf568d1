/**
 * Undoes the changes of one device since a time, for example after it was stolen or encrypted by malware. Replaced
 * content is restored as a new version, so nothing is destroyed. Files that the device created are deleted; their blobs
 * stay for the grace period of the store.
 *
 * Each node is undone, and marked as undone, in its own transaction. A repeated or interrupted call never undoes a
 * change twice. A dry run does the same in a trial.
 */
import type { Database } from "bun:sqlite";
import type { Writer } from "../../../db/transaction.ts";
import { AppError, invalidField } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { segmentsOf } from "../../../lib/path.ts";
import { Steps } from "../../../lib/steps.ts";
import type { Turns } from "../../../lib/turns.ts";
import type { StorageLimits } from "../../library/files/storage-limits.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { TreeTrial, TreeTrials } from "../../../tree/trial.ts";
import { UNDO_MS } from "../../../tree/tables/undo.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import { say } from "../../../translations/say.ts";
import type { User } from "../../accounts/users/types.ts";
import { RewindQueries } from "./queries.ts";
import type { RewindOutcome, RewindRequest, RewindResult, TouchedNode } from "./types.ts";
import { NodeUndoer, type RewindScope } from "./undo-node.ts";

/** Options of {@link RewindService}. */
interface RewindServiceOptions {
  readonly sqlite: Database;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  /** For dry runs. */
  readonly trials: Pick<TreeTrials, "run">;
  /** The row id of a device of the account, which may be removed. @throws AppError not_found */
  readonly deviceIdOf: (accountId: number, publicId: string) => number;
  readonly limitsOf: (user: User) => Pick<StorageLimits, "quotaBytes">;
  /** Runs one copy, restore or rewind of an account at a time. */
  readonly turns: Turns;
  readonly onDeleted: (nodeId: number) => void;
}

/** The maximum of files and folders that one call undoes. */
const REWIND_NODES_MAX = 1_000;

/** How many nodes of deleted folders one transaction purges; it takes some milliseconds. */
const PURGE_BATCH = 50;
/** The maximum of such transactions in a call. */
const PURGE_BATCHES_MAX = 400;
/** How long the event loop waits for one step. */
const STEP_MS = 4;

/** Undoes the changes of devices. */
export class RewindService {
  readonly #options: RewindServiceOptions;
  readonly #queries: RewindQueries;

  constructor(options: RewindServiceOptions) {
    this.#options = options;
    this.#queries = new RewindQueries(options.sqlite);
  }

  /**
   * Undoes a device's changes, the latest first, of at most {@link REWIND_NODES_MAX} files and folders; durable on
   * return.
   * @throws AppError not_found if the account has no such device; invalid_field if the time is too long ago
   */
  rewind(user: User, request: RewindRequest): Promise<RewindResult> {
    return this.#options.turns.take([user.id], () => this.#rewind(user, request));
  }

  async #rewind(user: User, { devicePublicId, sinceMs, isDryRun }: RewindRequest): Promise<RewindResult> {
    const { deviceIdOf, limitsOf, clock } = this.#options;
    const deviceId = deviceIdOf(user.id, devicePublicId);
    if (sinceMs < clock.nowMs() - UNDO_MS) {
      throw invalidField("since", say`Device changes can be undone for 30 days. Send a later time.`);
    }
    const isReaping = await this.#purgeDeleted(user.id);
    const { id: accountId, viaDeviceId } = user;
    const scope: RewindScope = { accountId, deviceId, sinceMs, viaDeviceId, quotaBytes: limitsOf(user).quotaBytes };
    const undoer = new NodeUndoer({ ...this.#options, queries: this.#queries }, scope);
    const touched = await this.#listTouched(scope, undoer);
    const ordered = await sortForUndo(touched.slice(0, REWIND_NODES_MAX), undoer);
    const outcomes = isDryRun ? await this.#tryOut(ordered, scope) : await this.#undoAll(ordered, undoer);
    // If every node failed, another call would fail too.
    const hasProgress =
      isDryRun || outcomes.length < ordered.length || outcomes.some((one) => one.outcome !== "failed");
    return { outcomes, hasMore: isReaping || (touched.length > REWIND_NODES_MAX && hasProgress) };
  }

  /**
   * The nodes to undo, all of them if one call can undo them. Folders that the device created are last, deepest first.
   */
  async #listTouched(scope: RewindScope, undoer: NodeUndoer): Promise<TouchedNode[]> {
    const steps = new Steps(STEP_MS);
    const { others, createdFolders } = await this.#queries.listTouched(scope, REWIND_NODES_MAX, steps);
    if (others.length > REWIND_NODES_MAX) return [...others];
    const folders: { readonly node: TouchedNode; readonly depth: number }[] = [];
    for (const node of createdFolders) {
      const folder = undoer.find(node)?.folder;
      folders.push({ node, depth: folder === undefined ? 0 : segmentsOf(folder).length });
      await steps.next();
    }
    folders.sort((a, b) => b.depth - a.depth);
    return [...others, ...folders.map(({ node }) => node)];
  }

  /**
   * Purges some nodes of deleted folders. The deletion of a node inside a folder is recorded only when it is purged.
   * @returns whether some are left
   */
  async #purgeDeleted(accountId: number): Promise<boolean> {
    const { tree, treeWriter, writer } = this.#options;
    for (let step = 0; step < PURGE_BATCHES_MAX && tree.isReaping(accountId); step++) {
      const removed = await writer.run((tx) => treeWriter.reapSome(tx, PURGE_BATCH));
      // The rest belongs to a copy in progress.
      if (removed === 0) return false;
    }
    return tree.isReaping(accountId);
  }

  /** Undoes each node in its own transaction; the transactions share commits. */
  async #undoAll(nodes: readonly TouchedNode[], undoer: NodeUndoer): Promise<RewindOutcome[]> {
    const outcomes = nodes.map(async (node) => {
      try {
        return await this.#options.writer.run((tx) => undoer.undo(tx, node));
      } catch (error) {
        return [failed(node, error)];
      }
    });
    return (await Promise.all(outcomes)).flat();
  }

  /**
   * Rolling back a single failed change requires savepoints. They triple the time, so they are used only after an
   * error.
   */
  async #tryOut(nodes: readonly TouchedNode[], scope: RewindScope): Promise<RewindOutcome[]> {
    try {
      return await this.#trial(nodes, scope, (node, undoer, { tx }) => undoer.undo(tx, node));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return await this.#trial(nodes, scope, tryOne);
    }
  }

  #trial(
    nodes: readonly TouchedNode[],
    scope: RewindScope,
    undo: (node: TouchedNode, undoer: NodeUndoer, trial: TreeTrial) => RewindOutcome[],
  ): Promise<RewindOutcome[]> {
    return this.#options.trials.run(async (trial) => {
      const queries = new RewindQueries(trial.sqlite);
      const undoer = new NodeUndoer({ ...this.#options, ...trial, queries }, scope);
      const outcomes: RewindOutcome[] = [];
      const steps = new Steps(STEP_MS);
      for (const node of nodes) {
        outcomes.push(...undo(node, undoer, trial));
        await steps.next();
      }
      return outcomes;
    });
  }
}

/** Undoes one node of a trial. If it fails, its changes are rolled back. */
function tryOne(node: TouchedNode, undoer: NodeUndoer, { sqlite, tx }: TreeTrial): RewindOutcome[] {
  sqlite.run("SAVEPOINT one_node");
  try {
    return undoer.undo(tx, node);
  } catch (error) {
    const outcome = failed(node, error);
    sqlite.run("ROLLBACK TO one_node");
    return [outcome];
  } finally {
    if (sqlite.inTransaction) sqlite.run("RELEASE one_node");
  }
}

/** @throws the error, if it is not an AppError */
function failed({ publicId }: TouchedNode, error: unknown): RewindOutcome {
  if (!(error instanceof AppError)) throw error;
  return { outcome: "failed", publicId, error };
}

/**
 * Sorts nodes for the undo. Files that the device created are deleted first, which frees names and bytes. Folders are
 * restored and moved before the files in them. Folders that the device created are deleted last, when they are empty.
 */
async function sortForUndo(nodes: readonly TouchedNode[], undoer: NodeUndoer): Promise<TouchedNode[]> {
  const steps = new Steps(STEP_MS);
  const groups: TouchedNode[][] = [[], [], [], [], []];
  for (const node of nodes) {
    const { plan, isFolder } = undoer.plan(node);
    const group =
      plan.kind === "remove" ? (isFolder ? 4 : 0) : plan.kind === "restore" && isFolder ? 1 : isFolder ? 2 : 3;
    groups[group]?.push(node);
    await steps.next();
  }
  return groups.flat();
}
