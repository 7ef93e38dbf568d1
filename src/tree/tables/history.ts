/**
 * Where nodes were before: the memory behind looking at the tree as it was. Whatever takes a node from its place leaves a
 * row of the place that it left, numbered like the change; nothing is written when a file is made or gets a new content.
 * At a moment, a node was where its first row after that moment says; without one, it was where it is now.
 */
import type { Database } from "bun:sqlite";
import { fold } from "../../lib/path.ts";
import type { StoredNode } from "./node-rows.ts";

/** `former_places.parent_id` of a node that was in the trash. */
export const IN_TRASH = 0;

/** What is remembered of a node: its row before the change. */
export type LeavingNode = Pick<
  StoredNode,
  "id" | "account_id" | "kind" | "parent_id" | "name" | "sort_key" | "created_seq"
>;

/** The rows of `former_places`. All is called inside a deed. */
export class HistoryLog {
  readonly #insert;
  readonly #born;
  readonly #sweep;

  constructor(sqlite: Database) {
    this.#insert = sqlite.prepare<undefined, (number | string)[]>(
      `INSERT INTO former_places (node_id, seq, account_id, at, parent_id, kind, name, sort_key, born_seq)
       VALUES (?1, ?2, ?3, (SELECT changed_at FROM accounts WHERE id = ?3), ?4, ?5, ?6, ?7, ?8)`,
    );
    this.#born = sqlite.prepare<{ seq: number; parentId: number | null }, [number]>(
      "SELECT created_seq AS seq, parent_id AS parentId FROM nodes WHERE id = ?1",
    );
    this.#sweep = sqlite.prepare<undefined, [number, number, number]>(
      `DELETE FROM former_places WHERE (node_id, seq) IN (SELECT node_id, seq FROM former_places
         INDEXED BY former_places_age WHERE account_id = ?1 AND at < ?2 ORDER BY at LIMIT ?3)`,
    );
  }

  /**
   * Notes that a node leaves its place: by a rename or move, into the trash, or because a device deleted it.
   * @param node its row as it is before the change
   * @param seq journal number of the change
   */
  noteLeft(node: LeavingNode, seq: number): void {
    if (node.parent_id !== null) this.#write(node, node.parent_id, seq);
  }

  /** Notes that a node comes out of the trash, where it was until now. @param seq journal number of the change */
  noteReturned(node: LeavingNode, seq: number): void {
    this.#write(node, IN_TRASH, seq);
  }

  /** Notes where a node was that a device deletes, while its row is still there. */
  noteDeleted(
    subject: { readonly nodeId: number; readonly accountId: number; readonly kind: number; readonly seq: number },
    place: { readonly parentId: number; readonly name: string },
  ): void {
    const { nodeId: id, accountId, kind, seq } = subject;
    const { parentId, name } = place;
    const row = this.#born.get(id);
    // What is deleted in the trash had left its place before.
    const formerId = (row?.parentId ?? 0) < 0 ? IN_TRASH : parentId;
    const node = { id, account_id: accountId, kind, parent_id: formerId, name, sort_key: fold(name) };
    this.#write({ ...node, created_seq: row?.seq ?? 0 }, formerId, seq);
  }

  /** Forgets what left its place before the time, up to `limit` rows of an account. @returns how many */
  sweep(accountId: number, olderThanMs: number, limit: number): number {
    return this.#sweep.run(accountId, olderThanMs, limit).changes;
  }

  #write(node: LeavingNode, parentId: number, seq: number): void {
    const { id, account_id: accountId, kind, name, sort_key: sortKey, created_seq: createdSeq } = node;
    // What came with the copy of a large folder was made when that appeared.
    const bornSeq = createdSeq < 0 ? (this.#born.get(-createdSeq)?.seq ?? 0) : createdSeq;
    this.#insert.run(id, seq, accountId, parentId, kind, name, sortKey, bornSeq);
  }
}
