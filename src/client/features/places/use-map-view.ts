import { type PointerEvent, type RefObject, useEffect, useRef, useState } from "react";
import { type MapPoint, type MapView, limitView, fitView, zoomView } from "./projection.ts";

/** What a gesture began with. */
interface Gesture {
  readonly fingers: Map<number, MapPoint>;
  hasMoved: boolean;
}

/** A finger that moves less than this presses, in pixels. */
const PRESS_MAX = 4;

/** The visible part of the map, moved by mouse, wheel, and one or two fingers. Fits the places until it is moved. */
export function useMapView(
  ref: RefObject<HTMLElement | null>,
  points: readonly MapPoint[],
  { width, height }: { readonly width: number; readonly height: number },
) {
  const [moved, setMoved] = useState<MapView>();
  const gesture = useRef<Gesture>({ fingers: new Map(), hasMoved: false });
  const view = moved ?? fitView(points, width, height);
  const change = (to: (before: MapView) => MapView) => setMoved((before) => to(before ?? view));

  const zoomAt = (factor: number, at?: MapPoint) => change((before) => zoomView(before, factor, width, at));
  useWheel(ref, zoomAt);

  const fromCenter = ({ x, y }: MapPoint): MapPoint => {
    const box = ref.current?.getBoundingClientRect();
    return box === undefined ? { x: 0, y: 0 } : { x: x - box.left - box.width / 2, y: y - box.top - box.height / 2 };
  };
  const onPointerDown = (event: PointerEvent) => {
    const { fingers } = gesture.current;
    if (fingers.size === 0) gesture.current.hasMoved = false;
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  };
  const onPointerMove = (event: PointerEvent) => {
    const { fingers } = gesture.current;
    const from = fingers.get(event.pointerId);
    if (from === undefined) return;
    const to = { x: event.clientX, y: event.clientY };
    if (!gesture.current.hasMoved && Math.hypot(to.x - from.x, to.y - from.y) < PRESS_MAX) return;
    if (!gesture.current.hasMoved) event.currentTarget.setPointerCapture(event.pointerId);
    gesture.current.hasMoved = true;
    const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
    fingers.set(event.pointerId, to);
    if (other === undefined) {
      change((before) =>
        limitView(
          { ...before, x: before.x - (to.x - from.x) / before.scale, y: before.y - (to.y - from.y) / before.scale },
          width,
        ),
      );
    } else {
      const factor = distance(to, other) / Math.max(1, distance(from, other));
      zoomAt(factor, fromCenter({ x: (to.x + other.x) / 2, y: (to.y + other.y) / 2 }));
    }
  };
  const onPointerUp = (event: PointerEvent) => void gesture.current.fingers.delete(event.pointerId);
  return {
    view,
    zoomAt,
    fit: () => setMoved(undefined),
    show: (to: MapView) => setMoved(limitView(to, width)),
    /** Whether the press that just ended moved the map: then it does not open a place. */
    hasMoved: () => gesture.current.hasMoved,
    handlers: { onPointerDown, onPointerMove, onPointerUp, onPointerCancel: onPointerUp },
  };
}

/** React's own wheel events can't prevent the page from scrolling. */
function useWheel(ref: RefObject<HTMLElement | null>, zoomAt: (factor: number, at: MapPoint) => void): void {
  const latest = useRef(zoomAt);
  useEffect(() => {
    latest.current = zoomAt;
  });
  useEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      const box = element.getBoundingClientRect();
      const at = { x: event.clientX - box.left - box.width / 2, y: event.clientY - box.top - box.height / 2 };
      latest.current(Math.exp(-Math.max(-100, Math.min(100, event.deltaY)) / 300), at);
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, [ref]);
}

function distance(one: MapPoint, other: MapPoint): number {
  return Math.hypot(one.x - other.x, one.y - other.y);
}
