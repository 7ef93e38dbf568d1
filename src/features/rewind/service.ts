/**
 * Undoes what one device did since an instant: for a phone that was stolen, or that malice made to encrypt its files.
 * Replaced contents come back as new versions, so that nothing is destroyed; files that the device made are deleted, and
 * stay in the store for its grace period only.
 *
 * Each node is undone in a deed of its own, and noted as undone in it: a call that is repeated, or ended half-way, never
 * undoes a thing twice. A dry run does the very same in one deed and takes it back.
 */
import type { Database } from "bun:sqlite";
import type { Transaction, Writer } from "../../db/transaction.ts";
import { AppError, invalidField } from "../../errors.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Turns } from "../../lib/turns.ts";
import { segmentsOf } from "../../lib/path.ts";
import type { StorageLimits } from "../files/service.ts";
import type { TreeReader } from "../tree/reader.ts";
import { UNDO_MS } from "../tree/undo.ts";
import type { TreeWriter } from "../tree/writer.ts";
import type { User } from "../users/types.ts";
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

/** Ends the deed of a dry run, so that all it did is undone. */
class DryRunEnd extends Error {
  readonly outcomes: readonly RewindOutcome[];

  constructor(outcomes: readonly RewindOutcome[]) {
    super("A dry run ends by undoing all it did.");
    this.outcomes = outcomes;
  }
}

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
      throw invalidField("since", "What a device did is kept for 30 days. Give a later time.");
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
    const touched = this.#listTouched(scope, undoer);
    const ordered = inGoodOrder(touched.slice(0, REWIND_NODES_MAX), undoer);
    const outcomes = isDryRun ? await this.#tryOut(ordered, undoer) : await this.#undoAll(ordered, undoer);
    // Where nothing could be done, another call would do no better.
    const hasProgress =
      isDryRun || outcomes.length < ordered.length || outcomes.some((one) => one.outcome !== "failed");
    return { outcomes, hasMore: isReaping || (touched.length > REWIND_NODES_MAX && hasProgress) };
  }

  /** What is to be undone, in full where it is not more than a call takes; folders that the device made last, the deepest first. */
  #listTouched({ accountId, deviceId, sinceMs }: RewindScope, undoer: NodeUndoer): TouchedNode[] {
    const { others, madeFolders } = this.#queries.listTouched(accountId, deviceId, sinceMs, REWIND_NODES_MAX);
    if (others.length > REWIND_NODES_MAX) return [...others];
    const deep = madeFolders.map((node) => {
      const folder = undoer.find(node)?.folder;
      return { node, depth: folder === undefined ? 0 : segmentsOf(folder).length };
    });
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

  /** All in one deed, which is undone. */
  async #tryOut(nodes: readonly TouchedNode[], undoer: NodeUndoer): Promise<readonly RewindOutcome[]> {
    try {
      // Savepoints make this three times as long; they are needed only where something fails.
      return await this.#dryRun((tx) => nodes.flatMap((node) => undoer.undo(tx, node)));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return this.#dryRun((tx) => nodes.flatMap((node) => this.#tryOne(tx, node, undoer)));
    }
  }

  async #dryRun(undoAll: (tx: Transaction) => RewindOutcome[]): Promise<readonly RewindOutcome[]> {
    try {
      return await this.#options.writer.run((tx): never => {
        throw new DryRunEnd(undoAll(tx));
      });
    } catch (error) {
      if (error instanceof DryRunEnd) return error.outcomes;
      throw error;
    }
  }

  /** One node within the deed of a dry run: what fails leaves nothing behind for the next. */
  #tryOne(tx: Transaction, node: TouchedNode, undoer: NodeUndoer): RewindOutcome[] {
    const { sqlite } = this.#options;
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
function inGoodOrder(nodes: readonly TouchedNode[], undoer: NodeUndoer): TouchedNode[] {
  const turns: TouchedNode[][] = [[], [], [], [], []];
  for (const node of nodes) {
    const { plan, isFolder } = undoer.plan(node);
    const turn =
      plan.kind === "remove" ? (isFolder ? 4 : 0) : plan.kind === "restore" && isFolder ? 1 : isFolder ? 2 : 3;
    turns[turn]?.push(node);
  }
  return turns.flat();
}
