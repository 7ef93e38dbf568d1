/**
 * The selection, by id, so that changes by others move nothing into it or out of it. "All" needs no ids, so that a
 * folder of 100,000 entries is selected at once. It means all entries that exist when an action runs.
 */

/** Some entries, or all with exceptions. */
export type Selection<T extends { readonly id: string }> =
  | { readonly kind: "some"; readonly entries: ReadonlyMap<string, T> }
  | { readonly kind: "all"; readonly except: ReadonlySet<string> };

/** An empty selection. */
export const NOTHING: Selection<never> = { kind: "some", entries: new Map<string, never>() };

/** Everything is selected, including entries that are not loaded yet. */
export const EVERYTHING: Selection<never> = { kind: "all", except: new Set<string>() };

/** A selection of exactly these entries. */
export function selectionOf<T extends { readonly id: string }>(entries: readonly T[]): Selection<T> {
  return { kind: "some", entries: new Map(entries.map((entry) => [entry.id, entry])) };
}

/** Whether an entry is selected. */
export function isSelected(selection: Selection<{ readonly id: string }>, id: string): boolean {
  return selection.kind === "all" ? !selection.except.has(id) : selection.entries.has(id);
}

/** The number of selected entries in a list of `total` entries. */
export function countSelected(selection: Selection<{ readonly id: string }>, total: number): number {
  return selection.kind === "all" ? Math.max(0, total - selection.except.size) : selection.entries.size;
}

/** The selection with an entry added, or removed if it was selected. */
export function toggled<T extends { readonly id: string }>(selection: Selection<T>, entry: T): Selection<T> {
  if (selection.kind === "all") {
    const except = new Set(selection.except);
    if (!except.delete(entry.id)) except.add(entry.id);
    return { kind: "all", except };
  }
  const entries = new Map(selection.entries);
  if (!entries.delete(entry.id)) entries.set(entry.id, entry);
  return { kind: "some", entries };
}

/** The selection with these entries added. */
export function withAdded<T extends { readonly id: string }>(
  selection: Selection<T>,
  added: readonly T[],
): Selection<T> {
  if (selection.kind === "all") {
    const except = new Set(selection.except);
    for (const { id } of added) except.delete(id);
    return { kind: "all", except };
  }
  const entries = new Map(selection.entries);
  for (const entry of added) entries.set(entry.id, entry);
  return { kind: "some", entries };
}

/** The selection without these entries, which were moved or deleted. */
export function without<T extends { readonly id: string }>(
  selection: Selection<T>,
  removed: ReadonlySet<string>,
): Selection<T> {
  if (selection.kind === "all") return NOTHING;
  const entries = new Map([...selection.entries].filter(([id]) => !removed.has(id)));
  return entries.size === selection.entries.size ? selection : { kind: "some", entries };
}

/** The selection with the latest record of each loaded entry, so that actions and details use current data. */
export function renewed<T extends { readonly id: string }>(
  selection: Selection<T>,
  present: Iterable<T>,
): Selection<T> {
  if (selection.kind === "all" || selection.entries.size === 0) return selection;
  let entries: Map<string, T> | undefined;
  for (const entry of present) {
    const known = selection.entries.get(entry.id);
    if (known === undefined || known === entry) continue;
    entries ??= new Map(selection.entries);
    entries.set(entry.id, entry);
  }
  return entries === undefined ? selection : { kind: "some", entries };
}
