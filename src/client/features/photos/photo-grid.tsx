import { type RefObject, useEffect, useImperativeHandle, useMemo, useRef, useState } from "react";
import { rowHeightFor, MonthLayouts } from "../../entries/justified/layout.ts";
import { dayOfPhoto, photosBetween } from "../../entries/justified/positions.ts";
import type { Layout, ShapedDay } from "../../entries/justified/types.ts";
import { useInteraction } from "../../entries/justified/use-interaction.ts";
import { type PhotoRange, useViewport } from "../../entries/justified/use-viewport.ts";
import { useSize } from "../../ui/use-size.ts";
import { MEMORIES_HEIGHT, type Memories, MemoriesRow } from "./memories.tsx";
import { PhotoActions } from "./photo-actions.tsx";
import { photoFinder } from "./photo-finder.ts";
import type { PhotoSize } from "./photo-size.ts";
import { TimelineSlider } from "./timeline-slider.tsx";
import { text } from "./text.ts";
import type { PhotoLibrary } from "./use-photo-library.ts";
import { usePhotoPreview } from "./use-photo-preview.tsx";
import { usePhotoSlideshow } from "./use-photo-slideshow.ts";
import { usePhotoSelection } from "./use-photo-selection.ts";
import { VisibleMonths } from "./visible-months.tsx";

/** A range of days, both included. */
export interface DayRange {
  readonly newest: string;
  readonly oldest: string;
}

/** What the page can do with the grid. */
export interface PhotoGridHandle {
  /** Starts with the photo at the top of the view. */
  startSlideshow(): void;
}

/** Props of {@link PhotoGrid}. */
interface PhotoGridProps {
  readonly library: PhotoLibrary;
  readonly size: PhotoSize;
  /** The cards for today's date in earlier years. */
  readonly row: Memories;
  readonly handle: RefObject<PhotoGridHandle | null>;
  /** Called with the range of days whose photos are visible. */
  readonly onVisibleDays: (days: DayRange | undefined) => void;
}

/** The grid of photos, the timeline next to it, and the actions on the selection. */
export function PhotoGrid(props: PhotoGridProps) {
  const { scroller, content, width, height, layout, range, selecting, start, slideshow, ...grid } = useGrid(props);
  const { selected, photoAt, events } = selecting;
  return (
    <>
      <PhotoActions
        library={props.library}
        selected={selected}
        onClear={selecting.onClear}
        onSlideshow={() => start.of([...selected.values()])}
      />
      <div className="relative -me-4 min-h-0 flex-1 sm:-me-6">
        <div
          ref={scroller}
          role="region"
          aria-label={text.gridLabel}
          onScroll={grid.onScroll}
          {...selecting.keys}
          className="size-full overflow-x-hidden overflow-y-auto overscroll-contain pe-11 [overflow-anchor:none] [scrollbar-width:none]"
        >
          <div ref={content} className="relative" style={{ height: layout.height }}>
            {props.row.memories.length > 0 && <MemoriesRow row={props.row} onOpen={({ date }) => start.ofDay(date)} />}
            {width > 0 && (
              <VisibleMonths
                layout={layout}
                range={range}
                itemAt={photoAt}
                photos={props.library.photos}
                selected={selected}
                cursor={selecting.cursor}
                events={events}
                scrolledAt={grid.scrolledAt}
                onToggleDay={selecting.onToggleDay}
              />
            )}
          </div>
        </div>
        {height > 0 && layout.height > height && (
          <TimelineSlider layout={layout} scroller={scroller} viewHeight={height} />
        )}
      </div>
      {selecting.preview}
      {slideshow}
    </>
  );
}

/** The state of the grid. */
function useGrid({ library, size, row, handle, onVisibleDays }: PhotoGridProps) {
  const placement = useGridLayout(library.days, size, row.memories.length > 0 ? MEMORIES_HEIGHT : 0);
  const { scroller, height, layout } = placement;
  const { range, neededRange, scrolledAt, onScroll } = useViewport(scroller, layout, height);
  useVisibleDays(layout, neededRange, onVisibleDays);
  const selecting = useSelecting({ library, layout, scroller, height });
  const { start, slideshow } = usePhotoSlideshow(library);
  useImperativeHandle(handle, () => ({
    startSlideshow: () => {
      const top = scroller.current?.scrollTop ?? 0;
      const photo = selecting.photoAt(photosBetween(layout, top, top + height).first);
      if (photo !== undefined) start.from(photo);
    },
  }));
  return { ...placement, range, scrolledAt, onScroll, selecting, start, slideshow };
}

/** The layout of the grid for the size of the page. @param inset the height reserved above the first month */
function useGridLayout(days: readonly ShapedDay[], size: PhotoSize, inset: number) {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const { width } = useSize(content);
  const { height } = useSize(scroller);
  const [months] = useState(() => new MonthLayouts());
  const layout = useMemo(
    () => months.layout(days, { width: Math.max(width, 1), rowHeight: rowHeightFor(width, size) }, inset),
    [months, days, width, size, inset],
  );
  return { scroller, content, width, height, layout };
}

/** The cursor, selection, and preview of the grid, and the events that change them. */
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
    // The preview first returns the focus to the photo from which it was opened. This must run after that.
    requestAnimationFrame(() => requestAnimationFrame(() => goTo(index)));
  });
  const onClear = () => {
    clear();
    // The button that cleared the selection no longer exists, so the focus returns to the photo at the cursor.
    focus();
  };
  const onToggleDay = (first: number, count: number) => withRange(first, first + count - 1, toggleAll);
  return { selected, photoAt, cursor, events, keys, preview: preview.preview, onClear, onToggleDay };
}

/** Reports the days of a range of photos. */
function useVisibleDays(layout: Layout, { first, end }: PhotoRange, onChange: (days: DayRange) => void): void {
  const newest = dayOfPhoto(layout, first)?.day.date;
  const oldest = dayOfPhoto(layout, Math.max(first, end - 1))?.day.date;
  useEffect(() => {
    if (end > 0 && newest !== undefined && oldest !== undefined) onChange({ newest, oldest });
  }, [end, newest, oldest, onChange]);
}
