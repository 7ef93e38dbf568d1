/**
 * Write locks of WebDAV clients (RFC 4918, sections 6 and 7). Every operation of the tree asks here before it changes
 * anything, so all APIs respect a lock. A request that names the token of a lock may change what it covers
 * ({@link Locks.withLockTokens}).
 *
 * A lock covers its file or folder: content, labels, name, location and, for a folder, which members it has. A deep
 * lock also covers everything below its folder. A lock ends when its node is moved, renamed, trashed or deleted.
 */
import type { Database } from "bun:sqlite";
import { AppError } from "../../errors.ts";
import type { Clock } from "../../lib/clock.ts";
import { newId, newSecretToken } from "../../lib/id.ts";
import { invariant } from "../../lib/invariant.ts";
import { say } from "../../translations/say.ts";
import type { CoveringLock, Lock, LockRequest, TreeNode } from "../model/types.ts";
import type { FolderPaths } from "./folder-paths.ts";
import { FOLDER } from "../model/rows.ts";

/** Locks in the tree of an account. */
export const LOCKS_MAX = 1_000;

/** Also for people who cannot end the lock: those who received the item in a share. */
export const LOCKED = say`A program has locked this file or folder. Close it in that program. Its owner can also end the lock in Settings, under Devices.`;

const NO_TOKENS: ReadonlySet<string> = new Set();

interface LockRow {
  readonly public_id: string;
  readonly token: string;
  readonly account_id: number;
  readonly node_id: number;
  readonly created_by: number;
  readonly program: string | null;
  readonly owner_xml: string | null;
  readonly is_exclusive: number;
  readonly is_deep: number;
  readonly created_at: number;
  readonly expires_at: number;
}

const COLUMNS = `l.public_id, l.token, l.account_id, l.node_id, l.created_by, l.program, l.owner_xml, l.is_exclusive,
  l.is_deep, l.created_at, l.expires_at`;

/** The rows of `locks`. Expired ones count nowhere. */
export class Locks {
  #tokens = NO_TOKENS;
  readonly #clock: Clock;
  readonly #paths: FolderPaths;
  readonly #any;
  readonly #covering;
  readonly #onNodes;
  readonly #ofAccount;
  readonly #count;
  readonly #byToken;
  readonly #publicId;
  readonly #insert;
  readonly #extend;
  readonly #delete;
  readonly #deleteOfAccount;
  readonly #sweep;

