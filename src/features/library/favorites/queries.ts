import type { Database } from "bun:sqlite";
import type { Bindable } from "../../../db/reader.worker.ts";
import { isWriting } from "../../../db/shared-reads.ts";
import { WITH_GONE_FOLDERS } from "../../../tree/model/gone.ts";
import { isForUser } from "../permissions/recipients.ts";
import { orderBy } from "../../../tree/model/sorts.ts";
import type { SortField, SortOrder } from "../../../tree/model/types.ts";

/** A statement, and its parameters. */
export interface FavoriteStatement {
  readonly sql: string;
  readonly parameters: readonly Bindable[];
}

/** A row of {@link selectShares}. */
export interface ShareRow {
  readonly nodeId: number;
  /** Public id of the share. */
  readonly share: string;
  /** Row id of the node that it shares. */
  readonly sharedId: number;
  /** What the shares of the node itself allow: bits {@link CAN_WRITE} and {@link SHOWS_VERSIONS}. */
  readonly own: number;
  /** What the shares of the folders above it allow. */
  readonly above: number;
}

/** Bits of what a share allows. */
export const CAN_WRITE = 1;
export const SHOWS_VERSIONS = 2;

/** Accounts that are remembered to have no favorites; a number each. */
const WITHOUT_MAX = 10_000;

/** The rows of `favorites`. Changes run inside a transaction. */
export class FavoriteRows {
  /** Accounts without favorites: most accounts, and each file info asks. */
  readonly #without = new Set<number>();
  readonly #sqlite: Database;
  readonly #count;
  readonly #add;
  readonly #remove;
  readonly #hasAny;
  readonly #among;
  readonly #hasGone;
  readonly #stepsAbove;
  readonly #received;

