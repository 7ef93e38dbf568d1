import { type RefObject, useEffect, useMemo, useRef, useState } from "react";
import { rowHeightFor, MonthLayouts } from "../../entries/justified/layout.ts";
import { dayOfPhoto } from "../../entries/justified/positions.ts";
import type { Layout } from "../../entries/justified/types.ts";
import { useInteraction } from "../../entries/justified/use-interaction.ts";
import { type PhotoRange, useViewport } from "../../entries/justified/use-viewport.ts";
import { useSize } from "../../ui/use-size.ts";
import { PhotoActions } from "./photo-actions.tsx";
import { photoFinder } from "./photo-finder.ts";
import type { PhotoSize } from "./photo-size.ts";
import { TimelineSlider } from "./timeline-slider.tsx";
import { text } from "./text.ts";
import type { PhotoLibrary } from "./use-photo-library.ts";
import { usePhotoPreview } from "./use-photo-preview.tsx";
import { usePhotoSelection } from "./use-photo-selection.ts";
import { VisibleMonths } from "./visible-months.tsx";

/** A range of days, both included. */
export interface DayRange {
  readonly newest: string;
  readonly oldest: string;
}

/** The grid of photos, the timeline next to it, and the actions on the selection. */
export function PhotoGrid({
  library,
  size,
  onVisibleDays,
}: {
  readonly library: PhotoLibrary;
  readonly size: PhotoSize;
  /** Called with the range of days whose photos are visible. */
  readonly onVisibleDays: (days: DayRange | undefined) => void;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const { width } = useSize(content);
  const { height } = useSize(scroller);
  const [months] = useState(() => new MonthLayouts());
  const layout = useMemo(
    () => months.layout(library.days, { width: Math.max(width, 1), rowHeight: rowHeightFor(width, size) }),
    [months, library.days, width, size],
  );
  const { range, neededRange, scrolledAt, onScroll } = useViewport(scroller, layout, height);
  useVisibleDays(layout, neededRange, onVisibleDays);
  const { selected, toggleAll, photoAt, withRange, cursor, events, keys, preview, onClear } = useSelecting({
    library,
    layout,
    scroller,
    height,
  });
  return (
    <>
      <PhotoActions library={library} selected={selected} onClear={onClear} />
      <div className="relative -me-4 min-h-0 flex-1 sm:-me-6">
        <div
          ref={scroller}
          role="region"
          aria-label={text.gridLabel}
          onScroll={onScroll}
          {...keys}
          className="size-full overflow-x-hidden overflow-y-auto overscroll-contain pe-11 [overflow-anchor:none] [scrollbar-width:none]"
        >
          <div ref={content} className="relative" style={{ height: layout.height }}>
            {width > 0 && (
              <VisibleMonths
                layout={layout}
                range={range}
                itemAt={photoAt}
                photos={library.photos}
                selected={selected}
                cursor={cursor}
                events={events}
                scrolledAt={scrolledAt}
                onToggleDay={(first, count) => withRange(first, first + count - 1, toggleAll)}
              />
            )}
          </div>
        </div>
        {height > 0 && layout.height > height && (
          <TimelineSlider layout={layout} scroller={scroller} viewHeight={height} />
        )}
      </div>
      {preview}
    </>
  );
}

/** The cursor, the selection and the preview of the grid, and the events that change them. */
function useSelecting({
  library,
  layout,
  scroller,
  height,
}: {
  readonly library: PhotoLibrary;
  readonly layout: Layout;
  readonly scroller: RefObject<HTMLElement | null>;
  readonly height: number;
}) {
  const { selected, toggle, toggleAll, add, clear } = usePhotoSelection();
  const { photoAt, indexOf, withRange } = photoFinder(library, layout);
  const { cursor, goTo, focus, events, keys } = useInteraction({
    scroller,
    layout,
    height,
    itemAt: photoAt,
    selected,
    onOpen: (photo) => void preview.open(photo),
    onToggle: toggle,
    onAddRange: (one, other) => withRange(one, other, add),
    onClear: clear,
  });
  const preview = usePhotoPreview(library, (photo) => {
    const index = indexOf(photo) ?? cursor;
    // After the preview has returned the focus to the photo it was opened from.
    requestAnimationFrame(() => requestAnimationFrame(() => goTo(index)));
  });
  const onClear = () => {
    clear();
    // The button that cleared the selection is gone, so the focus returns to the cursor.
    focus();
  };
  return { selected, toggleAll, photoAt, withRange, cursor, events, keys, preview: preview.preview, onClear };
}

/** Reports the days of a range of photos. */
function useVisibleDays(layout: Layout, { first, end }: PhotoRange, onChange: (days: DayRange) => void): void {
  const newest = dayOfPhoto(layout, first)?.day.date;
  const oldest = dayOfPhoto(layout, Math.max(first, end - 1))?.day.date;
  useEffect(() => {
    if (end > 0 && newest !== undefined && oldest !== undefined) onChange({ newest, oldest });
  }, [end, newest, oldest, onChange]);
}
