/** Locks of WebDAV clients (RFC 4918, section 6). The tree enforces them; here they are made, extended and ended. */
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError, notFound } from "../../../errors.ts";
import type { Lock, LockRequest, TreeNode } from "../../../tree/model/types.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import { say } from "../../../translations/say.ts";
import type { User } from "../../accounts/users/types.ts";

/** A lock lasts at most this long: a program that needs it longer refreshes it. */
export const LOCK_MS_MAX = 60 * 60 * 1000;
/** Locks that cover one file or folder; there are several only if they are shared. */
const LOCKS_PER_NODE_MAX = 20;

/** Dependencies of {@link LockService}. */
export interface LockServiceOptions {
  readonly writer: Writer;
  readonly tree: Pick<TreeReader, "locks" | "findById">;
  readonly treeWriter: Pick<TreeWriter, "locks" | "withLockTokens">;
}

/** A lock, and what it locks. */
export interface ListedLock {
  readonly lock: Lock;
  readonly node: TreeNode;
}

/** Manages locks. */
export class LockService {
  readonly #options: LockServiceOptions;

  constructor(options: LockServiceOptions) {
    this.#options = options;
  }

  /**
   * Locks a file or folder. The caller has checked that the user may change it, in this transaction.
   * @throws AppError locked with the id of the node where another lock prevents it; invalid_path for a deep lock on the
   *   root of an account; quota_exceeded for too many locks
   */
  lock(_tx: Transaction, node: TreeNode, request: LockRequest): Lock {
    const { tree, treeWriter } = this.#options;
    const covering = tree.locks.on([node]).get(node.id) ?? [];
    if (!request.isExclusive && covering.length >= LOCKS_PER_NODE_MAX) {
      const message = say`A file or folder can have at most ${LOCKS_PER_NODE_MAX} locks. Try again later.`;
      throw new AppError("quota_exceeded", message, { limit: LOCKS_PER_NODE_MAX, of: "locks" });
    }
    return treeWriter.locks.add(node, { ...request, durationMs: bounded(request.durationMs) });
  }

  /**
   * Lets the lock with one of these tokens last longer: the first that covers the node and that a program of the user
   * made.
   * @throws AppError precondition_failed if there is none
   */
  refresh(_tx: Transaction, user: User, node: TreeNode, tokens: readonly string[], durationMs: number): Lock {
    const { tree, treeWriter } = this.#options;
    const covering = tree.locks.on([node]).get(node.id) ?? [];
    const lock = covering.find(({ token, createdBy }) => createdBy === user.id && tokens.includes(token));
    if (lock === undefined) {
      throw new AppError("precondition_failed", say`This lock has ended. Lock the item again.`);
    }
    treeWriter.locks.extend(lock.token, bounded(durationMs));
    return tree.locks.find(lock.token) ?? lock;
  }

  /**
   * Ends a lock that covers the node: as its maker, or as the owner of the node.
   * @throws AppError not_found if no lock with this token covers the node; share_permission for somebody else's lock
   */
  unlock(_tx: Transaction, user: User, node: TreeNode, token: string): void {
    const { tree, treeWriter } = this.#options;
    const lock = tree.locks
      .on([node])
      .get(node.id)
      ?.find((candidate) => candidate.token === token);
    if (lock === undefined) throw notFound(say`This lock was not found.`);
    if (lock.createdBy !== user.id && lock.accountId !== user.id) {
      throw new AppError(
        "share_permission",
        say`Another account made this lock. Ask the owner of the file or folder to end it.`,
      );
    }
    treeWriter.locks.end(lock.token);
  }

  /** The tokens of locks that the user's programs made: only they may use these locks (RFC 4918, section 6.4). */
  ownTokens({ id }: User, tokens: readonly string[]): string[] {
    return tokens.filter((token) => this.#options.tree.locks.find(token)?.createdBy === id);
  }

  /**
   * Requires that no lock prevents new content of a file, or a new member of a folder. The tree checks this too; this
   * check comes before the content is received, and also rejects content that changes nothing.
   * @throws AppError locked
   */
  requireUnlocked(node: TreeNode, lockTokens: readonly string[]): void {
    const { treeWriter } = this.#options;
    treeWriter.withLockTokens(lockTokens, () => treeWriter.locks.requireUnlocked(node.accountId, node.id));
  }

  /**
   * Requires that no lock prevents that an item leaves its folder with everything below it. The tree checks this too;
   * this check comes before the change is counted.
   * @throws AppError locked
   */
  requireMovable(node: TreeNode, lockTokens: readonly string[]): void {
    const { treeWriter } = this.#options;
    treeWriter.withLockTokens(lockTokens, () => treeWriter.locks.requireMovable(node, node.parentId));
  }

  /** The locks in the user's own tree, oldest first. */
  list(user: User): ListedLock[] {
    const { tree } = this.#options;
    return tree.locks.list(user.id).flatMap((lock) => {
      const node = tree.findById(lock.nodeId);
      return node === undefined ? [] : [{ lock, node }];
    });
  }

  /** Ends a lock in the user's own tree, also one that another account made. @throws AppError not_found */
  async end(user: User, publicId: string): Promise<void> {
    const { writer, tree, treeWriter } = this.#options;
    await writer.run(() => {
      const lock = tree.locks.list(user.id).find((candidate) => candidate.publicId === publicId);
      if (lock === undefined) throw notFound(say`This lock was not found.`);
      treeWriter.locks.end(lock.token);
    });
  }
}

function bounded(durationMs: number): number {
  return Math.min(Math.max(durationMs, 1_000), LOCK_MS_MAX);
}