  constructor(sqlite: Database) {
    this.#sqlite = sqlite;
    this.#count = sqlite.prepare<{ count: number }, [number]>(
      "SELECT count(*) AS count FROM favorites WHERE account_id = ?1",
    );
    this.#add = sqlite.prepare<undefined, [number, number]>(
      "INSERT OR IGNORE INTO favorites (account_id, node_id) VALUES (?1, ?2)",
    );
    this.#remove = sqlite.prepare<undefined, [number, number]>(
      "DELETE FROM favorites WHERE account_id = ?1 AND node_id = ?2",
    );
    this.#hasAny = sqlite.prepare<{ found: number }, [number]>(
      "SELECT EXISTS (SELECT 1 FROM favorites WHERE account_id = ?1) AS found",
    );
    this.#among = sqlite.prepare<{ id: number }, [number, string]>(
      `SELECT f.node_id AS id FROM json_each(?2) j CROSS JOIN favorites f
         ON f.account_id = ?1 AND f.node_id = j.value`,
    );
    this.#hasGone = sqlite.prepare<{ has: number }, [number]>(`${GONE} SELECT EXISTS (SELECT 1 FROM gone) AS has`);
    this.#stepsAbove = sqlite.prepare<{ count: number }, [string, number]>(
      `WITH RECURSIVE up(parent_id) AS (
         SELECT DISTINCT n.parent_id FROM json_each(?1) j CROSS JOIN nodes n ON n.id = j.value
         UNION ALL SELECT n.parent_id FROM up CROSS JOIN nodes n ON n.id = up.parent_id LIMIT ?2)
       SELECT count(*) AS count FROM up`,
    );
    this.#received = sqlite.prepare<{ id: number }, [number, number]>(
      `SELECT n.id FROM favorites f CROSS JOIN nodes n ON n.id = f.node_id
       WHERE f.account_id = ?1 AND n.account_id <> ?1 LIMIT ?2`,
    );
  }

  /** How many favorites an account has, including hidden ones. */
  count(accountId: number): number {
    return this.#count.get(accountId)?.count ?? 0;
  }

  /** Forgets which accounts have no favorites: another process wrote. */
  dropCaches(): void {
    this.#without.clear();
  }

  /** @returns whether it was none before */
  add(accountId: number, nodeId: number): boolean {
    this.#without.delete(accountId);
    return this.#add.run(accountId, nodeId).changes > 0;
  }

  remove(accountId: number, nodeId: number): void {
    this.#remove.run(accountId, nodeId);
  }

  /** Whether the account has unreachable folders whose nodes still have rows. */
  hasGone(accountId: number): boolean {
    return this.#hasGone.get(accountId)?.has === 1;
  }

  /** At most this many favorites of an account that belong to others. */
  received(accountId: number, limit: number): number[] {
    return this.#received.all(accountId, limit).map(({ id }) => id);
  }

  /** Whether going up from all folders of these nodes takes at most `max` steps. Takes a time proportional to `max`. */
  isShallow(nodeIds: readonly number[], max: number): boolean {
    return (this.#stepsAbove.get(JSON.stringify(nodeIds), max + 1)?.count ?? 0) <= max;
  }

  /** Those of these nodes that are favorites of the account. */
  among(accountId: number, nodeIds: readonly number[]): ReadonlySet<number> {
    // Most accounts have none. This spares a listing the look-up of each node.
    if (nodeIds.length === 0 || this.#hasNone(accountId)) return NONE;
    return new Set(this.#among.all(accountId, JSON.stringify(nodeIds)).map(({ id }) => id));
  }

  #hasNone(accountId: number): boolean {
    if (this.#without.has(accountId)) return true;
    if (this.#hasAny.get(accountId)?.found !== 0) return false;
    // Rows read inside a transaction may be rolled back.
    if (isWriting(this.#sqlite)) return true;
    if (this.#without.size >= WITHOUT_MAX) this.#without.clear();
    this.#without.add(accountId);
    return true;
  }
}

const NONE: ReadonlySet<number> = new Set();

/** A live share with the account `?1` of an album that has the node `id`. */
const isInSharedAlbum = (id: string) => `EXISTS (SELECT 1 FROM album_items i INDEXED BY album_items_node
  CROSS JOIN shares s INDEXED BY shares_album ON s.album_id = i.album_id WHERE i.node_id = ${id} AND i.is_hidden = 0
  AND s.kind = 'account' AND ${isForUser("s", "?1")} AND (s.expires_at IS NULL OR s.expires_at > ?2))`;

/** A value from the shares of the node `id` with the account `?1` that are live at the time `?2`. */
const fromShares = (value: string, id: string) => `(SELECT ${value} FROM shares s INDEXED BY shares_node
  WHERE s.node_id = ${id} AND s.kind = 'account' AND ${isForUser("s", "?1")} AND (s.expires_at IS NULL OR s.expires_at > ?2))`;
/** The row id of such a share; null if there is none. */
const shareOf = (id: string) => fromShares("min(s.id)", id);
/** The best of what such shares allow, as bits. */
const rightsOf = (id: string) =>
  fromShares(
    `ifnull(max(s.can_write), 0) * ${CAN_WRITE} + ifnull(max(coalesce(s.shows_versions, s.can_write)), 0) * ${SHOWS_VERSIONS}`,
    id,
  );
/** For statements that need no rights. */
const noRights = () => "0";

/**
 * Defines `covered(id, share_id, own, above)` for those of the nodes `start` of other accounts that are in a tree whose
 * owner is not disabled: the row id of the outermost live share with the account `?1` that covers the node, or null, and
 * the rights of its own shares and of those above it. It goes up from each folder that has some of them, once. A chain in
 * the trash or of a deleted folder does not end at a root.
 */
function covered(start: string, rights: (id: string) => string): string {
  return `received AS MATERIALIZED (${start}),
    up(start, id, parent_id, share_id, rights) AS (
      SELECT n.id, n.id, n.parent_id, ${shareOf("n.id")}, ${rights("n.id")}
        FROM (SELECT DISTINCT parent_id AS id FROM received) m CROSS JOIN nodes n ON n.id = m.id
      UNION ALL
      SELECT up.start, n.id, n.parent_id, ifnull(${shareOf("n.id")}, up.share_id), up.rights | ${rights("n.id")}
        FROM up CROSS JOIN nodes n ON n.id = up.parent_id),
    reached AS MATERIALIZED (SELECT up.start AS id, up.share_id, up.rights FROM up CROSS JOIN nodes n ON n.id = up.id
      CROSS JOIN users u ON u.id = n.account_id
      WHERE up.parent_id IS NULL AND n.name = '/' AND u.disabled_at IS NULL),
    covered AS MATERIALIZED (SELECT r.id, ifnull(f.share_id, ${shareOf("r.id")}) AS share_id,
        ${rights("r.id")} AS own, f.rights AS above
      FROM received r CROSS JOIN reached f ON f.id = r.parent_id)`;
}

const GONE = WITH_GONE_FOLDERS.replaceAll("?", "?1");

/**
 * The favorites that an account can see, in order, with `id`, `kind` and `name`. The natural order is that of the stored
 * keys, which may be missing.
 * @param hasGone see {@link FavoriteRows.hasGone}
 */
export function selectVisible(
  accountId: number,
  nowMs: number,
  { sort, order, hasGone }: { readonly sort: SortField; readonly order: SortOrder; readonly hasGone: boolean },
): FavoriteStatement {
  const marked = "favorites f CROSS JOIN nodes n ON n.id = f.node_id WHERE f.account_id = ?1";
  const sql = `${hasGone ? `${GONE},` : "WITH RECURSIVE"}
      ${covered(`SELECT n.id, n.parent_id FROM ${marked} AND n.account_id <> ?1`, noRights)}
    SELECT n.id, n.kind, n.name FROM ${marked} AND (
      n.account_id = ?1 AND n.parent_id > 0 ${hasGone ? "AND n.parent_id NOT IN (SELECT id FROM gone)" : ""}
      OR n.account_id <> ?1 AND n.id IN (SELECT id FROM covered WHERE share_id IS NOT NULL OR ${isInSharedAlbum("covered.id")}))
    ${orderBy(sort, order)}`;
  return { sql, parameters: [accountId, nowMs] };
}

/** The outermost live share of each of these nodes of other accounts with an account, and the rights. Nodes without one are left out. */
export function selectShares(accountId: number, nowMs: number, nodeIds: readonly number[]): FavoriteStatement {
  const start = "SELECT n.id, n.parent_id FROM json_each(?3) j CROSS JOIN nodes n ON n.id = j.value";
  const sql = `WITH RECURSIVE ${covered(start, rightsOf)}
    SELECT c.id AS nodeId, s.public_id AS share, s.node_id AS sharedId, c.own, c.above
    FROM json_each(?3) j CROSS JOIN covered c ON c.id = j.value CROSS JOIN shares s ON s.id = c.share_id`;
  return { sql, parameters: [accountId, nowMs, JSON.stringify(nodeIds)] };
}
