import type { QueryKey } from "@tanstack/react-query";
import { PAGE_SIZE, pageOf, pagesOf, type Span } from "./page-window.ts";

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
export type ReadProgress = (done: number, of: number) => void;

/** How many pages are loaded in parallel for a large selection. */
const PARALLEL_PAGES = 4;

/**
 * The entries of a span in order, as the server has them now.
 * @param total the length of the list, if it is known
 */
export async function readSpan<T>(
  source: Pick<PageSource<T>, "fetchPage">,
  span: Span,
  total: number | undefined,
  options: ReadOptions,
): Promise<T[]> {
  const loaded = await readPages(source, pagesOf(span, total), options);
  return [...loaded].flatMap(([page, { entries }]) =>
    entries.filter((_, index) => {
      const position = (page - 1) * PAGE_SIZE + index;
      return position >= span.first && position <= span.last;
    }),
  );
}

/** All entries of a list in order, as the server has them now. */
export async function readAll<T extends { readonly id: string }>(
  source: Pick<PageSource<T>, "fetchPage">,
  total: number | undefined,
  options: ReadOptions,
): Promise<T[]> {
  const numbers = pagesOf({ first: 0, last: Math.max(0, (total ?? 0) - 1) }, undefined);
  const loaded = await readPages(source, numbers, { ...options, readsToEnd: true });
  // An entry that moved to another page during loading is in both.
  const entries = new Map([...loaded.values()].flatMap((page) => page.entries.map((entry) => [entry.id, entry])));
  return [...entries.values()];
}

interface ReadOptions {
  readonly progress?: ReadProgress | undefined;
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
