/** Which pages of a paged list hold which positions. Positions count from 0, pages from 1. */

/** Entries of one page; the most that the API gives at once. */
export const PAGE_SIZE = 100;

/** A run of positions, both ends included. */
export interface Span {
  readonly first: number;
  readonly last: number;
}

/** The page that holds a position. */
export function pageOf(position: number): number {
  return Math.floor(position / PAGE_SIZE) + 1;
}

/** Where in its page a position lies. */
export function indexInPage(position: number): number {
  return position % PAGE_SIZE;
}

/**
 * The pages that hold any position of a span, in order. What lies before the first or behind the last entry needs none;
 * an empty list, or one whose length is not known yet (`total` undefined), needs what was asked for.
 */
export function pagesOf(span: Span, total: number | undefined): number[] {
  const last = total === undefined ? span.last : Math.min(span.last, total - 1);
  const first = Math.max(0, span.first);
  if (last < first) return [];
  const pages: number[] = [];
  for (let page = pageOf(first); page <= pageOf(last); page += 1) pages.push(page);
  return pages;
}

/** The span between two positions, in whichever order they are given. */
export function spanBetween(one: number, other: number): Span {
  return { first: Math.min(one, other), last: Math.max(one, other) };
}

/** Cuts a list into portions of at most `size`. */
export function splitIntoBatches<T>(items: readonly T[], size: number): T[][] {
  const batches: T[][] = [];
  for (let at = 0; at < items.length; at += size) batches.push(items.slice(at, at + size));
  return batches;
}
