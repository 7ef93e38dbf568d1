import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from "react";
import { boxOf } from "./positions.ts";
import type { Layout } from "./types.ts";

/** The space above and below the photo at the cursor that stays visible, because headings can cover it. */
const MARGIN = 84;

/** The photo that has the focus or will get it, by its index. */
export function useCursor(scroller: RefObject<HTMLElement | null>, layout: Layout) {
  const [cursor, setCursor] = useState(0);
  const wantsFocus = useRef(false);
  const tileAt = (index: number) => scroller.current?.querySelector<HTMLElement>(`[data-photo="${index}"]`);

  /** Moves the cursor to a photo, scrolls to it, and focuses it once it is rendered. */
  const goTo = useCallback(
    (index: number) => {
      const target = Math.min(layout.total - 1, Math.max(0, index));
      wantsFocus.current = true;
      setCursor(target);
      const element = scroller.current;
      if (element === null) return;
      const { top, height } = boxOf(layout, target);
      if (top - MARGIN < element.scrollTop) element.scrollTop = top - MARGIN;
      else if (top + height + MARGIN > element.scrollTop + element.clientHeight) {
        element.scrollTop = top + height + MARGIN - element.clientHeight;
      }
    },
    [scroller, layout],
  );
  useLayoutEffect(() => {
    if (!wantsFocus.current) return;
    const tile = tileAt(cursor);
    if (tile === undefined || tile === null) return;
    wantsFocus.current = false;
    tile.focus({ preventScroll: true });
  });
  const focus = () => tileAt(cursor)?.focus({ preventScroll: true });
  return { cursor, setCursor, goTo, focus };
}
