import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { type RefObject, useLayoutEffect, useRef } from "react";
import type { Entry } from "../../api/types.ts";
import { HEADER_HEIGHT } from "./tile-layout.ts";
import type { GridLayout } from "./use-grid-layout.ts";

/** Space below the last entry, for elements that float above the page. */
export const SPACE_BELOW = 88;

/** Renders only the rows that are visible, and those around the cursor. */
export function useVirtualRows(options: {
  readonly scroller: RefObject<HTMLElement | null>;
  readonly layout: Pick<GridLayout<Entry>, "isTiles" | "rowHeight" | "above">;
  readonly rows: number;
  readonly cursorRow: number;
  readonly startOffset: number;
}) {
  const { scroller, layout, rows, cursorRow, startOffset } = options;
  const { isTiles, rowHeight, above } = layout;
  /** The row that has the focus, until the focus has followed the cursor. */
  const focusedRow = useRef(cursorRow);
  const virtualizer = useVirtualizer({
    count: rows,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 6,
    initialOffset: startOffset,
    // Until the list is measured. Rendered with no height, it would be rendered twice.
    initialRect: { width: window.innerWidth, height: window.innerHeight },
    scrollMargin: above,
    scrollPaddingStart: isTiles ? 0 : HEADER_HEIGHT,
    scrollPaddingEnd: SPACE_BELOW,
    useFlushSync: false,
    // The row of the cursor always stays rendered, and so does the previous one until the focus has moved. Otherwise keys
    // that are pressed faster than the list scrolls would lose the focus with the row it was in.
    rangeExtractor: (range) => {
      const pinned = rows === 0 ? [] : [cursorRow, focusedRow.current].map((row) => Math.min(row, rows - 1));
      return [...new Set([...defaultRangeExtractor(range), ...pinned])].sort((one, other) => one - other);
    },
  });
  useLayoutEffect(() => virtualizer.measure(), [virtualizer, rowHeight]);
  return { virtualizer, focusedRow };
}
