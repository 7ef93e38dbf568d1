import { type PointerEvent as ReactPointerEvent, type RefObject, useEffect, useRef, useState } from "react";
import { type Drop, dropAt } from "./drop.ts";
import type { Drag } from "./reorder-marks.tsx";
import type { Layout } from "./types.ts";

/** A pointer that moves fewer pixels than this clicks instead of dragging. */
const CLICK_PIXELS = 6;
/** How close to the upper or lower edge the pointer must be to scroll the grid during a drag. */
const EDGE_PIXELS = 56;
/** How many pixels the grid scrolls per frame when the pointer is at the edge. */
const SCROLL_PIXELS = 18;

/** How the items of a grid are dragged. */
export interface ReorderOptions {
  /** How many items a drag of this one moves: the whole selection if it is selected, otherwise 1. */
  countOf(dragged: number): number;
  /** Whether an item moves when another one is dragged. */
  moves(index: number, dragged: number): boolean;
  /** Moves the dragged item, and the items that move with it, before another item or to the end. */
  onDrop(dragged: number, before: number): void;
}

interface Press {
  readonly index: number;
  readonly startX: number;
  readonly startY: number;
  x: number;
  y: number;
  isDrag: boolean;
}

/**
 * Drags items of a grid to another position with the mouse. Near the edges, the grid scrolls. Escape cancels. On touch
 * screens, dragging scrolls, so the page must also offer these moves in a menu.
 */
export function useReorder({
  scroller,
  content,
  layout,
  reorder,
}: {
  readonly scroller: RefObject<HTMLElement | null>;
  readonly content: RefObject<HTMLElement | null>;
  readonly layout: Layout;
  readonly reorder: ReorderOptions | undefined;
}) {
  const [drag, setDrag] = useState<Drag>();
  const latest = useRef({ layout, reorder });
  latest.current = { layout, reorder };
  const cancel = useRef<() => void>(undefined);
  useEffect(() => () => cancel.current?.(), []);

  const onPointerDown = (event: ReactPointerEvent) => {
    const index = indexAt(event);
    if (reorder === undefined || index === undefined || cancel.current !== undefined) return;
    const press: Press = {
      index,
      startX: event.clientX,
      startY: event.clientY,
      x: event.clientX,
      y: event.clientY,
      isDrag: false,
    };
    const find = () => dropUnder(press, content.current, latest.current.layout);
    const show = () => {
      const drop = find();
      const count = latest.current.reorder?.countOf(index) ?? 1;
      if (drop !== undefined) setDrag({ dragged: index, count, drop, x: press.x, y: press.y });
    };
    const stopScrolling = scrollAtEdges(press, scroller, show);
    const end = follow(press, {
      onMove: show,
      onEnd: (isDropped) => {
        end();
        stopScrolling();
        cancel.current = undefined;
        setDrag(undefined);
        const drop = press.isDrag && isDropped ? find() : undefined;
        if (press.isDrag) ignoreNextClick();
        if (drop !== undefined) latest.current.reorder?.onDrop(index, drop.index);
      },
    });
    cancel.current = () => {
      end();
      stopScrolling();
    };
  };
  return { drag, onPointerDown };
}

/** The item that a press can drag; undefined for other presses, such as those that select. */
function indexAt({ target, pointerType, button, shiftKey, ctrlKey, metaKey }: ReactPointerEvent): number | undefined {
  if (pointerType === "touch" || button !== 0 || shiftKey || ctrlKey || metaKey) return undefined;
  const tile = target instanceof Element ? target.closest<HTMLElement>("[data-photo]") : null;
  return tile === null ? undefined : Number(tile.dataset["photo"]);
}

function dropUnder({ x, y }: Press, content: HTMLElement | null, layout: Layout): Drop | undefined {
  if (content === null) return undefined;
  const { left, right, top } = content.getBoundingClientRect();
  const fromStart = document.documentElement.dir === "rtl" ? right - x : x - left;
  return dropAt(layout, fromStart, y - top);
}

/** Follows the pointer in the whole window until it is released. @returns a function that stops following */
function follow(
  press: Press,
  { onMove, onEnd }: { readonly onMove: () => void; readonly onEnd: (isDropped: boolean) => void },
): () => void {
  const listeners = new AbortController();
  const { signal } = listeners;
  window.addEventListener(
    "pointermove",
    ({ clientX, clientY, buttons }) => {
      [press.x, press.y] = [clientX, clientY];
      if (Math.hypot(clientX - press.startX, clientY - press.startY) > CLICK_PIXELS) press.isDrag = true;
      // The button was released outside of the window.
      if (buttons === 0) onEnd(false);
      else if (press.isDrag) onMove();
    },
    { signal },
  );
  window.addEventListener("pointerup", () => onEnd(true), { signal });
  window.addEventListener("pointercancel", () => onEnd(false), { signal });
  window.addEventListener("blur", () => onEnd(false), { signal });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !press.isDrag) return;
    event.stopPropagation();
    onEnd(false);
  };
  // Runs before the shortcuts of the page, because they use Escape too.
  window.addEventListener("keydown", onKeyDown, true);
  return () => {
    listeners.abort();
    window.removeEventListener("keydown", onKeyDown, true);
  };
}

/** Scrolls an element while the pointer of a drag is near its edges. @returns a function that stops it */
function scrollAtEdges(press: Press, scroller: RefObject<HTMLElement | null>, onScrolled: () => void): () => void {
  let frame = requestAnimationFrame(step);
  function step() {
    frame = requestAnimationFrame(step);
    const element = scroller.current;
    if (!press.isDrag || element === null) return;
    const { top, bottom } = element.getBoundingClientRect();
    const beyond = Math.max(0, press.y - bottom + EDGE_PIXELS) - Math.max(0, top + EDGE_PIXELS - press.y);
    if (beyond === 0) return;
    const before = element.scrollTop;
    element.scrollTop += (SCROLL_PIXELS * Math.max(-EDGE_PIXELS, Math.min(EDGE_PIXELS, beyond))) / EDGE_PIXELS;
    if (element.scrollTop !== before) onScrolled();
  }
  return () => cancelAnimationFrame(frame);
}

/** Ignores the click that the browser sends to the tile under the pointer when a drag ends. */
function ignoreNextClick(): void {
  const stop = (event: Event) => {
    event.stopPropagation();
    event.preventDefault();
  };
  window.addEventListener("click", stop, true);
  // If there is a click, it follows in the same task as the release of the button.
  setTimeout(() => window.removeEventListener("click", stop, true));
}
