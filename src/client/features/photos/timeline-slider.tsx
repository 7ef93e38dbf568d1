import { type KeyboardEvent, type PointerEvent, type RefObject, useMemo, useRef, useState } from "react";
import { cx } from "../../ui/cx.ts";
import { formatMonth } from "../../entries/justified/dates.ts";
import { blockAt } from "../../entries/justified/positions.ts";
import type { Layout } from "../../entries/justified/types.ts";
import { useScrollTop } from "../../entries/justified/use-viewport.ts";
import { text } from "./text.ts";
import { useSize } from "../../ui/use-size.ts";

/** The height that a year label needs. */
const LABEL_PIXELS = 26;

/**
 * The timeline next to the grid. Shows the month at the scroll position, and scrolls to any month by dragging, by
 * pressing, or with keys (arrows: a month, Page Up and Down: a year, Home and End: newest and oldest).
 */
export function TimelineSlider({
  layout,
  scroller,
  viewHeight,
}: {
  readonly layout: Layout;
  /** The element that scrolls the grid. */
  readonly scroller: RefObject<HTMLElement | null>;
  readonly viewHeight: number;
}) {
  const track = useRef<HTMLDivElement>(null);
  const { height: trackHeight } = useSize(track);
  const [isDragging, setDragging] = useState(false);
  const months = useMemo(() => monthsOf(layout), [layout]);
  const years = useMemo(() => yearLabels(months, layout.height, trackHeight), [months, layout.height, trackHeight]);
  const timeline = useTimelineScroll({ months, layout, scroller, viewHeight });
  const follow = ({ clientY }: PointerEvent) => {
    const box = track.current?.getBoundingClientRect();
    if (box !== undefined && box.height > 0) timeline.scrollToPart((clientY - box.top) / box.height);
  };
  return (
    <div
      ref={track}
      // It ends above the round "New" button, which would otherwise cover its end.
      className="absolute inset-y-0 end-0 z-10 w-11 touch-none select-none max-lg:bottom-24"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        setDragging(true);
        follow(event);
      }}
      onPointerMove={(event) => isDragging && follow(event)}
      onPointerUp={() => setDragging(false)}
      onPointerCancel={() => setDragging(false)}
    >
      <div aria-hidden className="absolute inset-y-0 start-1/2 w-px bg-line" />
      {years.map(({ year, at }) => (
        <span
          key={year}
          aria-hidden
          className="absolute inset-x-0 -translate-y-1/2 bg-raised text-center text-xs text-muted"
          style={{ top: at }}
        >
          {year}
        </span>
      ))}
      <SliderThumb months={months} timeline={timeline} isDragging={isDragging} />
    </div>
  );
}

