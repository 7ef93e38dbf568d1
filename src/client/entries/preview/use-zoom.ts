// Zooms and pans an image by wheel, touch, mouse and keys.
import { type MouseEvent, type PointerEvent, type RefObject, useEffect, useRef, useState } from "react";
import { type Point, type Size, type View, WHOLE, fitOnStage, clampToStage, panBy, zoomAt } from "./zoom.ts";
import { useSize } from "../../ui/use-size.ts";

/** A horizontal swipe of this many pixels goes to the next image. */
const SWIPE_PX = 60;
const DOUBLE_TAP_MS = 300;
const DOUBLE_TAP_SCALE = 2.5;

/** The view of an image, and functions to change it. */
export interface Zoom {
  readonly view: View;
  readonly stage: Size;
  readonly stageRef: RefObject<HTMLDivElement | null>;
  readonly handlers: Readonly<Record<string, unknown>>;
  /** Scales around the center. */
  by(factor: number): void;
  fit(): void;
}

/** Zooms and pans an image of this size. At scale 1, a horizontal touch is a swipe. */
export function useZoom(picture: Size, onSwipe: (by: 1 | -1) => void): Zoom {
  const stageRef = useRef<HTMLDivElement>(null);
  const stage = useSize(stageRef);
  const [view, setView] = useState<View>(WHOLE);
  const change: ChangeView = (next) => {
    const size = picture.width === 0 ? picture : fitOnStage(picture, stage);
    setView((now) => clampToStage(next(now), size, stage));
  };
  const latest = useRef({ change, view });
  useEffect(() => {
    latest.current = { change, view };
  });
  useZoomWheel(stageRef, latest);
  useZoomKeys(stageRef, latest);
  const handlers = useZoomPointers({ stageRef, view, change, onSwipe });
  return {
    view,
    stage,
    stageRef,
    handlers,
    by: (factor) => change((now) => zoomAt(now, factor, { x: 0, y: 0 })),
    fit: () => setView(WHOLE),
  };
}

type ChangeView = (next: (view: View) => View) => void;
type StageRef = RefObject<HTMLDivElement | null>;
/** The current view and how to change it, for listeners outside of React. */
type LatestView = RefObject<{ readonly change: ChangeView; readonly view: View }>;

function useZoomWheel(stageRef: StageRef, latest: LatestView): void {
  useEffect(() => {
    const element = stageRef.current;
    if (element === null) return undefined;
    // React registers passive listeners, but the page must not scroll or zoom along.
    const wheel = (event: WheelEvent): void => {
      event.preventDefault();
      const point = pointOn(element, event);
      latest.current.change((now) => zoomAt(now, Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.002)), point));
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  }, [stageRef, latest]);
}

function useZoomKeys(stageRef: StageRef, latest: LatestView): void {
  useEffect(() => {
    // Before the overlay's own keys: arrow keys pan an image that is larger than the stage, instead of going to the
    // next.
    const press = (event: globalThis.KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isField(event.target)) return;
      const dialog = stageRef.current?.closest('[role="dialog"]');
      if (!(event.target instanceof Node) || dialog?.contains(event.target) !== true) return;
      const next = viewAfterKey(event.key, latest.current.view);
      if (next === undefined) return;
      event.preventDefault();
      latest.current.change(() => next);
    };
    document.addEventListener("keydown", press, true);
    return () => document.removeEventListener("keydown", press, true);
  }, [stageRef, latest]);
}

