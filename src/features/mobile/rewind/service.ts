/**
 * Undoes what one device did since an instant: for a phone that was stolen, or that malice made to encrypt its files.
 * Replaced contents come back as new versions, so that nothing is destroyed; files that the device made are deleted,
 * and stay in the store for its grace period only.
 *
 * Each node is undone in a deed of its own, and noted as undone in it: a call that is repeated, or ended half-way,
 * never undoes a thing twice. A dry run does the very same in a trial.
 */
import type { Database } from "bun:sqlite";
import type { Writer } from "../../../db/transaction.ts";
import { AppError, invalidField } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { segmentsOf } from "../../../lib/path.ts";
import { Steps } from "../../../lib/steps.ts";
import type { Turns } from "../../../lib/turns.ts";
import type { StorageLimits } from "../../library/files/service.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { TreeTrial, TreeTrials } from "../../../tree/trial.ts";
import { UNDO_MS } from "../../../tree/tables/undo.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import type { User } from "../../accounts/users/types.ts";
import { RewindQueries } from "./queries.ts";
import type { RewindOutcome, RewindRequest, RewindResult, TouchedNode } from "./types.ts";
import { NodeUndoer, type RewindScope } from "./undo-node.ts";

/** What {@link RewindService} works with. */
export interface RewindServiceOptions {
  readonly sqlite: Database;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  /** For dry runs. */
  readonly trials: Pick<TreeTrials, "run">;
  /** Row id of a device of an account, removed ones included. @throws AppError not_found */
  readonly deviceIdOf: (accountId: number, publicId: string) => number;
  readonly limitsOf: (user: User) => Pick<StorageLimits, "quotaBytes">;
  /** One copy or restore of an account at a time. */
  readonly turns: Turns;
  readonly onDeleted: (nodeId: number) => void;
}

/** Files and folders that one call undoes. */
export const REWIND_NODES_MAX = 1_000;

/** Rows of deleted folders taken apart before: so many in a deed (some milliseconds), and deeds in a call. */
const REAP_AT_ONCE = 50;
const REAP_STEPS_MAX = 400;
/** How long the event loop waits for one step. */
const STEP_MS = 4;

/** See the head of this file. */
export class RewindService {
  readonly #options: RewindServiceOptions;
  readonly #queries: RewindQueries;

  constructor(options: RewindServiceOptions) {
    this.#options = options;
    this.#queries = new RewindQueries(options.sqlite);
  }

  /**
   * Undoes what a device did, the latest first, {@link REWIND_NODES_MAX} files and folders a call; durable on return.
   * @throws AppError not_found for a device that is not the account's; invalid_field for an instant too long ago
   */
  rewind(user: User, request: RewindRequest): Promise<RewindResult> {
    return this.#options.turns.take([user.id], () => this.#rewind(user, request));
  }

  async #rewind(user: User, { devicePublicId, sinceMs, isDryRun }: RewindRequest): Promise<RewindResult> {
    const { deviceIdOf, limitsOf, clock } = this.#options;
    const deviceId = deviceIdOf(user.id, devicePublicId);
    if (sinceMs < clock.nowMs() - UNDO_MS) {
      throw invalidField("since", "Device changes can be undone for 30 days. Send a later time.");
    }
    const isReaping = await this.#takeApart(user.id);
    const { viaDeviceId } = user;
    const scope: RewindScope = {
      accountId: user.id,
      deviceId,
      sinceMs,
      viaDeviceId,
      quotaBytes: limitsOf(user).quotaBytes,
    };
    const undoer = new NodeUndoer({ ...this.#options, queries: this.#queries }, scope);
    const touched = await this.#listTouched(scope, undoer);
    const ordered = await inGoodOrder(touched.slice(0, REWIND_NODES_MAX), undoer);
    const outcomes = isDryRun ? await this.#tryOut(ordered, scope) : await this.#undoAll(ordered, undoer);
    // Where nothing could be done, another call would do no better.
    const hasProgress =
      isDryRun || outcomes.length < ordered.length || outcomes.some((one) => one.outcome !== "failed");
    return { outcomes, hasMore: isReaping || (touched.length > REWIND_NODES_MAX && hasProgress) };
  }

  /**
   * What is to be undone, in full where it is not more than a call takes; folders that the device made last, the
   * deepest first.
   */
  async #listTouched(scope: RewindScope, undoer: NodeUndoer): Promise<TouchedNode[]> {
    const steps = new Steps(STEP_MS);
    const { others, madeFolders } = await this.#queries.listTouched(scope, REWIND_NODES_MAX, steps);
    if (others.length > REWIND_NODES_MAX) return [...others];
    const deep: { readonly node: TouchedNode; readonly depth: number }[] = [];
    for (const node of madeFolders) {
      const folder = undoer.find(node)?.folder;
      deep.push({ node, depth: folder === undefined ? 0 : segmentsOf(folder).length });
      await steps.next();
    }
    deep.sort((a, b) => b.depth - a.depth);
    return [...others, ...deep.map(({ node }) => node)];
  }

  /**
   * Deleted folders are taken apart bit by bit, and what was in them is noted then: goes on with that for a while.
   * @returns whether some of it is still left
   */
  async #takeApart(accountId: number): Promise<boolean> {
    const { tree, treeWriter, writer } = this.#options;
    for (let step = 0; step < REAP_STEPS_MAX && tree.isReaping(accountId); step++) {
      const removed = await writer.run((tx) => treeWriter.reapSome(tx, REAP_AT_ONCE));
      // What is left then is a copy under way.
      if (removed === 0) return false;
    }
    return tree.isReaping(accountId);
  }

  /** Each in a deed of its own; all wait for the same commits. */
  async #undoAll(nodes: readonly TouchedNode[], undoer: NodeUndoer): Promise<RewindOutcome[]> {
    const done = nodes.map(async (node) => {
      try {
        return await this.#options.writer.run((tx) => undoer.undo(tx, node));
      } catch (error) {
        return [failed(node, error)];
      }
    });
    return (await Promise.all(done)).flat();
  }

  /**
   * A failed change needs a savepoint to be taken back by itself. They make a trial three times as long, and few need
   * them.
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

/** One node of a trial: where it fails, nothing of it is left for the next. */
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

/** @throws what is no answer to a client */
function failed({ publicId }: TouchedNode, error: unknown): RewindOutcome {
  if (!(error instanceof AppError)) throw error;
  return { outcome: "failed", publicId, error };
}

/**
 * What the device made goes first and frees names and bytes; folders come back and take their former places before what
 * was in them; folders that the device made go last, when they are empty.
 */
async function inGoodOrder(nodes: readonly TouchedNode[], undoer: NodeUndoer): Promise<TouchedNode[]> {
  const steps = new Steps(STEP_MS);
  const turns: TouchedNode[][] = [[], [], [], [], []];
  for (const node of nodes) {
    const { plan, isFolder } = undoer.plan(node);
    const turn =
      plan.kind === "remove" ? (isFolder ? 4 : 0) : plan.kind === "restore" && isFolder ? 1 : isFolder ? 2 : 3;
    turns[turn]?.push(node);
    await steps.next();
  }
  return turns.flat();
}
