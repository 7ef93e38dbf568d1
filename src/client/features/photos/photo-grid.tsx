import { type RefObject, useEffect, useMemo, useRef } from "react";
import type { PhotoRecord } from "./api.ts";
import { type Layout, layoutOf, type Section } from "./layout.ts";
import { PhotoActions } from "./photo-actions.tsx";
import { photoFinder } from "./photo-finder.ts";
import type { TileEvents } from "./photo-tile.tsx";
import { TimelineSlider } from "./timeline-slider.tsx";
import { text } from "./text.ts";
import { usePhotoCursor } from "./use-photo-cursor.ts";
import { usePhotoKeys } from "./use-photo-keys.ts";
import type { PhotoLibrary } from "./use-photo-library.ts";
import { usePhotoPreview } from "./use-photo-preview.tsx";
import { usePhotoSelection } from "./use-photo-selection.ts";
import { useSize } from "../../ui/use-size.ts";
import { useViewport } from "./use-viewport.ts";
import { VisibleDays } from "./visible-days.tsx";

/** The grid of photos, the timeline next to it, and the actions on the selection. */
export function PhotoGrid({
  library,
  onVisibleDays,
}: {
  readonly library: PhotoLibrary;
  /** Called with the range of days whose photos are visible. */
  readonly onVisibleDays: (days: { newest: string; oldest: string } | undefined) => void;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const { width } = useSize(content);
  const { height } = useSize(scroller);
  const layout = useMemo(() => layoutOf(library.days, Math.max(width, 1)), [library.days, width]);
  const { range, visibleDays, updateView } = useViewport(scroller, layout, height);
  useEffect(() => onVisibleDays(visibleDays), [onVisibleDays, visibleDays]);
  const { selected, cursor, events, keys, preview, onClear } = useInteraction({ library, layout, scroller, height });
  return (
    <>
      <PhotoActions library={library} selected={selected} onClear={onClear} />
      <div className="relative -me-4 min-h-0 flex-1 sm:-me-6">
        <div
          ref={scroller}
          role="region"
          aria-label={text.gridLabel}
          onScroll={updateView}
          {...keys}
          className="size-full overflow-x-hidden overflow-y-auto overscroll-contain pe-11 [scrollbar-width:none]"
        >
          <div ref={content} className="relative" style={{ height: layout.height }}>
            {width > 0 && (
              <VisibleDays
                layout={layout}
                range={range}
                photos={library.photos}
                selected={selected}
                cursor={Math.min(cursor, Math.max(0, layout.total - 1))}
                events={events}
                onToggleDay={events.onToggleDay}
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
function useInteraction({
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
  const { cursor, setCursor, goTo, focus } = usePhotoCursor(scroller, layout);
  const anchor = useRef(0);
  const { photoAt, indexOf, withRange } = photoFinder(library, layout);
  const preview = usePhotoPreview(library, (photo) => {
    const index = indexOf(photo) ?? cursor;
    // After the preview has returned the focus to the photo it was opened from.
    requestAnimationFrame(() => requestAnimationFrame(() => goTo(index)));
  });
  const addRange = (to: number) => withRange(anchor.current, to, add);

  const events = useStableEvents({
    onOpen: (index) => {
      const photo = photoAt(index);
      if (photo !== undefined) void preview.open(photo);
    },
    onToggle: (index, photo, isRange) => {
      setCursor(index);
      if (isRange) addRange(index);
      else toggle(photo);
      anchor.current = index;
    },
    onFocus: setCursor,
    onToggleDay: ({ first, count }) => withRange(first, first + count - 1, toggleAll),
  });
  const keys = usePhotoKeys({
    layout,
    height,
    cursor,
    anchor,
    selected,
    photoAt,
    goTo,
    onToggle: events.onToggle,
    addRange,
    clear,
  });
  const onClear = () => {
    clear();
    // The button that cleared the selection is gone, so the focus returns to the cursor.
    focus();
  };
  return { selected, cursor, events, keys, preview: preview.preview, onClear };
}

interface GridEvents extends TileEvents {
  readonly onToggleDay: (section: Section) => void;
}

/** Stable handlers that call the latest ones, so that a tile is rendered again only if its own props change. */
function useStableEvents(current: GridEvents): GridEvents {
  const latest = useRef(current);
  latest.current = current;
  return useMemo<GridEvents>(
    () => ({
      onOpen: (index) => latest.current.onOpen(index),
      onToggle: (index: number, photo: PhotoRecord, isRange: boolean) => latest.current.onToggle(index, photo, isRange),
      onFocus: (index) => latest.current.onFocus(index),
      onToggleDay: (section) => latest.current.onToggleDay(section),
    }),
    [],
  );
}
