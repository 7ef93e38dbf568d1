import { type Query, type QueryKey, useQueries, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState } from "react";
import { live, LIVE_INTERVAL_MS, settlingIntervalMs } from "../../api/queries.ts";
import { PAGE_SIZE, pageOf, pagesOf, indexInPage, type Span } from "./page-window.ts";

/** One page of a list. */
export interface ListPage<T> {
  readonly entries: readonly T[];
  /** Of the whole list. */
  readonly total: number;
}

/** A list that the server gives in pages of {@link PAGE_SIZE}. */
export interface PageSource<T, P extends ListPage<T> = ListPage<T>> {
  /** Names the list; a page's own key has its number behind. */
  readonly key: QueryKey;
  /** Lists of one scope have the same entries in another order: the length is known before they are loaded. */
  readonly scope: string;
  fetchPage(page: number, signal: AbortSignal | undefined): Promise<P>;
  /** Whether a page may soon have more entries, without a change of files; no page where absent. */
  readonly isIncomplete?: (page: P) => boolean;
}

/** Told how many pages are loaded. */
type Progress = (done: number, of: number) => void;

/** What is known of a list, of which only the pages that are looked at are loaded. */
export interface Pages<T, P extends ListPage<T> = ListPage<T>> {
  /** The first page with whatever else it tells; undefined until it is there. */
  readonly first: P | undefined;
  /** undefined until the first page is there. */
  readonly total: number | undefined;
  /** The entry at a position, where its page is known. */
  at(position: number): T | undefined;
  /** All entries that are shown or kept, with their positions. */
  known(): ReadonlyMap<number, T>;
  /** Tells which positions are looked at. */
  setVisibleSpan(span: Span): void;
  /**
   * The entries of a span in order, as the server has them now.
   * @throws ApiError or OfflineError of the first page that fails; what `signal` was aborted with
   */
  load(span: Span, progress?: Progress, signal?: AbortSignal): Promise<T[]>;
  /**
   * All entries in order, as many as the server has now.
   * @throws ApiError or OfflineError of the first page that fails
   */
  loadAll(progress?: Progress): Promise<T[]>;
  /** Why the list can't be shown; undefined while something can. */
  readonly error: unknown;
  refetch(): void;
}

/** How long a list is, as some page of it told. */
interface KnownLength {
  readonly scope: string;
  readonly total: number;
  readonly readAtMs: number;
}

/** How long a page that is out of sight is kept. */
const CACHE_MS = 2 * 60_000;
/** Whoever drags the scroll bar passes over pages that need not be loaded. */
const DEBOUNCE_MS = 60;
/** Pages that are loaded side by side for a large selection. */
const PARALLEL_PAGES = 4;

