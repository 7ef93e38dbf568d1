import type { Entry } from "../api/types.ts";
import { formatBytes } from "../base/format.ts";
import type { Collection } from "./collection/use-collection.ts";
import { text } from "./text.ts";

/** The number of items in a list, and their size as soon as each is known. */
export function ItemCount<T extends Entry>({ collection: { pages } }: { readonly collection: Collection<T> }) {
  const { total, known } = pages;
  if (total === undefined) return <span />;
  const size = totalSize(total, known());
  return (
    <span className="min-w-0 truncate text-sm text-muted">
      {text.items({ n: total })}
      {size !== undefined && ` · ${formatBytes(size)}`}
    </span>
  );
}

/** The size of all entries; undefined if some are not loaded, or are folders of unknown size. */
function totalSize(total: number, known: ReadonlyMap<number, Entry>): number | undefined {
  if (total === 0 || known.size < total) return undefined;
  let size = 0;
  for (const entry of known.values()) {
    if (typeof entry.size !== "number") return undefined;
    size += entry.size;
  }
  return size;
}
