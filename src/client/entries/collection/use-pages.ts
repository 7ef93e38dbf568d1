import { type Query, type QueryKey, useQueries, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState } from "react";
import { live, LIVE_INTERVAL_MS, settlingIntervalMs } from "../../api/queries.ts";
import { PAGE_SIZE, pageOf, pagesOf, indexInPage, type Span } from "./page-window.ts";
import { type ListPage, type PageSource, type ReadProgress, readAll, readSpan } from "./read-pages.ts";

/** A list that loads only its visible pages. */
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
  load(span: Span, progress?: ReadProgress, signal?: AbortSignal): Promise<T[]>;
  /**
   * All entries of the list in order, as the server has them now.
   * @throws ApiError or OfflineError of the first page that fails
   */
  loadAll(progress?: ReadProgress): Promise<T[]>;
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
  const results = useQueries({ queries: numbers.map((page) => pageQuery(source, page)) });
  const length = latestLength(source.scope, results, lastLength);
  const { scope, total, readAtMs } = length ?? {};
  useEffect(() => {
    if (scope !== undefined && total !== undefined && readAtMs !== undefined) setLast({ scope, total, readAtMs });
  }, [scope, total, readAtMs]);

  // Lists are distinguished by the content of the key, not by the identity of the array.
  const keyText = JSON.stringify(source.key);
  // oxlint-disable-next-line react/exhaustive-deps -- see above
  const key = useMemo(() => source.key, [keyText]);
  const { at, known } = useLoadedEntries<T>(key, results);

  const setVisibleSpan = useCallback((visible: Span) => {
    setSpan((before) =>
      pageOf(before.first) === pageOf(visible.first) && pageOf(before.last) === pageOf(visible.last) ? before : visible,
    );
  }, []);
  const first = results[0];
  return {
    first: first?.data,
    total,
    at,
    known,
    setVisibleSpan,
    load: (requested, progress, signal) => readSpan(source, requested, total, { progress, signal }),
    loadAll: (progress) => readAll(source, total, { progress }),
    error: first?.data === undefined ? (first?.error ?? undefined) : undefined,
    refetch: () => void queryClient.refetchQueries({ queryKey: key, type: "active" }),
  };
}

function pageQuery<T, P extends ListPage<T>>(source: PageSource<T, P>, page: number) {
  return {
    queryKey: [...source.key, page],
    queryFn: ({ signal }: { signal: AbortSignal }) => source.fetchPage(page, signal),
    ...live,
    refetchInterval: ({ state }: Query<P>) =>
      state.data !== undefined && source.isIncomplete?.(state.data) === true
        ? settlingIntervalMs(state.dataUpdateCount)
        : LIVE_INTERVAL_MS,
    gcTime: CACHE_MS,
  };
}

type PageResult<P> = { readonly data: P | undefined; readonly dataUpdatedAt: number };

/** Pages are loaded at different times. The latest length is the right one, also if its page is no longer visible. */
function latestLength<T>(
  scope: string,
  results: readonly PageResult<ListPage<T>>[],
  last: KnownLength | undefined,
): KnownLength | undefined {
  return results.reduce<KnownLength | undefined>((best, { data, dataUpdatedAt }) => {
    if (data === undefined || dataUpdatedAt <= (best?.readAtMs ?? 0)) return best;
    return { scope, total: data.total, readAtMs: dataUpdatedAt };
  }, last);
}

/** The loaded entries of a list. The functions change whenever a page has new data. */
function useLoadedEntries<T>(key: QueryKey, results: readonly PageResult<ListPage<T>>[]) {
  const queryClient = useQueryClient();
  const stamp = results.map((result) => result.dataUpdatedAt).join();
  const at = useCallback(
    (position: number) => {
      const page = queryClient.getQueryData<ListPage<T>>([...key, pageOf(position)]);
      return page?.entries[indexInPage(position)];
    },
    // oxlint-disable-next-line react/exhaustive-deps -- see stamp
    [queryClient, key, stamp],
  );
  const known = useCallback(() => {
    const entries = new Map<number, T>();
    // In invalidated pages, entries may be at other positions by now.
    const validPages = { queryKey: key, predicate: ({ state }: Query) => !state.isInvalidated };
    for (const [queryKey, page] of queryClient.getQueriesData<ListPage<T>>(validPages)) {
      const number = queryKey.at(-1);
      // The keys of other queries about the list, such as the files of its preview, are longer.
      if (page === undefined || typeof number !== "number" || queryKey.length !== key.length + 1) continue;
      page.entries.forEach((entry, index) => entries.set((number - 1) * PAGE_SIZE + index, entry));
    }
    return entries;
    // oxlint-disable-next-line react/exhaustive-deps -- see stamp
  }, [queryClient, key, stamp]);
  return { at, known };
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
