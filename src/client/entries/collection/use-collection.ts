import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { announce } from "../../base/announce.ts";
import { uiText } from "../../ui/text.ts";
import { text } from "../text.ts";
import { spanBetween } from "./page-window.ts";
import {
  countSelected,
  EVERYTHING,
  isSelected,
  NOTHING,
  type Selection,
  selectionOf,
  toggled,
  withAdded,
  without,
} from "./selection.ts";
import { refreshed, useSelection } from "./use-selection.ts";
import type { ListPage, PageSource } from "./read-pages.ts";
import { type Pages, usePages } from "./use-pages.ts";

/** What every entry of a collection has. */
export interface CollectionEntry {
  readonly id: string;
  readonly name: string;
}

/** How a click or key changes the selection. */
type SelectMode = "only" | "toggle" | "range" | "addRange";

/** A list with a cursor and a selection. */
export interface Collection<T extends CollectionEntry, P extends ListPage<T> = ListPage<T>> {
  readonly source: Pick<PageSource<T, P>, "key" | "fetchPage">;
  readonly pages: Pages<T, P>;
  readonly selection: Selection<T>;
  readonly count: number;
  /** The position of the keyboard cursor. */
  readonly cursor: number;
  isSelected(id: string): boolean;
  /** Moves only the cursor. */
  point(position: number): void;
  /** Moves the cursor and selects. Ranges may include entries that are not loaded yet. */
  select(position: number, mode: SelectMode): void;
  /** Selects exactly these entries, or adds them. */
  selectEntries(entries: readonly T[], isAdded?: boolean): void;
  selectAll(): void;
  clear(): void;
  /** Removes entries from the selection that were moved or deleted. */
  forget(ids: Iterable<string>): void;
  /** Whether pages are being loaded for a selection. */
  readonly isLoadingSelection: boolean;
  /**
   * All selected entries, loading those that are missing. For "all", what exists now, including entries added after the
   * selection.
   * @throws ApiError | OfflineError
   */
  resolve(progress?: (done: number, of: number) => void): Promise<T[]>;
}

/** A list of the server with a cursor and a selection. Both are reset when the list changes. */
export function useCollection<T extends CollectionEntry, P extends ListPage<T>>(
  source: PageSource<T, P>,
  startAt = 0,
): Collection<T, P> {
  const pages = usePages(source);
  const { selection, isLoading, change, extend, selectSpan, resolve } = useSelection(pages);
  const keyText = JSON.stringify(source.key);
  const { cursor, point } = useCursor(pages, keyText, startAt);
  const anchor = useRef(startAt);
  useOnChange(keyText, () => {
    change(NOTHING);
    anchor.current = startAt;
  });

  const { total = 0, at, known } = pages;
  // After changes by others, the selection gets the current records.
  useEffect(() => {
    const present = known();
    extend((before) => refreshed(before, present, total));
  }, [known, total, extend]);

  const count = countSelected(selection, total);
  useAnnouncedCount(count);
  const select = (position: number, mode: SelectMode) => {
    point(position);
    if (mode === "range" || mode === "addRange") {
      selectSpan(spanBetween(anchor.current, position), mode === "addRange");
      return;
    }
    anchor.current = position;
    const entry = at(position);
    if (entry !== undefined) change((before) => (mode === "toggle" ? toggled(before, entry) : selectionOf([entry])));
  };

  const selected = useCallback((id: string) => isSelected(selection, id), [selection]);
  return useMemo(
    () => ({
      source,
      pages,
      selection,
      count,
      cursor,
      isSelected: selected,
      point,
      select,
      selectEntries: (entries: readonly T[], isAdded = false) =>
        isAdded ? extend((before) => withAdded(before, entries)) : change(selectionOf(entries)),
      selectAll: () => change(EVERYTHING),
      clear: () => change(NOTHING),
      forget: (ids: Iterable<string>) => extend((before) => without(before, new Set(ids))),
      isLoadingSelection: isLoading,
      resolve,
    }),
    // oxlint-disable-next-line react/exhaustive-deps -- select and resolve are made of what is listed
    [source, pages, selection, count, cursor, selected, point, isLoading],
  );
}

/** Calls `action` after a rendering with another value than before. */
function useOnChange(value: string, action: () => void): void {
  const last = useRef(value);
  useEffect(() => {
    if (last.current === value) return;
    last.current = value;
    action();
  });
}

/** The position of the keyboard cursor. After changes by others, it stays with its entry. */
function useCursor<T extends CollectionEntry>({ at, known, total = 0 }: Pages<T>, keyText: string, startAt: number) {
  const [cursor, setCursor] = useState(startAt);
  const entryId = useRef<string | undefined>(undefined);
  useOnChange(keyText, () => {
    setCursor(startAt);
    entryId.current = undefined;
  });
  const point = useCallback(
    (position: number) => {
      setCursor(position);
      entryId.current = at(position)?.id;
    },
    [at],
  );
  useEffect(() => {
    setCursor((position) => {
      const id = entryId.current;
      const moved = id === undefined || at(position)?.id === id ? undefined : positionOfId(known(), id);
      return moved ?? Math.max(0, Math.min(position, total - 1));
    });
  }, [known, at, total]);
  return { cursor, point };
}

function positionOfId(present: ReadonlyMap<number, CollectionEntry>, id: string): number | undefined {
  for (const [position, entry] of present) if (entry.id === id) return position;
  return undefined;
}

/** Announces the number of selected entries to screen readers when it changes. */
function useAnnouncedCount(count: number): void {
  const last = useRef(0);
  useEffect(() => {
    if (last.current === count) return;
    last.current = count;
    announce(count === 0 ? text.nothingSelected : uiText.selected({ n: count }));
  }, [count]);
}
