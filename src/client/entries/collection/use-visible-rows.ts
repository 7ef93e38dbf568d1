import { type RefObject, useCallback, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { Entry } from "../../api/types.ts";
import { HEADER_HEIGHT } from "./tile-layout.ts";
import type { GridLayout } from "./use-grid-layout.ts";

/** Space below the last entry, for elements that float above the page. */
export const SPACE_BELOW = 88;

/** Rows rendered before and after the visible ones, so that fast scrolling shows no gaps. */
const ROWS_AROUND = 6;

/** Rows, both ends included. */
interface RowRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Finds the rows to render: those that are visible, a few around them, and that of the cursor. All rows have one height,
 * so a few lines do what a library for virtual lists needs ten kilobytes for.
 */
export function useVisibleRows(options: {
  readonly scroller: RefObject<HTMLElement | null>;
  readonly layout: Pick<GridLayout<Entry>, "isTiles" | "rowHeight" | "above">;
  readonly rows: number;
  readonly cursorRow: number;
  /** Where the list is scrolled to at first. */
  readonly startOffset: number;
}) {
  const { scroller, layout, rows, cursorRow, startOffset } = options;
  const { isTiles, rowHeight, above } = layout;
  /** The row that has the focus, until the focus has followed the cursor. */
  const focusedRow = useRef(cursorRow);
  // Until the list is measured. Rendered with no height, it would be rendered twice.
  const [range, setRange] = useState(() => rangeAt(startOffset - above, window.innerHeight, rowHeight));
  const measure = useCallback(() => {
    const element = scroller.current;
    if (element === null) return;
    const next = rangeAt(element.scrollTop - above, element.clientHeight, rowHeight);
    setRange((now) => (now.first === next.first && now.last === next.last ? now : next));
  }, [scroller, above, rowHeight]);

  /** Only at first: later the person scrolls. */
  const initialOffset = useRef(startOffset);
  useLayoutEffect(() => {
    if (scroller.current !== null && initialOffset.current > 0) scroller.current.scrollTop = initialOffset.current;
    initialOffset.current = 0;
  }, [scroller]);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    measure();
    const resizes = new ResizeObserver(measure);
    resizes.observe(element);
    element.addEventListener("scroll", measure, { passive: true });
    return () => {
      resizes.disconnect();
      element.removeEventListener("scroll", measure);
    };
  }, [scroller, measure, rows]);

  /** Scrolls as far as needed to show a row. */
  const scrollToRow = (row: number) => {
    const element = scroller.current;
    if (element === null) return;
    const top = above + row * rowHeight - (isTiles ? 0 : HEADER_HEIGHT);
    const bottom = above + (row + 1) * rowHeight + SPACE_BELOW - element.clientHeight;
    if (element.scrollTop > top) element.scrollTop = top;
    else if (element.scrollTop < bottom) element.scrollTop = bottom;
  };
  const visible = useMemo(
    () => ({ first: Math.min(range.first, Math.max(0, rows - 1)), last: Math.min(range.last, rows - 1) }),
    [range, rows],
  );
  return { visible, rendered: renderedRows(visible, rows, [cursorRow, focusedRow.current]), focusedRow, scrollToRow };
}

function rangeAt(offset: number, height: number, rowHeight: number): RowRange {
  const first = Math.max(0, Math.floor(offset / rowHeight));
  return { first, last: Math.max(first, Math.ceil((offset + height) / rowHeight) - 1) };
}

/**
 * In ascending order. The row of the cursor always stays rendered, and so does the previous one until the focus has moved.
 * Otherwise keys that are pressed faster than the list scrolls would lose the focus with the row it was in.
 */
function renderedRows({ first, last }: RowRange, rows: number, pinned: readonly number[]): number[] {
  if (rows === 0) return [];
  const start = Math.max(0, first - ROWS_AROUND);
  const end = Math.min(rows - 1, last + ROWS_AROUND);
  const around = Array.from({ length: end - start + 1 }, (_, index) => start + index);
  const others = pinned.map((row) => Math.min(row, rows - 1));
  return [...new Set([...around, ...others])].sort((one, other) => one - other);
}