/** The thumb of the slider. While it is used, the month is shown next to it. */
function SliderThumb({
  months,
  timeline: { current, part, scrollToMonth, liveMonth },
  isDragging,
}: {
  readonly months: Months;
  readonly timeline: ReturnType<typeof useTimelineScroll>;
  readonly isDragging: boolean;
}) {
  const [hasFocus, setFocus] = useState(false);
  const month = months[current]?.month ?? "";
  const onKeyDown = (event: KeyboardEvent) => {
    // The current position, not the rendered one: keys may be pressed faster than the page renders.
    const from = liveMonth();
    const targets: Readonly<Record<string, number>> = {
      ArrowDown: from + 1,
      ArrowUp: from - 1,
      PageDown: yearFrom(months, from, 1),
      PageUp: yearFrom(months, from, -1),
      Home: 0,
      End: months.length - 1,
    };
    const target = targets[event.key];
    if (target === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    scrollToMonth(target);
  };
  return (
    <div
      role="slider"
      tabIndex={0}
      aria-label={text.timeline}
      aria-orientation="vertical"
      aria-valuemin={0}
      aria-valuemax={Math.max(0, months.length - 1)}
      aria-valuenow={current}
      aria-valuetext={month === "" ? undefined : formatMonth(month)}
      onKeyDown={onKeyDown}
      onFocus={() => setFocus(true)}
      onBlur={() => setFocus(false)}
      className="absolute inset-x-1 h-6 -translate-y-1/2 cursor-ns-resize rounded-full"
      style={{ top: `${part * 100}%` }}
    >
      <span className="absolute inset-x-1 top-1/2 h-1 -translate-y-1/2 rounded-full bg-accent" />
      {(isDragging || hasFocus) && month !== "" && (
        <span
          aria-hidden
          className={cx(
            "absolute end-full top-1/2 me-2 -translate-y-1/2 rounded-lg bg-ink px-3 py-1.5",
            "text-sm font-medium whitespace-nowrap text-raised shadow-lg",
          )}
        >
          {formatMonth(month)}
        </span>
      )}
    </div>
  );
}

/** Converts between the scroll position of the grid, the same as a fraction of the maximum, and the months. */
function useTimelineScroll({
  months,
  layout,
  scroller,
  viewHeight,
}: {
  readonly months: Months;
  readonly layout: Layout;
  readonly scroller: RefObject<HTMLElement | null>;
  readonly viewHeight: number;
}) {
  const top = useScrollTop(scroller);
  const range = Math.max(1, layout.height - viewHeight);
  // The reference point is the top of the view at the start of the grid, and the bottom of the view at its end, so that
  // every month can be reached. One pixel more, because browsers round scroll positions.
  const monthAt = (scrolled: number): number => {
    const at = within01(scrolled / range) * layout.height + 1;
    const block = blockAt(layout, at);
    return Math.max(
      0,
      months.findIndex(({ month }) => month === block?.month),
    );
  };
  const scrollTo = (to: number) => {
    if (scroller.current !== null) scroller.current.scrollTop = to;
  };
  return {
    /** The index of the month at the scroll position, as it was rendered. */
    current: monthAt(top),
    part: within01(top / range),
    /** The index of the month at the scroll position now. */
    liveMonth: () => monthAt(scroller.current?.scrollTop ?? 0),
    scrollToMonth: (index: number) => {
      const target = months[Math.min(months.length - 1, Math.max(0, index))];
      if (target !== undefined) scrollTo((target.top / Math.max(1, layout.height)) * range);
    },
    scrollToPart: (part: number) => scrollTo(within01(part) * range),
  };
}

function within01(value: number): number {
  return Math.min(1, Math.max(0, value));
}

/** The months of the grid, newest first. */
type Months = readonly { readonly month: string; readonly top: number }[];

function monthsOf({ blocks }: Layout): Months {
  return blocks.map(({ month, offset }) => ({ month, top: offset }));
}

/** The month about a year away: the first month of the neighboring year that has photos. */
function yearFrom(months: Months, from: number, by: 1 | -1): number {
  const year = Number(months[from]?.month.slice(0, 4) ?? 0);
  if (by === 1) {
    const found = months.findIndex(({ month }) => Number(month.slice(0, 4)) < year);
    return found < 0 ? months.length - 1 : found;
  }
  const newer = months.findLast(({ month }) => Number(month.slice(0, 4)) > year);
  if (newer === undefined) return 0;
  return months.findIndex(({ month }) => month.slice(0, 4) === newer.month.slice(0, 4));
}

/** Year labels where there is room for them. */
function yearLabels(months: Months, height: number, trackHeight: number): { year: string; at: number }[] {
  const labels: { year: string; at: number }[] = [];
  let year = "";
  for (const { month, top } of months) {
    if (month.slice(0, 4) === year) continue;
    year = month.slice(0, 4);
    const at = Math.max(LABEL_PIXELS / 2, (top / Math.max(1, height)) * trackHeight);
    if (at - (labels.at(-1)?.at ?? -LABEL_PIXELS) >= LABEL_PIXELS && at < trackHeight - LABEL_PIXELS / 2) {
      labels.push({ year, at });
    }
  }
  return labels;
}
