/** The trash of an account: items can be restored for some weeks. All writes are durable when a promise resolves. */
import { attempt, type Outcome } from "../files/outcomes.ts";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { LivePairs } from "../photos/live-pairs.ts";
import type { AccessCounters } from "../../accounts/plans/access-counters.ts";
import { actingDevice, type Permissions } from "../permissions/permissions.ts";
import type { TrashQuery } from "../../../tree/queries/trash-list.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FolderSize } from "../../../tree/operations/measure-folder.ts";
import type { NodeRef, TrashedNode, TreeNode } from "../../../tree/model/types.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import type { User } from "../../accounts/users/types.ts";

/** Dependencies of {@link TrashService}. */
export interface TrashServiceOptions {
  readonly writer: Writer;
  readonly clock: Clock;
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  readonly permissions: Permissions;
  readonly access: Pick<AccessCounters, "forget">;
  /** A Live Photo in the trash is restored with its video. */
  readonly livePairs: Pick<LivePairs, "withTrashedVideos">;
  /** How long items stay in the trash. */
  readonly keepMs: () => number;
  /** Called when a folder with content was cut off and its rows remain to be deleted. */
  readonly onDetached: () => void;
}

/** A file or folder in the trash, and when it will be permanently deleted. */
export interface TrashEntry extends TrashedNode {
  readonly expiresAtMs: number;
}

/** Entries purged per transaction: each may delete some rows below it. */
const PURGED_PER_TRANSACTION = 8;
/** Pause between two transactions of a purge, for others to write. */
const REST_MS = 5;

/** Trashes, restores and purges. */
export class TrashService {
  readonly #options: TrashServiceOptions;

  constructor(options: TrashServiceOptions) {
    this.#options = options;
  }

  /**
   * Moves files and folders to the trash of their owner, each independently, in order. A large folder waits for the items
   * before it, and the items after it wait for it: its measured totals are valid only until something changes.
   */
  async put(user: User, ids: readonly string[]): Promise<Outcome<TrashEntry>[]> {
    const { tree, permissions } = this.#options;
    const outcomes: Promise<Outcome<TrashEntry>>[] = [];
    for (const publicId of new Set(ids)) {
      if (!this.#isMeasured(user, publicId)) {
        outcomes.push(attempt(publicId, () => this.putOne(user, publicId, undefined)));
        continue;
      }
      await Promise.all(outcomes);
      const outcome = attempt(publicId, async () => {
        const measured = await tree.measure(permissions.node(user, publicId, "manage").node);
        return this.putOne(user, publicId, measured);
      });
      outcomes.push(outcome);
      await outcome;
    }
    return Promise.all(outcomes);
  }

  /**
   * Moves a file or folder to the trash of its owner.
   * @param measured the totals of a folder, if they were just read
   * @param before runs first in the same transaction; what it throws undoes the change
   * @throws AppError not_found | share_permission | invalid_path | locked
   */
  putOne(user: User, publicId: string, measured: FolderSize | undefined, before?: () => void): Promise<TrashEntry> {
    const { writer, treeWriter, permissions } = this.#options;
    return writer.run((tx) => {
      before?.();
      // As the caller sees it, before it is trashed.
      const { node, owner, isOwn } = permissions.node(user, publicId, "manage");
      const ref = { accountId: owner.id, publicId };
      const trashed = treeWriter.by(actingDevice(user, { isOwn }), () =>
        treeWriter.withLockTokens(user.lockTokens ?? [], () => treeWriter.trash(tx, ref, measured)),
      );
      return this.#entry({ ...trashed, node, folder: node.folder });
    });
  }

  #isMeasured(user: User, publicId: string): boolean {
    const { tree, permissions } = this.#options;
    try {
      return tree.isMeasuredInReader(permissions.node(user, publicId, "manage").node);
    } catch (error) {
      // It is rejected when its turn comes.
      if (error instanceof AppError) return false;
      throw error;
    }
  }

  /** A page of the user's own trash. */
  async list(
    user: User,
    query: Omit<TrashQuery, "accountId">,
  ): Promise<{ entries: readonly TrashEntry[]; total: number }> {
    const { entries, total } = await this.#options.tree.trash.list({ ...query, accountId: user.id });
    return { entries: entries.map((entry) => this.#entry(entry)), total };
  }

  /**
   * Restores files and folders from the trash, and Live Photos with their videos, each independently, the last trashed
   * one first: a folder then exists again before the files that were trashed from it earlier.
   */
  async restore(user: User, ids: readonly string[]): Promise<Outcome<TreeNode>[]> {
    const { writer, tree, treeWriter, livePairs } = this.#options;
    const trashedSeq = (publicId: string) => tree.trashedSeqOf({ accountId: user.id, publicId }) ?? 0;
    const known = livePairs.withTrashedVideos(ids, user.id);
    const order = known.map((id) => ({ id, seq: trashedSeq(id) })).sort((a, b) => b.seq - a.seq);
    const outcomes = await Promise.all(
      order.map(({ id: publicId }) =>
        attempt(publicId, () =>
          writer.run((tx) =>
            treeWriter.by(user.viaDeviceId, () => treeWriter.restore(tx, { accountId: user.id, publicId })),
          ),
        ),
      ),
    );
    const byId = new Map(outcomes.map((outcome) => [outcome.id, outcome]));
    return known.flatMap((id) => byId.get(id) ?? []);
  }

  /** Deletes one item in the trash permanently. @throws AppError not_found */
  async purge(user: User, publicId: string): Promise<TrashEntry> {
    const { writer } = this.#options;
    return writer.run((tx) => this.#purge(tx, user, { accountId: user.id, publicId }));
  }

  /** Permanently deletes everything in the trash now, in many short transactions. @returns how many entries */
  async empty(user: User): Promise<number> {
    return this.#purgeUpTo(this.#options.clock.nowMs(), user);
  }

  /** Permanently deletes items whose time in the trash has expired, in bounded steps. For the timetable. */
  async sweep(signal?: AbortSignal): Promise<number> {
    const { clock, keepMs } = this.#options;
    return this.#purgeUpTo(clock.nowMs() - keepMs(), undefined, signal);
  }

  async #purgeUpTo(atMs: number, user: User | undefined, signal?: AbortSignal): Promise<number> {
    const { writer, tree } = this.#options;
    let purged = 0;
    for (;;) {
      if (signal?.aborted === true) return purged;
      const some = await writer.run((tx) => {
        const refs = tree.trashedBefore(atMs, PURGED_PER_TRANSACTION, user?.id ?? null);
        for (const ref of refs) this.#purge(tx, user, ref);
        return refs.length;
      });
      purged += some;
      if (some < PURGED_PER_TRANSACTION) return purged;
      await Bun.sleep(REST_MS);
    }
  }

  #purge(tx: Transaction, user: User | undefined, ref: NodeRef): TrashEntry {
    const { treeWriter, access, onDetached } = this.#options;
    const purged = treeWriter.by(user?.viaDeviceId, () => treeWriter.purge(tx, ref));
    const { node } = purged;
    tx.afterCommit(() => (node.kind === "file" ? access.forget(node.id) : onDetached()));
    return this.#entry(purged);
  }

  #entry(trashed: TrashedNode): TrashEntry {
    return { ...trashed, expiresAtMs: trashed.trashedAtMs + this.#options.keepMs() };
  }
}