/** Loads the pages of a list that are looked at, and keeps them as they are on the server. */
export function usePages<T extends { readonly id: string }, P extends ListPage<T>>(
  source: PageSource<T, P>,
): Pages<T, P> {
  const queryClient = useQueryClient();
  const [span, setSpan] = useState<Span>({ first: 0, last: 0 });
  const debounced = useDebounced(span);
  const [last, setLast] = useState<KnownLength>();
  const lastLength = last?.scope === source.scope ? last : undefined;

  // The first page is always asked for: it tells how long the list is.
  const numbers = useMemo(
    () => [...new Set([1, ...pagesOf(debounced, lastLength?.total)])],
    [debounced, lastLength?.total],
  );
  const results = useQueries({
    queries: numbers.map((page) => ({
      queryKey: [...source.key, page],
      queryFn: ({ signal }: { signal: AbortSignal }) => source.fetchPage(page, signal),
      ...live,
      refetchInterval: ({ state }: Query<P>) =>
        state.data !== undefined && source.isIncomplete?.(state.data) === true
          ? settlingIntervalMs(state.dataUpdateCount)
          : LIVE_INTERVAL_MS,
      gcTime: CACHE_MS,
    })),
  });

  const first = results[0];
  const { key, scope } = source;
  // Pages were read at different moments: what was read last is true, also when it is not looked at any more.
  const length = results.reduce<KnownLength | undefined>((best, { data, dataUpdatedAt }) => {
    if (data === undefined || dataUpdatedAt <= (best?.readAtMs ?? 0)) return best;
    return { scope, total: data.total, readAtMs: dataUpdatedAt };
  }, lastLength);
  const total = length?.total;
  const readAtMs = length?.readAtMs;
  useEffect(() => {
    if (total !== undefined && readAtMs !== undefined) setLast({ scope, total, readAtMs });
  }, [scope, total, readAtMs]);

  // The hash of the key is what tells lists apart, not the array that happens to carry it.
  const keyText = JSON.stringify(key);
  // oxlint-disable-next-line react/exhaustive-deps -- see above
  const stableKey = useMemo(() => key, [keyText]);
  // A new function whenever a page has other contents, so that what was made of it is made again.
  const stamp = results.map((result) => result.dataUpdatedAt).join();
  const at = useCallback(
    (position: number) => {
      const page = queryClient.getQueryData<ListPage<T>>([...stableKey, pageOf(position)]);
      return page?.entries[indexInPage(position)];
    },
    // oxlint-disable-next-line react/exhaustive-deps -- see stamp
    [queryClient, stableKey, stamp],
  );
  const known = useCallback(() => {
    const entries = new Map<number, T>();
    // Of those that are asked for anew entries may have other positions by now.
    const validPages = { queryKey: stableKey, predicate: ({ state }: Query) => !state.isInvalidated };
    for (const [queryKey, page] of queryClient.getQueriesData<ListPage<T>>(validPages)) {
      const number = queryKey.at(-1);
      if (page === undefined || typeof number !== "number") continue;
      page.entries.forEach((entry, index) => entries.set((number - 1) * PAGE_SIZE + index, entry));
    }
    return entries;
    // oxlint-disable-next-line react/exhaustive-deps -- see stamp
  }, [queryClient, stableKey, stamp]);

  const load = async (requested: Span, progress?: Progress, signal?: AbortSignal) => {
    const loaded = await readPages(source, pagesOf(requested, total), { progress, signal });
    return [...loaded].flatMap(([page, { entries }]) =>
      entries.filter((_, index) => {
        const position = (page - 1) * PAGE_SIZE + index;
        return position >= requested.first && position <= requested.last;
      }),
    );
  };
  const loadAll = async (progress?: Progress) => {
    const numbers = pagesOf({ first: 0, last: Math.max(0, (total ?? 0) - 1) }, undefined);
    const loaded = await readPages(source, numbers, { progress, readsToEnd: true });
    // What moved to another page meanwhile is on both.
    const entries = new Map([...loaded.values()].flatMap((page) => page.entries.map((entry) => [entry.id, entry])));
    return [...entries.values()];
  };

  const look = useCallback((visible: Span) => {
    setSpan((before) =>
      pageOf(before.first) === pageOf(visible.first) && pageOf(before.last) === pageOf(visible.last) ? before : visible,
    );
  }, []);
  const refetch = () => void queryClient.refetchQueries({ queryKey: stableKey, type: "active" });
  return {
    first: first?.data,
    total,
    at,
    known,
    setVisibleSpan: look,
    load,
    loadAll,
    error: first?.data === undefined ? (first?.error ?? undefined) : undefined,
    refetch,
  };
}

interface ReadOptions {
  readonly progress?: Progress | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Also reads the pages behind, as far as the list reaches by what the server tells meanwhile. */
  readonly readsToEnd?: boolean;
}

/**
 * Reads pages, some side by side. They are asked for anew: pages that are kept were read at different moments, and would
 * give some entries twice and others not at all.
 * @returns the pages by their numbers, in order
 */
async function readPages<T>(
  source: Pick<PageSource<T>, "fetchPage">,
  numbers: readonly number[],
  { progress, signal, readsToEnd = false }: ReadOptions,
): Promise<Map<number, ListPage<T>>> {
  const queue = [...numbers];
  const loaded = new Map<number, ListPage<T>>();
  let next = 0;
  const readNextPages = async () => {
    for (let page = queue[next]; page !== undefined; page = queue[next]) {
      next += 1;
      signal?.throwIfAborted();
      const listPage = await source.fetchPage(page, signal);
      loaded.set(page, listPage);
      if (readsToEnd) while (queue.length < pageOf(listPage.total - 1)) queue.push(queue.length + 1);
      progress?.(loaded.size, queue.length);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL_PAGES }, readNextPages));
  return new Map([...loaded].sort(([one], [other]) => one - other));
}

/** The latest span, once it has rested for a moment. */
function useDebounced(span: Span): Span {
  const [debounced, setDebounced] = useState(span);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(span), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [span]);
  return debounced;
}
