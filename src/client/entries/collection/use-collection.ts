import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { messageOf } from "../../api/http.ts";
import { announce } from "../../base/announce.ts";
import { toast } from "../../ui/toast.tsx";
import { text } from "../text.ts";
import { type Span, spanBetween } from "./page-window.ts";
import {
  countSelected,
  EVERYTHING,
  isSelected,
  NOTHING,
  renewed,
  type Selection,
  selectionOf,
  toggled,
  withAdded,
  without,
} from "./selection.ts";
import { type ListPage, type Pages, type PageSource, usePages } from "./use-pages.ts";

/** What every entry of a collection has. */
export interface Named {
  readonly id: string;
  readonly name: string;
}

/** How a click or key changes the selection. */
export type SelectMode = "only" | "toggle" | "range" | "addRange";

/** A list with a cursor and a selection. */
export interface Collection<T extends Named, P extends ListPage<T> = ListPage<T>> {
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
export function useCollection<T extends Named, P extends ListPage<T>>(
  source: PageSource<T, P>,
  startAt = 0,
): Collection<T, P> {
  const pages = usePages(source);
  const [selection, setSelection] = useState<Selection<T>>(NOTHING);
  const [cursor, setCursor] = useState(startAt);
  const [isLoadingSelection, setLoadingSelection] = useState(false);
  const anchor = useRef(startAt);
  const cursorId = useRef<string | undefined>(undefined);
  const selectionRequest = useRef<AbortController | undefined>(undefined);
  const requestedEntries = useRef<Promise<readonly T[]> | undefined>(undefined);

  const keyText = JSON.stringify(source.key);
  const lastKey = useRef(keyText);
  useEffect(() => {
    if (lastKey.current === keyText) return;
    lastKey.current = keyText;
    selectionRequest.current?.abort();
    setSelection(NOTHING);
    setCursor(startAt);
    anchor.current = startAt;
    cursorId.current = undefined;
  }, [keyText, startAt]);

  const { total = 0, at, known } = pages;
  // After changes by others, the cursor stays with its entry and the selection gets the current records.
  useEffect(() => {
    const present = known();
    setSelection((before) => {
      const renewedSelection = renewed(before, present.values());
      if (renewedSelection.kind === "all" || present.size < total) return renewedSelection;
      const ids = new Set([...present.values()].map((entry) => entry.id));
      return without(renewedSelection, new Set([...renewedSelection.entries.keys()].filter((id) => !ids.has(id))));
    });
    setCursor((position) => {
      const id = cursorId.current;
      if (id !== undefined && at(position)?.id !== id) {
        for (const [index, entry] of present) if (entry.id === id) return index;
      }
      return Math.max(0, Math.min(position, total - 1));
    });
  }, [known, at, total]);

  const count = countSelected(selection, total);
  useAnnouncedCount(count);

  const point = useCallback(
    (position: number) => {
      setCursor(position);
      cursorId.current = at(position)?.id;
    },
    [at],
  );

  const selectSpan = (span: Span, isAdded: boolean) => {
    selectionRequest.current?.abort();
    const apply = (entries: readonly T[]) =>
      setSelection((before) => (isAdded ? withAdded(before, entries) : selectionOf(entries)));
    if (span.first === 0 && span.last >= total - 1) {
      setSelection(EVERYTHING);
      return;
    }
    const present = known();
    const loaded: T[] = [];
    for (let position = span.first; position <= span.last; position += 1) {
      const entry = present.get(position);
      if (entry !== undefined) loaded.push(entry);
    }
    apply(loaded);
    if (loaded.length === span.last - span.first + 1) return;
    const controller = new AbortController();
    selectionRequest.current = controller;
    setLoadingSelection(true);
    const loading = pages.load(span, undefined, controller.signal);
    requestedEntries.current = loading;
    void loading
      .then((entries) => {
        if (!controller.signal.aborted) apply(entries);
      })
      .catch((error: unknown) => {
        if (!controller.signal.aborted) toast({ text: text.notAllSelected(messageOf(error)), tone: "danger" });
      })
      .finally(() => {
        if (selectionRequest.current !== controller) return;
        requestedEntries.current = undefined;
        setLoadingSelection(false);
      });
  };

  const select = (position: number, mode: SelectMode) => {
    point(position);
    if (mode === "range" || mode === "addRange") {
      selectSpan(spanBetween(anchor.current, position), mode === "addRange");
      return;
    }
    anchor.current = position;
    const entry = at(position);
    if (entry === undefined) return;
    selectionRequest.current?.abort();
    setSelection((before) => (mode === "toggle" ? toggled(before, entry) : selectionOf([entry])));
  };

  const resolve = async (progress?: (done: number, of: number) => void) => {
    if (selection.kind === "some") {
      // Entries that are still being loaded belong to the selection.
      const isStillLoading = selectionRequest.current?.signal.aborted === false;
      const more = isStillLoading ? await requestedEntries.current : undefined;
      return [...new Map([...selection.entries.values(), ...(more ?? [])].map((entry) => [entry.id, entry])).values()];
    }
    const { except } = selection;
    const entries = await pages.loadAll(progress);
    return entries.filter(({ id }) => !except.has(id));
  };

  const selected = useCallback((id: string) => isSelected(selection, id), [selection]);
  return useMemo(
    () => ({
      pages,
      selection,
      count,
      cursor,
      isSelected: selected,
      point,
      select,
      selectEntries: (entries: readonly T[], isAdded = false) => {
        if (!isAdded) selectionRequest.current?.abort();
        setSelection((before) => (isAdded ? withAdded(before, entries) : selectionOf(entries)));
      },
      selectAll: () => {
        selectionRequest.current?.abort();
        setSelection(EVERYTHING);
      },
      clear: () => {
        selectionRequest.current?.abort();
        setSelection(NOTHING);
      },
      forget: (ids: Iterable<string>) => setSelection((before) => without(before, new Set(ids))),
      isLoadingSelection,
      resolve,
    }),
    // oxlint-disable-next-line react/exhaustive-deps -- select and resolve are made of what is listed
    [pages, selection, count, cursor, selected, point, isLoadingSelection],
  );
}

/** Announces the number of selected entries to screen readers when it changes. */
function useAnnouncedCount(count: number): void {
  const last = useRef(0);
  useEffect(() => {
    if (last.current === count) return;
    last.current = count;
    announce(count === 0 ? text.nothingSelected : text.selected(count));
  }, [count]);
}
