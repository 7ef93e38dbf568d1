import type { Database } from "bun:sqlite";
import { isForUser, sharesForUser } from "./recipients.ts";

/** A live share between accounts that covers a node. */
export interface Grant {
  /** Public id of the share; undefined for a shared album. */
  readonly share: string | undefined;
  /** The shared node: the requested one, or a folder above it. */
  readonly nodeId: number;
  /** How many levels above it is; 0 for the node itself. */
  readonly height: number;
  readonly canWrite: boolean;
  /** Whether earlier versions are also visible. */
  readonly showsVersions: boolean;
}

/** A share between accounts, as its recipient may use it. */
export interface ReceivedGrant {
  readonly accountId: number;
  readonly nodeId: number;
  readonly canWrite: boolean;
}

/** A file or folder that another account shares. */
export interface SharedRoot {
  readonly accountId: number;
  readonly nodeId: number;
  /** Public id of the share. */
  readonly share: string;
}

/** Shares that are searched, the newest ones. */
const ROOTS_MAX = 200;

interface GrantRow {
  readonly share: string;
  readonly nodeId: number;
  readonly height: number;
  readonly canWrite: number;
  readonly showsVersions: number;
}

/**
 * Finds shares between accounts. It walks up from a node by ids, so names and paths decide nothing. Each level takes a
 * few index seeks.
 */
export class ShareGrants {
  readonly #any;
  readonly #above;
  readonly #received;
  readonly #writable;
  readonly #roots;

  constructor(sqlite: Database) {
    this.#any = sqlite.prepare<{ found: number }, [number]>(`SELECT 1 AS found FROM ${sharesForUser("?1")} LIMIT 1`);
    this.#above = sqlite.prepare<GrantRow, [number, number, number]>(
      `WITH RECURSIVE up(id, parent_id, height) AS (
         SELECT id, parent_id, 0 FROM nodes WHERE id = ?1
         UNION ALL SELECT n.id, n.parent_id, up.height + 1 FROM up JOIN nodes n ON n.id = up.parent_id)
       SELECT s.public_id AS share, s.node_id AS nodeId, up.height, s.can_write AS canWrite,
         coalesce(s.shows_versions, s.can_write) AS showsVersions
       FROM up CROSS JOIN shares s INDEXED BY shares_node ON s.node_id = up.id
       WHERE s.kind = 'account' AND ${isForUser("s", "?2")} AND (s.expires_at IS NULL OR s.expires_at > ?3)
       ORDER BY up.height, s.id DESC`,
    );
    this.#received = sqlite.prepare<{ accountId: number; nodeId: number; canWrite: number }, [string, number, number]>(
      `SELECT account_id AS accountId, node_id AS nodeId, can_write AS canWrite FROM shares s INDEXED BY shares_public
       WHERE public_id = ?1 AND node_id IS NOT NULL AND kind = 'account' AND ${isForUser("s", "?2")} AND (expires_at IS NULL OR expires_at > ?3)`,
    );
    this.#roots = sqlite.prepare<SharedRoot, [number, number]>(
      `SELECT s.account_id AS accountId, s.node_id AS nodeId, s.public_id AS share
       FROM ${sharesForUser("?1")} r CROSS JOIN shares s ON s.id = r.id
       WHERE s.kind = 'account' AND s.node_id IS NOT NULL AND (s.expires_at IS NULL OR s.expires_at > ?2)
       ORDER BY s.id DESC LIMIT ${ROOTS_MAX}`,
    );
    this.#writable = sqlite.prepare<{ accountId: number }, [number, number]>(
      `SELECT s.account_id AS accountId FROM ${sharesForUser("?1")} r CROSS JOIN shares s ON s.id = r.id
       WHERE s.kind = 'account' AND s.can_write = 1 AND (s.expires_at IS NULL OR s.expires_at > ?2)`,
    );
  }

  /** The nodes of the live shares with an account, newest first; at most {@link ROOTS_MAX}. */
  roots(recipientId: number, nowMs: number): SharedRoot[] {
    return this.#roots.all(recipientId, nowMs);
  }

  /** Whether any unrevoked share with an account exists. */
  hasAny(recipientId: number): boolean {
    return this.#any.get(recipientId) !== null;
  }

  /** The shares through which an account can access a node, nearest first. */
  above(nodeId: number, recipientId: number, nowMs: number): Grant[] {
    return this.#above.all(nodeId, recipientId, nowMs).map(({ share, nodeId, height, canWrite, showsVersions }) => ({
      share,
      nodeId,
      height,
      canWrite: canWrite === 1,
      showsVersions: showsVersions === 1,
    }));
  }

  /** A share by its public id, if this account is its recipient. */
  received(publicId: string, recipientId: number, nowMs: number): ReceivedGrant | undefined {
    const row = this.#received.get(publicId, recipientId, nowMs);
    return row === null ? undefined : { ...row, canWrite: row.canWrite === 1 };
  }

  /** The accounts that this account may write to. */
  writableAccounts(recipientId: number, nowMs: number): number[] {
    const rows = this.#writable.all(recipientId, nowMs);
    return [...new Set(rows.map(({ accountId }) => accountId))];
  }
}
