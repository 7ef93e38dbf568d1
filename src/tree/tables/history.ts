/**
 * The former locations of nodes: the data behind viewing the tree at an earlier time. A change that takes a node from
 * its folder or name writes a row with the former location, numbered like the change. Creating a file and storing new
 * content write none. At a given moment, a node was where its first row after that moment says; without such a row, it
 * was where it is now.
 */
import type { Database } from "bun:sqlite";
import { fold } from "../../lib/path.ts";
import type { StoredNode } from "./node-rows.ts";

/**
 * `former_places.parent_id` while a node was in the trash. (`nodes.parent_id` of a trashed node is minus its own id.)
 */
export const IN_TRASH = 0;

/** The columns of a node, before the change, that a row records. */
type LeavingNode = Pick<StoredNode, "id" | "account_id" | "kind" | "parent_id" | "name" | "sort_key" | "created_seq">;

/** The rows of `former_places`. All methods run inside a transaction. */
export class HistoryLog {
  readonly #insert;
  readonly #created;
  readonly #sweep;

  constructor(sqlite: Database) {
    this.#insert = sqlite.prepare<undefined, (number | string)[]>(
      `INSERT INTO former_places (node_id, seq, account_id, at, parent_id, kind, name, sort_key, born_seq)
       VALUES (?1, ?2, ?3, (SELECT changed_at FROM accounts WHERE id = ?3), ?4, ?5, ?6, ?7, ?8)`,
    );
    this.#created = sqlite.prepare<{ seq: number; parentId: number | null }, [number]>(
      "SELECT created_seq AS seq, parent_id AS parentId FROM nodes WHERE id = ?1",
    );
    this.#sweep = sqlite.prepare<undefined, [number, number, number]>(
      `DELETE FROM former_places WHERE (node_id, seq) IN (SELECT node_id, seq FROM former_places
         INDEXED BY former_places_age WHERE account_id = ?1 AND at < ?2 ORDER BY at LIMIT ?3)`,
    );
  }

  /**
   * Records where a node was before a rename, a move, a move to the trash, or a deletion by a device.
   * @param node its row before the change
   * @param seq journal number of the change
   */
  noteLeft(node: LeavingNode, seq: number): void {
    if (node.parent_id !== null) this.#write(node, node.parent_id, seq);
  }

  /** Records that a node was in the trash until now. @param seq journal number of the change */
  noteReturned(node: LeavingNode, seq: number): void {
    this.#write(node, IN_TRASH, seq);
  }

  /** Records where a node was that a device deletes, while its row still exists. */
  noteDeleted(
    subject: { readonly nodeId: number; readonly accountId: number; readonly kind: number; readonly seq: number },
    location: { readonly parentId: number; readonly name: string },
  ): void {
    const { nodeId: id, accountId, kind, seq } = subject;
    const { parentId, name } = location;
    const row = this.#created.get(id);
    // A node deleted while in the trash had left its folder before.
    const formerId = (row?.parentId ?? 0) < 0 ? IN_TRASH : parentId;
    const node = { id, account_id: accountId, kind, parent_id: formerId, name, sort_key: fold(name) };
    this.#write({ ...node, created_seq: row?.seq ?? 0 }, formerId, seq);
  }

  /** Deletes rows older than the time, up to `limit` rows of an account. @returns how many */
  sweep(accountId: number, olderThanMs: number, limit: number): number {
    return this.#sweep.run(accountId, olderThanMs, limit).changes;
  }

  #write(node: LeavingNode, parentId: number, seq: number): void {
    const { id, account_id: accountId, kind, name, sort_key: sortKey, created_seq: createdSeq } = node;
    // A node below a large copy has minus the id of the copy here: it was created when the copy appeared.
    const appearedSeq = createdSeq < 0 ? (this.#created.get(-createdSeq)?.seq ?? 0) : createdSeq;
    this.#insert.run(id, seq, accountId, parentId, kind, name, sortKey, appearedSeq);
  }
}
