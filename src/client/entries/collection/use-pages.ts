import { type Query, type QueryKey, useQueries, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState } from "react";
import { live, LIVE_INTERVAL_MS, settlingIntervalMs } from "../../api/queries.ts";
import { PAGE_SIZE, pageOf, pagesOf, indexInPage, type Span } from "./page-window.ts";

/** One page of a list. */
export interface ListPage<T> {
  readonly entries: readonly T[];
  /** The length of the whole list. */
  readonly total: number;
}

/** A list that the server returns in pages of {@link PAGE_SIZE}. */
export interface PageSource<T, P extends ListPage<T> = ListPage<T>> {
  /** The query key of the list. The key of a page has the page number appended. */
  readonly key: QueryKey;
  /** Lists of the same scope have the same entries in another order, so the length is known before they are loaded. */
  readonly scope: string;
  fetchPage(page: number, signal: AbortSignal | undefined): Promise<P>;
  /** Whether a page may soon get more entries without a change to files. By default never. */
  readonly isIncomplete?: (page: P) => boolean;
}

/** Called with the number of loaded pages. */
type Progress = (done: number, of: number) => void;

/** A list of which only the visible pages are loaded. */
export interface Pages<T, P extends ListPage<T> = ListPage<T>> {
  /** The first page; undefined until it is loaded. */
  readonly first: P | undefined;
  /** Undefined until the first page is loaded. */
  readonly total: number | undefined;
  /** The entry at a position, if its page is loaded. */
  at(position: number): T | undefined;
  /** All loaded entries by their positions. */
  known(): ReadonlyMap<number, T>;
  /** Sets the positions that are visible. */
  setVisibleSpan(span: Span): void;
  /**
   * The entries of a span in order, as the server has them now.
   * @throws ApiError or OfflineError of the first page that fails; the abort reason of `signal`
   */
  load(span: Span, progress?: Progress, signal?: AbortSignal): Promise<T[]>;
  /**
   * All entries of the list in order, as the server has them now.
   * @throws ApiError or OfflineError of the first page that fails
   */
  loadAll(progress?: Progress): Promise<T[]>;
  /** Why the list can't be shown; undefined if there is something to show. */
  readonly error: unknown;
  refetch(): void;
}

/** The length of a list as some page reported it. */
interface KnownLength {
  readonly scope: string;
  readonly total: number;
  readonly readAtMs: number;
}

/** How long to cache a page that is not visible. */
const CACHE_MS = 2 * 60_000;
/** While the person drags the scroll bar, the pages in between need not be loaded. */
const DEBOUNCE_MS = 60;
/** How many pages are loaded in parallel for a large selection. */
const PARALLEL_PAGES = 4;

/** Loads the visible pages of a list and keeps them up to date. */
export function usePages<T extends { readonly id: string }, P extends ListPage<T>>(
  source: PageSource<T, P>,
): Pages<T, P> {
  const queryClient = useQueryClient();
  const [span, setSpan] = useState<Span>({ first: 0, last: 0 });
  const debounced = useDebounced(span);
  const [last, setLast] = useState<KnownLength>();
  const lastLength = last?.scope === source.scope ? last : undefined;

  // The first page is always loaded, because it has the length of the list.
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
  // Pages are loaded at different times. The latest length is the right one, also if its page is no longer visible.
  const length = results.reduce<KnownLength | undefined>((best, { data, dataUpdatedAt }) => {
    if (data === undefined || dataUpdatedAt <= (best?.readAtMs ?? 0)) return best;
    return { scope, total: data.total, readAtMs: dataUpdatedAt };
  }, lastLength);
  const total = length?.total;
  const readAtMs = length?.readAtMs;
  useEffect(() => {
    if (total !== undefined && readAtMs !== undefined) setLast({ scope, total, readAtMs });
  }, [scope, total, readAtMs]);

  // Lists are distinguished by the content of the key, not by the identity of the array.
  const keyText = JSON.stringify(key);
  // oxlint-disable-next-line react/exhaustive-deps -- see above
  const stableKey = useMemo(() => key, [keyText]);
  // Changes whenever a page has new data, so that everything derived from it is computed again.
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
    // In invalidated pages, entries may be at other positions by now.
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
    // An entry that moved to another page during loading is in both.
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
  /** Also reads further pages if the list turns out to be longer. */
  readonly readsToEnd?: boolean;
}

/**
 * Reads pages, some in parallel. Cached pages are not used: they were read at different times and could contain an
 * entry twice or miss another.
 * @returns the pages by number, in order
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

/** The latest span after it has not changed for a moment. */
function useDebounced(span: Span): Span {
  const [debounced, setDebounced] = useState(span);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(span), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [span]);
  return debounced;
}
