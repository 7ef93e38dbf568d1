import { type KeyboardEvent, type PointerEvent, useRef } from "react";
import { COLUMN_MIN } from "./fit-columns.ts";
import { rootFontSize } from "./root-font-size.ts";

/** How far an arrow key moves a separator, in rem. */
const STEP = 0.5;

/**
 * The line at the start of a column. Dragging it, or the arrow keys, change the width of the column; the names get
 * what is left. All measures in rem.
 */
export function ColumnSeparator({
  label,
  width,
  spare,
  onResize,
}: {
  readonly label: string;
  readonly width: number;
  /** By how much the column can be widened. */
  readonly spare: number;
  readonly onResize: (width: number) => void;
}) {
  const drag = useRef<{ readonly x: number; readonly width: number; readonly max: number } | undefined>(undefined);
  const max = width + spare;
  const isRightToLeft = (element: Element) => getComputedStyle(element).direction === "rtl";

  const onKeyDown = (event: KeyboardEvent) => {
    const isWider = event.key === (isRightToLeft(event.currentTarget) ? "ArrowRight" : "ArrowLeft");
    const to: Readonly<Record<string, number>> = {
      ArrowLeft: isWider ? width + STEP : width - STEP,
      ArrowRight: isWider ? width + STEP : width - STEP,
      Home: COLUMN_MIN,
      End: max,
    };
    const next = to[event.key];
    if (next === undefined) return;
    event.preventDefault();
    onResize(clamp(next, max));
  };
  const onPointerDown = (event: PointerEvent<HTMLElement>) => {
    if (event.button !== 0) return;
    // The list would begin to draw a selection.
    event.stopPropagation();
    event.currentTarget.setPointerCapture(event.pointerId);
    drag.current = { x: event.clientX, width, max };
  };
  const onPointerMove = (event: PointerEvent<HTMLElement>) => {
    const from = drag.current;
    if (from === undefined) return;
    const moved = (event.clientX - from.x) / rootFontSize();
    onResize(clamp(from.width + (isRightToLeft(event.currentTarget) ? moved : -moved), from.max));
  };
  const end = () => {
    drag.current = undefined;
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- a separator with a value is a control
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label={label}
      aria-valuemin={COLUMN_MIN}
      aria-valuemax={Math.round(max * 10) / 10}
      aria-valuenow={Math.round(width * 10) / 10}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- see above
      tabIndex={0}
      onKeyDown={onKeyDown}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={end}
      onPointerCancel={end}
      className="absolute -start-3 inset-y-0 w-3 cursor-col-resize touch-none after:absolute after:inset-y-2 after:start-1.5 after:w-px after:bg-line hover:after:bg-line-strong"
    />
  );
}

function clamp(width: number, max: number): number {
  return Math.max(COLUMN_MIN, Math.min(width, max));
}
