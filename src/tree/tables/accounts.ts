/** An account's journal head and totals: one row, updated with every change of the tree. */
import type { Database } from "bun:sqlite";
import type { Transaction } from "../../db/transaction.ts";
import { AppError, needsMoreSpace } from "../../errors.ts";
import type { Clock } from "../../lib/clock.ts";
import { invariant } from "../../lib/invariant.ts";
import { say } from "../../translations/say.ts";
import type { StoredNode } from "./node-rows.ts";
import type { Usage } from "../model/types.ts";

/** A change of an account's totals, and how many journal numbers it takes. */
interface AccountChange {
  /** Default 1. */
  readonly numbers?: number;
  readonly files?: number;
  readonly folders?: number;
  readonly fileBytes?: number;
  readonly versionBytes?: number;
  readonly trashBytes?: number;
  readonly trashNodes?: number;
  /** Skips the limit on files and folders: the nodes were accepted before. */
  readonly isUnlimited?: boolean;
}

interface UsageRow {
  readonly files: number;
  readonly folders: number;
  readonly fileBytes: number;
  readonly versionBytes: number;
  readonly trashBytes: number;
  readonly trashNodes: number;
  readonly reservedBytes: number;
}

/** Dependencies of {@link Accounts}. */
interface AccountsOptions {
  readonly clock: Clock;
  /** The device whose request is running. */
  readonly actorDeviceId: () => number | null;
  /** How many files and folders an account may hold, including the trash; null for no limit. */
  readonly maxNodesOf: (accountId: number) => number | null;
  /** Called inside the transaction when the stored bytes of an account grew. */
  readonly onGrown: (tx: Transaction, accountId: number, usedBeforeBytes: number, usedAfterBytes: number) => void;
}

/** The rows of `accounts` and `usage_types`, and of the journal. */
export class Accounts {
  readonly #options: AccountsOptions;
  readonly #take;
  readonly #taken;
  readonly #reserve;
  readonly #usage;
  /** One small entry for each account changed since startup. */
  readonly #generations = new Map<number, number>();
  readonly #seq;
  readonly #journal;
  readonly #tombstone;
  readonly #dropTombstone;
  readonly #dropAccess;
  readonly #addType;
  readonly #types;

