import { sortedIds } from "./sorted-ids.ts";
import type { TreeStore } from "../tables/store.ts";
import { TRASH_COLUMNS, toTrashedNode, type TrashRow } from "../tables/trash.ts";
import type { SortOrder, TrashedNode } from "../model/types.ts";

/** The sorts of the trash. By `deletedAt`, files and folders are mixed; in the others, folders come first. */
export const TRASH_SORTS = ["deletedAt", "natural", "name", "size"] as const;

/** One page of the trash of an account. */
export interface TrashQuery {
  readonly accountId: number;
  readonly sort: (typeof TRASH_SORTS)[number];
  readonly order: SortOrder;
  readonly offset: number;
  readonly limit: number;
}

/** A page, and the number of all items in the trash. */
interface TrashPage {
  readonly entries: readonly TrashedNode[];
  readonly total: number;
}

/** Lists the trash. */
export class TrashLister {
  readonly #store: TreeStore;
  readonly #count;
  readonly #byIds;
  readonly #byTime;

  constructor(store: TreeStore) {
    const { sqlite } = store;
    this.#store = store;
    this.#count = sqlite.prepare<{ total: number }, [number]>(
      "SELECT count(*) AS total FROM trash INDEXED BY trash_account WHERE account_id = ?1",
    );
    this.#byIds = sqlite.prepare<TrashRow, [string]>(
      `SELECT ${TRASH_COLUMNS} FROM json_each(?1) j CROSS JOIN trash t ON t.node_id = j.value`,
    );
    const byTime = (order: SortOrder) =>
      sqlite.prepare<TrashRow, [number, number, number]>(
        `SELECT ${TRASH_COLUMNS} FROM (SELECT node_id FROM trash INDEXED BY trash_account WHERE account_id = ?1
           ORDER BY trashed_at ${order}, node_id ${order} LIMIT ?2 OFFSET ?3) k CROSS JOIN trash t ON t.node_id = k.node_id`,
      );
    this.#byTime = { asc: byTime("asc"), desc: byTime("desc") };
  }

  /** A page, and the number of all items. */
  async list(query: TrashQuery): Promise<TrashPage> {
    const { accountId, sort } = query;
    return sort === "deletedAt"
      ? this.byTime(query)
      : this.#describe(accountId, await this.#sortedPage(accountId, sort, query));
  }

  /** A page in the order of deletion. */
  byTime({ accountId, order, offset, limit }: Omit<TrashQuery, "sort">): TrashPage {
    return this.#describe(accountId, this.#byTime[order].all(accountId, limit, offset));
  }

  #describe(accountId: number, rows: readonly TrashRow[]): TrashPage {
    const entries = rows.map((row) => toTrashedNode(this.#store, row));
    return { entries, total: this.#count.get(accountId)?.total ?? 0 };
  }

  async #sortedPage(
    accountId: number,
    sort: "natural" | "name" | "size",
    { order, offset, limit }: TrashQuery,
  ): Promise<TrashRow[]> {
    const inTrash = {
      id: "n.id",
      from: "trash t INDEXED BY trash_account CROSS JOIN nodes n ON n.id = t.node_id WHERE t.account_id = ?1",
      parameters: [accountId],
    };
    const [ids] = await this.#store.reader.read([sortedIds(inTrash, sort, order)]);
    return this.#byIds.all(JSON.stringify([...ids.subarray(offset, offset + limit)]));
  }
}