/** Mouse and fingers: drag pans, two fingers zoom, a double click or tap zooms in and out, one finger swipes. */
function useZoomPointers({
  stageRef,
  view,
  change,
  onSwipe,
}: {
  readonly stageRef: StageRef;
  readonly view: View;
  readonly change: ChangeView;
  readonly onSwipe: (by: 1 | -1) => void;
}) {
  const pointers = useRef(new Map<number, Point>());
  const swipe = useRef<{ start: Point; isOne: boolean }>({ start: { x: 0, y: 0 }, isOne: false });
  const lastTapMs = useRef(0);
  const lastPointer = useRef("mouse");
  const pointOf = (event: ClientPoint): Point => pointOn(stageRef.current, event);
  const toggleAt = (point: Point): void => {
    change((now) => (now.scale > 1 ? WHOLE : zoomAt(now, DOUBLE_TAP_SCALE, point)));
  };
  const onPointerMove = (event: PointerEvent) => {
    const before = pointers.current.get(event.pointerId);
    if (before === undefined) return;
    const now = pointOf(event);
    const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
    pointers.current.set(event.pointerId, now);
    if (other === undefined) change((current) => panBy(current, { x: now.x - before.x, y: now.y - before.y }));
    else
      change((current) =>
        zoomAt(current, distance(now, other) / Math.max(distance(before, other), 1), middle(now, other)),
      );
  };
  const onPointerUp = (event: PointerEvent) => {
    if (!pointers.current.delete(event.pointerId)) return;
    const end = pointOf(event);
    const { start, isOne } = swipe.current;
    const [across, down] = [end.x - start.x, end.y - start.y];
    if (event.pointerType === "mouse" || !isOne || pointers.current.size > 0) return;
    if (view.scale === 1 && Math.abs(across) > SWIPE_PX && Math.abs(across) > Math.abs(down)) {
      const isRightToLeft = document.documentElement.dir === "rtl";
      onSwipe(across < 0 === isRightToLeft ? -1 : 1);
    } else if (Math.hypot(across, down) < 10) {
      if (event.timeStamp - lastTapMs.current < DOUBLE_TAP_MS) toggleAt(end);
      lastTapMs.current = event.timeStamp;
    }
  };
  return {
    onPointerDown: (event: PointerEvent) => {
      lastPointer.current = event.pointerType;
      if (event.pointerType === "mouse" && event.button !== 0) return;
      // Buttons over the image are pressed, not dragged.
      if (isOnButton(event.target)) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      pointers.current.set(event.pointerId, pointOf(event));
      swipe.current = { start: pointOf(event), isOne: pointers.current.size === 1 };
    },
    onPointerMove,
    onPointerUp,
    onPointerCancel: (event: PointerEvent) => void pointers.current.delete(event.pointerId),
    onDoubleClick: (event: MouseEvent) => {
      // Double taps are handled by onPointerUp.
      if (lastPointer.current === "mouse" && !isOnButton(event.target)) toggleAt(pointOf(event));
    },
  };
}

interface ClientPoint {
  readonly clientX: number;
  readonly clientY: number;
}

/** The point of an event relative to the center of the stage. */
function pointOn(stage: HTMLElement | null, { clientX, clientY }: ClientPoint): Point {
  const box = stage?.getBoundingClientRect();
  if (box === undefined) return { x: 0, y: 0 };
  return { x: clientX - box.left - box.width / 2, y: clientY - box.top - box.height / 2 };
}

function isOnButton(target: EventTarget): boolean {
  return target instanceof Element && target.closest("button") !== null;
}

const PAN_KEYS: Readonly<Record<string, Point>> = {
  ArrowLeft: { x: 80, y: 0 },
  ArrowRight: { x: -80, y: 0 },
  ArrowUp: { x: 0, y: 80 },
  ArrowDown: { x: 0, y: -80 },
};

function viewAfterKey(key: string, view: View): View | undefined {
  if (key === "+" || key === "=") return zoomAt(view, 1.5, { x: 0, y: 0 });
  if (key === "-") return zoomAt(view, 1 / 1.5, { x: 0, y: 0 });
  if (key === "0") return WHOLE;
  const step = PAN_KEYS[key];
  return step === undefined || view.scale === 1 ? undefined : panBy(view, step);
}

function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

function middle(a: Point, b: Point): Point {
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
}

function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement
  );
}
