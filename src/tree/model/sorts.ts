import { compareUtf8 } from "../../lib/compare-utf8.ts";
import { naturalKey } from "../../lib/natural-key.ts";
import type { SortField, SortOrder } from "./types.ts";

/** How a sort of a folder's children is read from an index alone. */
export interface Sort {
  readonly index: string;
  /** Columns after `(parent_id, kind)` that decide the order; the last one makes it total. */
  readonly keys: readonly [string, string];
  /** The condition of a partial index: what it leaves out must not exist when it is read. */
  readonly condition?: string;
}

/** Every sort has its own index. Ties end with the id, which every index contains anyway. Folders have the size 0. */
export const SORTS: Readonly<Record<SortField, Sort>> = {
  name: { index: "nodes_name", keys: ["sort_key", "name"] },
  natural: { index: "nodes_natural", keys: ["natural_key", "name"], condition: "natural_key IS NOT NULL" },
  size: { index: "nodes_size", keys: ["size_bytes", "id"] },
  createdAt: { index: "nodes_created", keys: ["created_at", "id"] },
  modifiedAt: { index: "nodes_modified", keys: ["modified_at", "id"] },
  fileModifiedAt: { index: "nodes_file_at", keys: ["file_at", "id"] },
};

/** `ORDER BY …` for nodes of many folders: folders first, ties by id in the direction of the sort. */
export function orderBy(sort: SortField, order: SortOrder): string {
  const keys = [...new Set<string>([...SORTS[sort].keys, "id"])];
  return `ORDER BY n.kind, ${keys.map((key) => `n.${key} ${order}`).join(", ")}`;
}

/** The values that nodes are sorted by. */
export interface SortKeys {
  readonly id: number;
  readonly sort_key: string;
  /** Null until it is stored; it follows from the name. */
  readonly natural_key: string | null;
  readonly name: string;
  readonly size_bytes: number;
  readonly created_at: number;
  readonly modified_at: number;
  readonly file_at: number;
}

/** The columns of {@link SortKeys}. */
export const SORT_COLUMNS =
  "n.id, n.sort_key, n.natural_key, n.name, n.size_bytes, n.created_at, n.modified_at, n.file_at";

/**
 * SQL for the children from a position in the sort on, in order, from an index alone: columns `id`, `a`, `b`. Bound:
 * `?1` folder, `?2` kind. Equal first keys are a query of their own: `(a, b) > (…)` would scan all of them, and a
 * million photos may well have one size.
 * @param position SQL for the two keys to begin at
 */
export function selectFrom(sort: SortField, comparison: ">" | ">=", position: readonly [string, string]): string {
  const { index, keys } = SORTS[sort];
  const select = `SELECT id, ${keys[0]} AS a, ${keys[1]} AS b FROM nodes INDEXED BY ${index}
    WHERE parent_id = ?1 AND kind = ?2 AND ${keys[0]}`;
  return `${select} = ${position[0]} AND ${keys[1]} ${comparison} ${position[1]}
    UNION ALL ${select} > ${position[0]} ORDER BY a, b`;
}

const NUMBERS = {
  size: "size_bytes",
  createdAt: "created_at",
  modifiedAt: "modified_at",
  fileModifiedAt: "file_at",
} as const;

/** Compares as the index does: negative if `a` comes first. @see SORTS */
export function compareKeys(sort: SortField, a: SortKeys, b: SortKeys): number {
  if (sort === "name") return compareUtf8(a.sort_key, b.sort_key) || compareUtf8(a.name, b.name);
  if (sort === "natural") {
    return compareUtf8(naturalKeyOf(a), naturalKeyOf(b)) || compareUtf8(a.name, b.name);
  }
  const column = NUMBERS[sort];
  return a[column] - b[column] || a.id - b.id;
}

/** The natural key of a node, stored or not. */
export function naturalKeyOf({ natural_key: key, name }: Pick<SortKeys, "natural_key" | "name">): string {
  return key ?? naturalKey(name);
}