  constructor(sqlite: Database, clock: Clock, paths: FolderPaths) {
    this.#clock = clock;
    this.#paths = paths;
    this.#any = sqlite.prepare<{ found: number }, [number, number]>(
      "SELECT 1 AS found FROM locks INDEXED BY locks_account WHERE account_id = ?1 AND expires_at > ?2 LIMIT 1",
    );
    this.#covering = sqlite.prepare<LockRow & { height: number }, [number, number]>(
      `WITH RECURSIVE up(id, height) AS (SELECT ?1, 0
         UNION ALL SELECT n.parent_id, up.height + 1 FROM up JOIN nodes n ON n.id = up.id WHERE n.parent_id > 0)
       SELECT ${COLUMNS}, up.height FROM up CROSS JOIN locks l INDEXED BY locks_node ON l.node_id = up.id
       WHERE (up.height = 0 OR l.is_deep = 1) AND l.expires_at > ?2 ORDER BY up.height, l.id`,
    );
    this.#onNodes = sqlite.prepare<LockRow, [string, number]>(
      `SELECT ${COLUMNS} FROM json_each(?1) j CROSS JOIN locks l INDEXED BY locks_node ON l.node_id = j.value
       WHERE l.expires_at > ?2 ORDER BY l.id`,
    );
    this.#ofAccount = sqlite.prepare<LockRow & { kind: number; parent_id: number | null }, [number, number]>(
      `SELECT ${COLUMNS}, n.kind, n.parent_id FROM locks l INDEXED BY locks_account CROSS JOIN nodes n ON n.id = l.node_id
       WHERE l.account_id = ?1 AND l.expires_at > ?2 ORDER BY l.id`,
    );
    this.#count = sqlite.prepare<{ count: number }, [number, number]>(
      "SELECT count(*) AS count FROM locks INDEXED BY locks_account WHERE account_id = ?1 AND expires_at > ?2",
    );
    this.#byToken = sqlite.prepare<LockRow, [string, number]>(
      `SELECT ${COLUMNS} FROM locks l INDEXED BY locks_token WHERE l.token = ?1 AND l.expires_at > ?2`,
    );
    this.#publicId = sqlite.prepare<{ publicId: string }, [number]>(
      "SELECT public_id AS publicId FROM nodes WHERE id = ?1",
    );
    this.#insert = sqlite.prepare<undefined, (string | number | null)[]>(
      `INSERT INTO locks (public_id, token, account_id, node_id, created_by, program, owner_xml, is_exclusive, is_deep,
         created_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)`,
    );
    this.#extend = sqlite.prepare<undefined, [string, number]>("UPDATE locks SET expires_at = ?2 WHERE token = ?1");
    this.#delete = sqlite.prepare<undefined, [string]>("DELETE FROM locks WHERE token = ?1");
    this.#deleteOfAccount = sqlite.prepare<undefined, [number]>(
      "DELETE FROM locks WHERE account_id = ?1 OR created_by = ?1",
    );
    this.#sweep = sqlite.prepare<undefined, [number, number]>(
      `DELETE FROM locks WHERE id IN (SELECT id FROM locks INDEXED BY locks_expiry WHERE expires_at <= ?1 LIMIT ?2)`,
    );
  }

  /** @see TreeWriter.withLockTokens */
  withLockTokens<T>(tokens: readonly string[], body: () => T): T {
    const before = this.#tokens;
    this.#tokens = new Set(tokens);
    try {
      return body();
    } finally {
      this.#tokens = before;
    }
  }

  /**
   * Requires that no lock prevents a change of these nodes themselves. For a folder that includes adding and removing
   * members: name the folder, not the member (RFC 4918, section 7.4).
   * @throws AppError locked
   */
  requireUnlocked(accountId: number, ...nodeIds: readonly (number | null)[]): void {
    if (!this.#hasAny(accountId)) return;
    for (const id of nodeIds) if (id !== null) this.#rejectLocked(id, this.#coveringNode(id));
  }

  /**
   * Requires that a node may leave its location with everything below it.
   * @param folderIds the folders that lose or gain it as a member
   * @throws AppError locked
   */
  requireMovable(node: TreeNode, ...folderIds: readonly (number | null)[]): void {
    this.#findLeaving(node, folderIds);
  }

  /**
   * Like {@link requireMovable}, and ends the locks of the node and of everything below it. The change must follow in the
   * same transaction.
   * @throws AppError locked
   */
  unlockForMove(node: TreeNode, ...folderIds: readonly (number | null)[]): void {
    for (const { token } of this.#findLeaving(node, folderIds)) this.#delete.run(token);
  }

  /** The locks that cover each of these nodes of one account: its own, and deep ones of folders above it. */
  on(nodes: readonly Pick<TreeNode, "id" | "accountId" | "parentId">[]): Map<number, CoveringLock[]> {
    const found = new Map<number, CoveringLock[]>();
    const [first] = nodes;
    if (first === undefined || !this.#hasAny(first.accountId)) return found;
    const direct = Map.groupBy(this.#direct(nodes.map(({ id }) => id)), ({ nodeId }) => nodeId);
    // One walk to the root for all members of a folder.
    const above = new Map<number | null, CoveringLock[]>();
    const findAbove = (folderId: number): CoveringLock[] =>
      this.#coveringNode(folderId).flatMap((lock) => (lock.isDeep ? [{ ...lock, height: lock.height + 1 }] : []));
    for (const { id, parentId } of nodes) {
      const deep = above.get(parentId) ?? (parentId === null ? [] : findAbove(parentId));
      above.set(parentId, deep);
      const locks = [...(direct.get(id) ?? []).map((lock) => ({ ...lock, height: 0 })), ...deep];
      if (locks.length > 0) found.set(id, locks);
    }
    return found;
  }

  /** All locks in the tree of an account, oldest first. */
  list(accountId: number): Lock[] {
    return this.#ofAccount.all(accountId, this.#clock.nowMs()).map(toLock);
  }

  /** The lock with this token; undefined if there is none, or it has expired. */
  find(token: string): Lock | undefined {
    const row = this.#byToken.get(token, this.#clock.nowMs());
    return row === null ? undefined : toLock(row);
  }

  /**
   * Locks a node that was read in this transaction.
   * @throws AppError locked if another lock prevents it, with the id of the node where; invalid_path for a deep lock of
   *   the root; quota_exceeded for too many locks
   */
  add(node: TreeNode, request: LockRequest): Lock {
    const nowMs = this.#clock.nowMs();
    const { accountId, id: nodeId } = node;
    const { createdBy, program, ownerXml, isExclusive, isDeep, durationMs } = request;
    if (isDeep && node.kind === "folder" && node.parentId === null) {
      const message = say`You can't lock all files of an account. Lock a folder or a file.`;
      throw new AppError("invalid_path", message, { field: "Depth" });
    }
    this.#rejectConflict(nodeId, this.#coveringNode(nodeId), isExclusive);
    if (isDeep && node.kind === "folder")
      for (const lock of this.#within(accountId, nodeId)) this.#rejectConflict(lock.nodeId, [lock], isExclusive);
    if ((this.#count.get(accountId, nowMs)?.count ?? 0) >= LOCKS_MAX) {
      const message = say`An account can have at most ${LOCKS_MAX} locks. Close some files, or end locks in Settings, under Devices.`;
      throw new AppError("quota_exceeded", message, { limit: LOCKS_MAX, of: "locks" });
    }
    const token = `larder:lock:${newSecretToken(128)}`;
    this.#insert.run(
      newId("lck", nowMs),
      token,
      accountId,
      nodeId,
      createdBy,
      program,
      ownerXml,
      isExclusive ? 1 : 0,
      isDeep ? 1 : 0,
      nowMs,
      nowMs + durationMs,
    );
    const lock = this.find(token);
    invariant(lock !== undefined, "a lock that was just made is there");
    return lock;
  }

  /** Sets the end of a lock to `durationMs` from now. */
  extend(token: string, durationMs: number): void {
    this.#extend.run(token, this.#clock.nowMs() + durationMs);
  }

  /** Ends a lock. */
  end(token: string): void {
    this.#delete.run(token);
  }

  /** Ends all locks in the tree of an account, and those that the account made elsewhere. */
  endAll(accountId: number): void {
    this.#deleteOfAccount.run(accountId);
  }

  /** Deletes expired locks, up to `limit`. @returns how many */
  sweep(limit: number): number {
    return this.#sweep.run(this.#clock.nowMs(), limit).changes;
  }

  /** The locks that end when a node leaves its location. @throws AppError locked */
  #findLeaving({ accountId, id, kind }: TreeNode, folderIds: readonly (number | null)[]): Lock[] {
    if (!this.#hasAny(accountId)) return [];
    for (const nodeId of new Set([id, ...folderIds])) {
      if (nodeId !== null) this.#rejectLocked(nodeId, this.#coveringNode(nodeId));
    }
    const left = kind === "folder" ? this.#within(accountId, id) : this.#direct([id]);
    for (const { nodeId } of left) this.#rejectLocked(nodeId, this.#coveringNode(nodeId));
    return left;
  }

  #hasAny(accountId: number): boolean {
    return this.#any.get(accountId, this.#clock.nowMs()) !== null;
  }

  #coveringNode(nodeId: number): CoveringLock[] {
    return this.#covering.all(nodeId, this.#clock.nowMs()).map((row) => ({ ...toLock(row), height: row.height }));
  }

  #direct(nodeIds: readonly number[]): Lock[] {
    return this.#onNodes.all(JSON.stringify(nodeIds), this.#clock.nowMs()).map(toLock);
  }

  /** The locks of a folder and of everything below it. */
  #within(accountId: number, folderId: number): Lock[] {
    const rows = this.#ofAccount.all(accountId, this.#clock.nowMs());
    const folderOf = (row: (typeof rows)[number]) =>
      row.kind === FOLDER ? row.node_id : (row.parent_id ?? row.node_id);
    const inside = this.#paths.within(new Set(rows.map(folderOf)), folderId);
    return rows.filter((row) => inside.has(folderOf(row))).map(toLock);
  }

  /** Of several shared locks, the token of one is enough (RFC 4918, section 6.2). */
  #rejectLocked(nodeId: number, locks: readonly Lock[]): void {
    const [first] = locks;
    if (first === undefined || locks.some(({ token }) => this.#tokens.has(token))) return;
    throw this.#locked(nodeId, first);
  }

  /** Only shared locks are compatible with each other (RFC 4918, section 6.2). */
  #rejectConflict(nodeId: number, locks: readonly Lock[], isExclusive: boolean): void {
    const conflict = locks.find((lock) => isExclusive || lock.isExclusive);
    if (conflict !== undefined) throw this.#locked(nodeId, conflict);
  }

  /** Names the affected node, never the folder above it whose lock covers it: the caller may not know that folder. */
  #locked(nodeId: number, { expiresAtMs }: Lock): AppError {
    const expiresAt = new Date(expiresAtMs).toISOString();
    return new AppError("locked", LOCKED, { nodeId: this.#publicId.get(nodeId)?.publicId, expiresAt });
  }
}

function toLock(row: LockRow): Lock {
  return {
    publicId: row.public_id,
    token: row.token,
    accountId: row.account_id,
    nodeId: row.node_id,
    createdBy: row.created_by,
    program: row.program,
    ownerXml: row.owner_xml,
    isExclusive: row.is_exclusive === 1,
    isDeep: row.is_deep === 1,
    createdAtMs: row.created_at,
    expiresAtMs: row.expires_at,
  };
}
