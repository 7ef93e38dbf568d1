import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from "react";
import { useWasIdle } from "../../ui/use-was-idle.ts";
import { boxOf, dayOfPhoto, photosBetween, startOfDay } from "./positions.ts";
import type { Layout } from "./types.ts";

/** How many pixels above and below the visible area are rendered too, once the first view is complete. */
const BEYOND_PIXELS = 600;
/** After a jump, the grid is rendered immediately, but photos are loaded only after a pause this long. */
const REST_MS = 120;

/** The photos from index `first` up to, but not including, `end`. */
export interface PhotoRange {
  readonly first: number;
  readonly end: number;
}

const NOTHING: PhotoRange = { first: 0, end: 0 };

/**
 * The scroll position of an element. Only for small components, because they render again with every change. The grid
 * renders again only when another row becomes visible.
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

/**
 * The photos in view, and the photos whose records are needed. After a jump of more than one view, the second range
 * follows the first after a pause. When the layout changes, the photo at the top of the view stays where it is.
 */
export function useViewport(scroller: RefObject<HTMLElement | null>, layout: Layout, height: number) {
  const [range, setRange] = useState(NOTHING);
  const [neededRange, setNeededRange] = useState(NOTHING);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const lastTop = useRef(0);
  const scrolledAt = useRef(-1000);
  const anchor = useRef<Anchor>(undefined);
  const beyond = useWasIdle() ? BEYOND_PIXELS : 0;

  const updateView = useCallback(() => {
    const at = scroller.current?.scrollTop ?? 0;
    const isJump = Math.abs(at - lastTop.current) > Math.max(height, 1);
    lastTop.current = at;
    anchor.current = anchorAt(layout, at);
    const next = photosBetween(layout, at - beyond, at + height + beyond);
    setRange((before) => (isSame(before, next) ? before : next));
    const update = () => setNeededRange((before) => (isSame(before, next) ? before : next));
    clearTimeout(timer.current);
    if (isJump) timer.current = setTimeout(update, REST_MS);
    else update();
  }, [scroller, layout, height, beyond]);

  useLayoutEffect(() => {
    const element = scroller.current;
    const last = element === null ? undefined : latestAnchor(element, anchor.current, lastTop.current);
    if (element !== null && last !== undefined && last.layout !== layout) {
      const top = topOfAnchor(layout, last);
      if (Math.abs(element.scrollTop - top) >= 1) element.scrollTop = top;
      lastTop.current = element.scrollTop;
    }
    updateView();
  }, [scroller, layout, updateView]);
  useEffect(() => () => clearTimeout(timer.current), []);

  const onScroll = useCallback(() => {
    scrolledAt.current = performance.now();
    updateView();
  }, [updateView]);
  return { range, neededRange, scrolledAt, onScroll };
}

/** The photo at the top of the view, by its day, and how much of it is above the view. */
interface Anchor {
  readonly layout: Layout;
  readonly date: string;
  readonly at: number;
  /** The fraction of its height above the view; 0 if a heading is at the top of the view, and `pixels` is used. */
  readonly part: number;
  readonly pixels: number;
}

/** Undefined at the top of the grid, so that new photos become visible there. */
function anchorAt(layout: Layout, scrollTop: number): Anchor | undefined {
  if (scrollTop <= 0) return undefined;
  const { first } = photosBetween(layout, scrollTop, scrollTop + 1);
  const found = dayOfPhoto(layout, Math.min(first, layout.total - 1));
  if (found === undefined) return undefined;
  const { top, height } = boxOf(layout, first);
  const beyond = scrollTop - top;
  const isInside = beyond > 0 && beyond <= height;
  return {
    layout,
    date: found.day.date,
    at: found.at,
    part: isInside ? beyond / height : 0,
    pixels: isInside ? 0 : beyond,
  };
}

/**
 * The anchor of the view before the layout changed. The event of a scroll comes only with the next frame, so the known
 * anchor can be that of an earlier position. But a grid that became shorter is scrolled by the browser alone.
 */
function latestAnchor(element: HTMLElement, known: Anchor | undefined, knownTop: number): Anchor | undefined {
  const { scrollTop, scrollHeight, clientHeight } = element;
  const isShortened = scrollTop < knownTop && scrollTop >= scrollHeight - clientHeight - 1;
  if (known === undefined || scrollTop === knownTop || isShortened) return known;
  return anchorAt(known.layout, scrollTop);
}

function topOfAnchor(layout: Layout, { date, at, part, pixels }: Anchor): number {
  const index = Math.min(startOfDay(layout, date) + at, layout.total - 1);
  const { top, height } = boxOf(layout, index);
  return Math.max(0, Math.round(top + part * height + pixels));
}

function isSame(one: PhotoRange, other: PhotoRange): boolean {
  return one.first === other.first && one.end === other.end;
}
