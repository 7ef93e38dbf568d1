import type { Database } from "bun:sqlite";
import type { Bindable } from "../../../db/reader.worker.ts";
import { orderBy } from "../../../tree/queries/filter-sql.ts";
import type { SortField, SortOrder } from "../../../tree/model/types.ts";

/** The rows of `favorites`. Changes run inside a transaction. */
export class FavoriteRows {
  readonly #count;
  readonly #add;
  readonly #remove;
  readonly #hasAny;
  readonly #among;
  readonly #share;

  constructor(sqlite: Database) {
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
    this.#share = sqlite.prepare<{ share: string }, [number, number, number]>(
      `WITH RECURSIVE up(id, parent_id, height) AS (SELECT id, parent_id, 0 FROM nodes WHERE id = ?3
         UNION ALL SELECT n.id, n.parent_id, up.height + 1 FROM up JOIN nodes n ON n.id = up.parent_id)
       SELECT s.public_id AS share FROM up CROSS JOIN shares s INDEXED BY shares_node ON s.node_id = up.id
       WHERE s.kind = 'account' AND s.recipient_id = ?1 AND (s.expires_at IS NULL OR s.expires_at > ?2)
       ORDER BY up.height DESC LIMIT 1`,
    );
  }

  /** How many favorites an account has, including hidden ones. */
  count(accountId: number): number {
    return this.#count.get(accountId)?.count ?? 0;
  }

  /** @returns whether it was none before */
  add(accountId: number, nodeId: number): boolean {
    return this.#add.run(accountId, nodeId).changes > 0;
  }

  remove(accountId: number, nodeId: number): void {
    this.#remove.run(accountId, nodeId);
  }

  /** The outermost live share through which an account sees a node: the paths of the node begin there. */
  findShare(accountId: number, nodeId: number, nowMs: number): string | undefined {
    return this.#share.get(accountId, nowMs, nodeId)?.share;
  }

  /** Those of these nodes that are favorites of the account. */
  among(accountId: number, nodeIds: readonly number[]): ReadonlySet<number> {
    // Most accounts have none. This spares a listing the look-up of each node.
    if (nodeIds.length === 0 || this.#hasAny.get(accountId)?.found === 0) return NONE;
    return new Set(this.#among.all(accountId, JSON.stringify(nodeIds)).map(({ id }) => id));
  }
}

const NONE: ReadonlySet<number> = new Set();

/** A live share of the node `id` with the account `?1`, which sees it from the time `?2` on. */
const isShared = (id: string) => `EXISTS (SELECT 1 FROM shares s INDEXED BY shares_node
  WHERE s.node_id = ${id} AND s.kind = 'account' AND s.recipient_id = ?1 AND (s.expires_at IS NULL OR s.expires_at > ?2))`;

/** A live share with the account `?1` of an album that has the node `id`. */
const isInSharedAlbum = (id: string) => `EXISTS (SELECT 1 FROM album_items i INDEXED BY album_items_node
  CROSS JOIN shares s INDEXED BY shares_album ON s.album_id = i.album_id WHERE i.node_id = ${id} AND i.is_hidden = 0
  AND s.kind = 'account' AND s.recipient_id = ?1 AND (s.expires_at IS NULL OR s.expires_at > ?2))`;

/**
 * The ids of the favorites that an account can see, in order, from an offset on. It goes up from each folder that has
 * favorites. A chain that does not end at a root is of the trash or was deleted. A chain of another account must pass a
 * share with this one.
 */
export function selectVisible(
  accountId: number,
  nowMs: number,
  { sort, order }: { readonly sort: SortField; readonly order: SortOrder },
): { readonly sql: string; readonly parameters: readonly Bindable[] } {
  const sql = `WITH RECURSIVE
      marked AS MATERIALIZED (SELECT n.id, n.parent_id, n.account_id FROM favorites f CROSS JOIN nodes n ON n.id = f.node_id
        WHERE f.account_id = ?1),
      up(start, id, parent_id, name, account_id, granted) AS (
        SELECT n.id, n.id, n.parent_id, n.name, n.account_id, n.account_id = ?1 OR ${isShared("n.id")}
        FROM (SELECT DISTINCT parent_id AS id FROM marked) m CROSS JOIN nodes n ON n.id = m.id
        UNION ALL
        SELECT up.start, n.id, n.parent_id, n.name, n.account_id, up.granted OR ${isShared("n.id")}
        FROM up CROSS JOIN nodes n ON n.id = up.parent_id),
      reached AS MATERIALIZED (SELECT up.start AS id, up.granted FROM up JOIN users u ON u.id = up.account_id
        WHERE up.parent_id IS NULL AND up.name = '/' AND (up.account_id = ?1 OR u.disabled_at IS NULL))
    SELECT n.id AS id FROM marked m CROSS JOIN reached r ON r.id = m.parent_id CROSS JOIN nodes n ON n.id = m.id
    WHERE r.granted OR ${isShared("n.id")} OR ${isInSharedAlbum("n.id")} ${orderBy(sort, order)}`;
  return { sql, parameters: [accountId, nowMs] };
}
