/** Sorts nodes that no index has in the requested order: hits of a search, the trash, shares. Runs in the reading thread. */
import { naturalOrder, numbers, type Read } from "../../db/reader.ts";
import type { Bindable } from "../../db/reader.worker.ts";
import type { SortField, SortOrder } from "../model/types.ts";
import { orderBy } from "../model/sorts.ts";

/** Rows to sort. */
export interface SortedRows {
  /** The column to return: an integer that identifies a row. */
  readonly id: string;
  /** SQL after `FROM`, with the nodes as `n`. */
  readonly from: string;
  readonly parameters: readonly Bindable[];
}

/** The ids of all rows: those of folders first, then in the order of a listing; ties by id in the direction of the sort. */
export function sortedIds({ id, from, parameters }: SortedRows, sort: SortField, order: SortOrder): Read<Float64Array> {
  // Stored keys may be missing: see `tables/natural-keys.ts`.
  if (sort === "natural") {
    return naturalOrder(`SELECT ${id} AS id, n.kind AS kind, n.name AS name FROM ${from}`, parameters, order);
  }
  const sql = `SELECT ${id} AS id FROM ${from} ${orderBy(sort, order)}, ${id} ${order}`;
  return numbers(`SELECT group_concat(id) FROM (${sql})`, parameters);
}
