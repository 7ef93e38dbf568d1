import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from "react";
import { type Layout, photosBetween, sectionOf } from "./layout.ts";

/** How many pixels above and below the visible area are rendered too. */
const BEYOND_PIXELS = 600;
/** After a jump the grid is rendered at once, but photos are loaded only when scrolling has stopped. */
const REST_MS = 120;

/**
 * The scroll position of an element, for components that show only that. The grid itself is rendered again only row by
 * row.
 */
export function useScrollTop(ref: RefObject<HTMLElement | null>): number {
  const follow = useCallback(
    (listener: () => void) => {
      const element = ref.current;
      element?.addEventListener("scroll", listener, { passive: true });
      return () => element?.removeEventListener("scroll", listener);
    },
    [ref],
  );
  return useSyncExternalStore(follow, () => ref.current?.scrollTop ?? 0);
}

/** The range of photos in view, and the range of days whose photos are needed. */
export function useViewport(scroller: RefObject<HTMLElement | null>, layout: Layout, height: number) {
  const [range, setRange] = useState({ first: 0, end: 0 });
  const [visibleDays, setVisibleDays] = useState<{ newest: string; oldest: string }>();
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const lastTop = useRef(0);

  const updateView = useCallback(() => {
    const at = scroller.current?.scrollTop ?? 0;
    const isJump = Math.abs(at - lastTop.current) > Math.max(height, 1);
    lastTop.current = at;
    const next = photosBetween(layout, at - BEYOND_PIXELS, at + height + BEYOND_PIXELS);
    setRange((before) => (before.first === next.first && before.end === next.end ? before : next));
    const updateDays = () => {
      const newest = layout.sections[sectionOf(layout, next.first)]?.date;
      const oldest = layout.sections[sectionOf(layout, Math.max(next.first, next.end - 1))]?.date;
      if (newest === undefined || oldest === undefined) return;
      setVisibleDays((before) => (before?.newest === newest && before.oldest === oldest ? before : { newest, oldest }));
    };
    clearTimeout(timer.current);
    if (isJump) timer.current = setTimeout(updateDays, REST_MS);
    else updateDays();
  }, [scroller, layout, height]);

  useLayoutEffect(updateView, [updateView]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return { range, visibleDays, updateView };
}
