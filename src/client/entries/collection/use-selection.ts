import { useCallback, useRef, useState } from "react";
import { messageOf } from "../../api/http.ts";
import { toast } from "../../ui/toast.tsx";
import { text } from "../text.ts";
import type { Span } from "./page-window.ts";
import { EVERYTHING, NOTHING, renewed, type Selection, selectionOf, withAdded, without } from "./selection.ts";
import type { ListPage } from "./read-pages.ts";
import type { Pages } from "./use-pages.ts";

type Change<T extends { readonly id: string }> = Selection<T> | ((before: Selection<T>) => Selection<T>);

/** The selection of a list. A range may include entries that must be loaded first. */
export function useSelection<T extends { readonly id: string }, P extends ListPage<T>>(pages: Pages<T, P>) {
  const { total = 0, known } = pages;
  const [selection, setSelection] = useState<Selection<T>>(NOTHING);
  const [isLoading, setLoading] = useState(false);
  const request = useRef<AbortController | undefined>(undefined);
  const requestedEntries = useRef<Promise<readonly T[]> | undefined>(undefined);

  /** Changes the selection. Entries of an earlier range that are still being loaded are dropped. */
  const change = useCallback((next: Change<T>) => {
    request.current?.abort();
    setSelection(next);
  }, []);
  /** Changes the selection. Entries that are still being loaded will be added. */
  const extend = useCallback((next: Change<T>) => setSelection(next), []);

  const loadSpan = (span: Span, apply: (entries: readonly T[]) => void) => {
    const controller = new AbortController();
    request.current = controller;
    setLoading(true);
    const loading = pages.load(span, undefined, controller.signal);
    requestedEntries.current = loading;
    void loading
      .then((entries) => {
        if (!controller.signal.aborted) apply(entries);
      })
      .catch((error: unknown) => {
        if (!controller.signal.aborted) toast({ text: text.notAllSelected({ why: messageOf(error) }), tone: "danger" });
      })
      .finally(() => {
        if (request.current !== controller) return;
        requestedEntries.current = undefined;
        setLoading(false);
      });
  };

  /** Selects the entries of a span, or adds them. */
  const selectSpan = (span: Span, isAdded: boolean) => {
    if (span.first === 0 && span.last >= total - 1) return change(EVERYTHING);
    request.current?.abort();
    const apply = (entries: readonly T[]) =>
      setSelection((before) => (isAdded ? withAdded(before, entries) : selectionOf(entries)));
    const loaded = entriesIn(known(), span);
    apply(loaded);
    if (loaded.length < span.last - span.first + 1) loadSpan(span, apply);
  };

  /** All selected entries, loading those that are missing. */
  const resolve = async (progress?: (done: number, of: number) => void): Promise<T[]> => {
    if (selection.kind === "some") {
      // Entries that are still being loaded belong to the selection.
      const isStillLoading = request.current?.signal.aborted === false;
      const more = isStillLoading ? await requestedEntries.current : undefined;
      return [...new Map([...selection.entries.values(), ...(more ?? [])].map((entry) => [entry.id, entry])).values()];
    }
    const { except } = selection;
    const entries = await pages.loadAll(progress);
    return entries.filter(({ id }) => !except.has(id));
  };
  return { selection, isLoading, change, extend, selectSpan, resolve };
}

/** The selection with current records. If the whole list is loaded, entries that no longer exist are removed. */
export function refreshed<T extends { readonly id: string }>(
  selection: Selection<T>,
  present: ReadonlyMap<number, T>,
  total: number,
): Selection<T> {
  const current = renewed(selection, present.values());
  if (current.kind === "all" || present.size < total) return current;
  const ids = new Set([...present.values()].map((entry) => entry.id));
  return without(current, new Set([...current.entries.keys()].filter((id) => !ids.has(id))));
}

function entriesIn<T>(known: ReadonlyMap<number, T>, { first, last }: Span): T[] {
  const entries: T[] = [];
  for (let position = first; position <= last; position += 1) {
    const entry = known.get(position);
    if (entry !== undefined) entries.push(entry);
  }
  return entries;
}
