import { type PointerEvent, type RefObject, useRef, useState } from "react";
import type { Entry } from "../../api/types.ts";
import { type Box, type GridMetrics, positionsIn } from "./tile-layout.ts";
import { positionOf } from "./use-grid-pointer.ts";
import type { Collection } from "./use-collection.ts";

/** How close to the edge the list starts to scroll, and how far each time. */
const EDGE = 32;
const STEP = 24;
/** A smaller drag is a click. */
const SHORTEST = 4;

/**
 * A selection rectangle that is drawn with the mouse from an empty area. Selects the entries it touches; with Ctrl,
 * adds them to the selection.
 */
export function useRubberBand<T extends Entry>(
  scroller: RefObject<HTMLElement | null>,
  body: RefObject<HTMLElement | null>,
  collection: Collection<T>,
  metrics: Omit<GridMetrics, "total" | "width" | "isRightToLeft">,
) {
  const [box, setBox] = useState<Box>();
  const start = useRef<{ x: number; y: number; base: readonly T[] } | undefined>(undefined);

  /** The pointer's position in the coordinates of the list's content. */
  const pointOf = (event: PointerEvent) => {
    const origin = body.current?.getBoundingClientRect();
    return { x: event.clientX - (origin?.left ?? 0), y: event.clientY - (origin?.top ?? 0) };
  };

  const onPointerDown = (event: PointerEvent<HTMLElement>) => {
    if (event.pointerType !== "mouse" || event.button !== 0 || positionOf(event.target) !== undefined) return;
    const isOnBar = event.nativeEvent.offsetX > event.currentTarget.clientWidth && event.target === event.currentTarget;
    const isControl = event.target instanceof Element && event.target.closest("button, input, a") !== null;
    if (isOnBar || isControl) return;
    const isAdding = event.ctrlKey || event.metaKey;
    const base = isAdding && collection.selection.kind === "some" ? [...collection.selection.entries.values()] : [];
    if (!isAdding) collection.clear();
    start.current = { ...pointOf(event), base };
    event.currentTarget.setPointerCapture(event.pointerId);
  };

  const onPointerMove = (event: PointerEvent) => {
    const from = start.current;
    const list = scroller.current;
    if (from === undefined || list === null || body.current === null) return;
    const edges = list.getBoundingClientRect();
    if (event.clientY > edges.bottom - EDGE) list.scrollTop += STEP;
    else if (event.clientY < edges.top + EDGE) list.scrollTop -= STEP;
    const { x, y } = pointOf(event);
    const rectangle = {
      left: Math.min(from.x, x),
      top: Math.min(from.y, y),
      right: Math.max(from.x, x),
      bottom: Math.max(from.y, y),
    };
    if (rectangle.right - rectangle.left + rectangle.bottom - rectangle.top < SHORTEST) return;
    setBox(rectangle);
    const positions = positionsIn(rectangle, {
      ...metrics,
      total: collection.pages.total ?? 0,
      width: body.current.clientWidth,
      isRightToLeft: getComputedStyle(list).direction === "rtl",
    });
    const touched = positions.flatMap((position) => collection.pages.at(position) ?? []);
    collection.selectEntries([...from.base, ...touched]);
  };

  const end = () => {
    start.current = undefined;
    setBox(undefined);
  };
  return { box, handlers: { onPointerDown, onPointerMove, onPointerUp: end, onPointerCancel: end } };
}
