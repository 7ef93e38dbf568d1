/** Which pages of a paged list contain which positions. Positions count from 0, pages from 1. */

/** Entries per page; the most that the API returns. */
export const PAGE_SIZE = 100;

/** A range of positions, both ends included. */
export interface Span {
  readonly first: number;
  readonly last: number;
}

/** The page that contains a position. */
export function pageOf(position: number): number {
  return Math.floor(position / PAGE_SIZE) + 1;
}

/** The index of a position in its page. */
export function indexInPage(position: number): number {
  return position % PAGE_SIZE;
}

/**
 * The pages that contain positions of a span, in order. Positions outside of the list need no page. If the list is
 * empty or its length unknown (`total` undefined), the pages of the span itself.
 */
export function pagesOf(span: Span, total: number | undefined): number[] {
  const last = total === undefined ? span.last : Math.min(span.last, total - 1);
  const first = Math.max(0, span.first);
  if (last < first) return [];
  const pages: number[] = [];
  for (let page = pageOf(first); page <= pageOf(last); page += 1) pages.push(page);
  return pages;
}

/** The span between two positions, in either order. */
export function spanBetween(one: number, other: number): Span {
  return { first: Math.min(one, other), last: Math.max(one, other) };
}

/** Splits a list into batches of at most `size`. */
export function splitIntoBatches<T>(items: readonly T[], size: number): T[][] {
  const batches: T[][] = [];
  for (let at = 0; at < items.length; at += size) batches.push(items.slice(at, at + size));
  return batches;
}