  constructor(sqlite: Database, options: AccountsOptions) {
    this.#options = options;
    // No RETURNING, as every upload and imported file runs this: a statement plus a read costs less.
    this.#take = sqlite.prepare<undefined, (number | null)[]>(
      // The journal's time never goes back, even if the clock does.
      `UPDATE accounts SET seq = seq + ?2, changed_at = max(changed_at, ?9), files = files + ?3, folders = folders + ?4, file_bytes = file_bytes + ?5,
         version_bytes = version_bytes + ?6, trash_bytes = trash_bytes + ?10,
         trash_nodes = trash_nodes + ?11
       WHERE id = ?1 AND (?7 IS NULL OR file_bytes + version_bytes + trash_bytes + reserved_bytes + ?8 <= ?7)
         AND (?12 IS NULL OR files + folders + trash_nodes + ?13 <= ?12)`,
    );
    this.#taken = sqlite.prepare<{ seq: number; used: number }, [number]>(
      "SELECT seq, file_bytes + version_bytes + trash_bytes AS used FROM accounts WHERE id = ?1",
    );
    this.#reserve = sqlite.prepare<{ id: number }, [number, number, number | null]>(
      `UPDATE accounts SET reserved_bytes = max(0, reserved_bytes + ?2)
       WHERE id = ?1 AND (?3 IS NULL OR file_bytes + version_bytes + trash_bytes + reserved_bytes + ?2 <= ?3)
       RETURNING id`,
    );
    this.#usage = sqlite.prepare<UsageRow, [number]>(
      `SELECT files, folders, file_bytes AS fileBytes, version_bytes AS versionBytes, trash_bytes AS trashBytes,
         trash_nodes AS trashNodes, reserved_bytes AS reservedBytes
       FROM accounts WHERE id = ?1`,
    );
    this.#seq = sqlite.prepare<{ seq: number }, [number]>("SELECT seq FROM accounts WHERE id = ?1");
    this.#journal = sqlite.prepare<undefined, [number, number, number, number | null]>(
      `INSERT INTO journal (account_id, seq, node_id, at, device_id)
       VALUES (?1, ?2, ?3, (SELECT changed_at FROM accounts WHERE id = ?1), ?4)`,
    );
    this.#tombstone = sqlite.prepare<undefined, [number, number, number, string, number, number, number]>(
      `INSERT INTO tombstones (account_id, seq, node_id, public_id, kind, created_seq, deleted_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)`,
    );
    this.#dropTombstone = sqlite.prepare<undefined, [number, number]>(
      "DELETE FROM tombstones WHERE account_id = ?1 AND seq = ?2",
    );
    this.#dropAccess = sqlite.prepare<undefined, [number]>("DELETE FROM node_access WHERE node_id = ?1");
    this.#addType = sqlite.prepare<undefined, [number, string, number, number]>(
      `INSERT INTO usage_types (account_id, type, files, bytes) VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT DO UPDATE SET files = files + excluded.files, bytes = bytes + excluded.bytes`,
    );
    this.#types = sqlite.prepare<{ type: string; files: number; bytes: number }, [number]>(
      "SELECT type, files, bytes FROM usage_types WHERE account_id = ?1 AND files > 0 ORDER BY bytes DESC, type",
    );
  }

  /**
   * Takes the next journal numbers and changes the totals. The same statement checks the quota and the limit on files
   * and folders. A change that adds no bytes (or no nodes) never fails by that limit, even in a full account.
   * @param quotaBytes null for no limit
   * @param tx if given, listeners are notified that the account grew
   * @returns the last number taken
   * @throws AppError quota_exceeded
   */
  take(accountId: number, change: AccountChange, quotaBytes: number | null = null, tx?: Transaction): number {
    this.touch(accountId);
    const { numbers = 1, files = 0, folders = 0, fileBytes = 0, versionBytes = 0, trashBytes = 0 } = change;
    const { trashNodes = 0, isUnlimited = false } = change;
    const added = fileBytes + versionBytes + trashBytes;
    const limit = added > 0 ? quotaBytes : null;
    const addedNodes = files + folders + trashNodes;
    const maxNodes = addedNodes > 0 && !isUnlimited ? this.#options.maxNodesOf(accountId) : null;
    const nowMs = this.#options.clock.nowMs();
    const counts = [files, folders, fileBytes, versionBytes] as const;
    const trash = [trashBytes, trashNodes] as const;
    const { changes } = this.#take.run(
      accountId,
      numbers,
      ...counts,
      limit,
      added,
      nowMs,
      ...trash,
      maxNodes,
      addedNodes,
    );
    const row = changes === 0 ? null : this.#taken.get(accountId);
    if (row !== null) {
      if (tx !== undefined && added > 0) this.#options.onGrown(tx, accountId, row.used - added, row.used);
      return row.seq;
    }
    this.#rejectNodes(accountId, addedNodes, maxNodes);
    invariant(limit !== null, "the account exists");
    throw this.#quotaExceeded(accountId, added, limit);
  }

  /** @throws AppError quota_exceeded if the account may not hold this many more files and folders */
  rejectNodes(accountId: number, added: number): void {
    this.#rejectNodes(accountId, added, this.#options.maxNodesOf(accountId));
  }

  #rejectNodes(accountId: number, added: number, limit: number | null): void {
    const { nodes: used } = this.usage(accountId);
    if (limit === null || used + added <= limit) return;
    throw new AppError(
      "quota_exceeded",
      say`You have ${used} of at most ${limit} files and folders, including the trash. Delete some permanently, or ask for another plan.`,
      { limit, of: "nodes", used, required: added },
    );
  }

  /** @see TreeWriter.reserveBytes */
  reserve(accountId: number, bytes: number, quotaBytes: number | null): void {
    const limit = bytes > 0 ? quotaBytes : null;
    if (this.#reserve.get(accountId, bytes, limit) !== null) return;
    invariant(limit !== null, "the account exists");
    throw this.#quotaExceeded(accountId, bytes, limit);
  }

  #quotaExceeded(accountId: number, added: number, limit: number): AppError {
    const used = this.usage(accountId).usedBytes;
    return new AppError("quota_exceeded", needsMoreSpace(added, limit - used, limit), { limit, used, required: added });
  }

  /**
   * A number that changes with every change of the account's tree made here, including ones rolled back. What was read
   * outside a transaction stays valid while the number stays the same. Needs no query.
   */
  generationOf(accountId: number): number {
    return this.#generations.get(accountId) ?? 0;
  }

  /** Changes {@link generationOf}. */
  touch(accountId: number): void {
    this.#generations.set(accountId, this.generationOf(accountId) + 1);
  }

  /** Writes the journal row of a change whose number was taken. */
  record(accountId: number, seq: number, nodeId: number): void {
    this.#journal.run(accountId, seq, nodeId, this.#options.actorDeviceId());
  }

  /** Writes journal row and tombstone of a deleted node, and deletes its download count. */
  writeTombstone(accountId: number, seq: number, node: StoredNode, nowMs: number): void {
    this.writeTrashTombstone(accountId, seq, node, nowMs);
    this.dropAccess(node.id);
  }

  /**
   * Reverts a deletion: removes the tombstone. The journal row of the return supersedes that of the deletion.
   * @param seq number of the tombstone
   */
  dropTombstone(accountId: number, seq: number): void {
    this.#dropTombstone.run(accountId, seq);
  }

  /** Writes journal row and tombstone of a node that moves to the trash and may be restored. */
  writeTrashTombstone(accountId: number, seq: number, node: StoredNode, nowMs: number): void {
    this.record(accountId, seq, node.id);
    this.#tombstone.run(accountId, seq, node.id, node.public_id, node.kind, node.created_seq, nowMs);
  }

  /** Deletes the download count of a node. */
  dropAccess(nodeId: number): void {
    this.#dropAccess.run(nodeId);
  }

  /** The last journal number taken. */
  headOf(accountId: number): number {
    return this.#seq.get(accountId)?.seq ?? 0;
  }

  /** Totals of what the account holds. */
  usage(accountId: number): Usage {
    const row = this.#usage.get(accountId);
    invariant(row !== null, "the account exists");
    const { trashNodes, ...rest } = row;
    const nodes = row.files + row.folders + trashNodes;
    return { ...rest, nodes, usedBytes: row.fileBytes + row.versionBytes + row.trashBytes + row.reservedBytes };
  }

  /** Adds files and bytes to the totals of a media type; negative numbers subtract. */
  countType(accountId: number, mediaType: string, files: number, bytes: number): void {
    this.#addType.run(accountId, usageType(mediaType), files, bytes);
  }

  /** Files and bytes by media type, most bytes first. */
  usageByType(accountId: number): { type: string; files: number; bytes: number }[] {
    return this.#types.all(accountId);
  }
}

/** The media type without parameters, in lower case. */
export function usageType(mediaType: string): string {
  const end = mediaType.indexOf(";");
  return (end < 0 ? mediaType : mediaType.slice(0, end)).trim().toLowerCase();
}
