import { text } from "./text.ts";
import { changeList, useListPreferences } from "./preferences.ts";
import type { GridSort, SortOption } from "./collection/grid-types.ts";
import type { ListKind, SortOrder } from "./read-preferences.ts";

/** What lists of files are sorted by; each list picks some of these by their names. */
const OPTIONS = {
  natural: { field: "natural", label: () => text.name },
  fileModifiedAt: { field: "fileModifiedAt", label: () => text.modified },
  createdAt: { field: "createdAt", label: () => text.uploaded },
  size: { field: "size", label: () => text.size },
  shared: { field: "createdAt", label: () => text.shared, order: "desc" as const },
} satisfies Readonly<Record<string, SortOption>>;

/** Options to sort a list by, in the order of their names. */
export function sortOptions(fields: readonly (keyof typeof OPTIONS)[]): SortOption[] {
  return fields.map((field) => OPTIONS[field]);
}

/**
 * The order of a list, as the person chose it on this device.
 * @param options what the list can be sorted by; the first is the default
 */
export function useListSort<F extends string>(kind: ListKind, options: readonly SortOption<F>[]): GridSort<F> {
  const { sort, order } = useListPreferences(kind);
  const change = (field: F, to: SortOrder) => changeList(kind, () => ({ sort: field, order: to }));
  return sortOf(options, sort, order, change);
}

/** The order that an address or a stored preference names; the default of the list for anything unknown. */
export function sortOf<F extends string>(
  options: readonly SortOption<F>[],
  sort: string | undefined,
  order: string | undefined,
  change: GridSort<F>["change"],
): GridSort<F> {
  const chosen = options.find(({ field }) => field === sort) ?? options[0];
  if (chosen === undefined) throw new RangeError("A sorted list needs a field to sort by.");
  const isKnown = chosen.field === sort && (order === "asc" || order === "desc");
  return { field: chosen.field, order: isKnown ? order : (chosen.order ?? "asc"), options, change };
}
