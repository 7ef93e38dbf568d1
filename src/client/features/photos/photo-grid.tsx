import { type KeyboardEvent, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { messageOf } from "../../api/http.ts";
import { useShortcuts } from "../../base/shortcuts.ts";
import { toast } from "../../ui/toast.tsx";
import type { PhotoRecord } from "./api.ts";
import { layoutOf, offsetOf, rowsFrom, type Section, sectionOf } from "./layout.ts";
import { PhotoActions } from "./photo-actions.tsx";
import type { TileEvents } from "./photo-tile.tsx";
import { TimelineSlider } from "./timeline-slider.tsx";
import { text } from "./text.ts";
import { usePhotoPreview } from "./use-photo-preview.tsx";
import { usePhotoSelection } from "./use-photo-selection.ts";
import { useSize, useViewport } from "./use-viewport.ts";
import { dayOf, type PhotoLibrary } from "./use-photo-library.ts";
import { VisibleDays } from "./visible-days.tsx";

/** Space that stays visible above and below the photo at the cursor. */
const MARGIN = 56;

/** The grid of photos, the timeline next to it, and the actions on the selection. */
export function PhotoGrid({
  wall,
  onSeen: onVisibleDays,
}: {
  readonly wall: PhotoLibrary;
  /** Called with the range of days whose photos are visible. */
  readonly onSeen: (days: { newest: string; oldest: string } | undefined) => void;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const { width } = useSize(content);
  const { height } = useSize(scroller);
  const layout = useMemo(() => layoutOf(wall.days, Math.max(width, 1)), [wall.days, width]);
  const { range, seen: visibleDays, look: updateView } = useViewport(scroller, layout, height);
  useEffect(() => onVisibleDays(visibleDays), [onVisibleDays, visibleDays]);
  const { selected, toggle, toggleAll, add, clear } = usePhotoSelection();
  const [cursor, setCursor] = useState(0);
  const anchor = useRef(0);
  const wantsFocus = useRef(false);

  const goTo = useCallback(
    (index: number) => {
      const target = Math.min(layout.total - 1, Math.max(0, index));
      wantsFocus.current = true;
      setCursor(target);
      const element = scroller.current;
      if (element === null) return;
      const { y } = offsetOf(layout, target);
      if (y - MARGIN < element.scrollTop) element.scrollTop = y - MARGIN;
      else if (y + layout.side + MARGIN > element.scrollTop + element.clientHeight) {
        element.scrollTop = y + layout.side + MARGIN - element.clientHeight;
      }
    },
    [layout],
  );
  useLayoutEffect(() => {
    if (!wantsFocus.current) return;
    const tile = scroller.current?.querySelector<HTMLElement>(`[data-photo="${cursor}"]`);
    if (tile === undefined || tile === null) return;
    wantsFocus.current = false;
    tile.focus({ preventScroll: true });
  });

  /** The button that cleared the selection is gone, so the focus returns to the cursor. */
  const focusCursor = () =>
    scroller.current?.querySelector<HTMLElement>(`[data-photo="${cursor}"]`)?.focus({ preventScroll: true });

  /**
   * The photos of a range, loading those that are missing.
   * @throws ApiError, OfflineError
   */
  const photosFrom = async (one: number, other: number): Promise<PhotoRecord[]> => {
    const [from, to] = one < other ? [one, other] : [other, one];
    const sections = layout.sections.slice(sectionOf(layout, from), sectionOf(layout, to) + 1);
    const chunks = new Set(sections.flatMap(({ date }) => wall.chunkOf(date) ?? []));
    const loaded = await Promise.all([...chunks].map((chunk) => wall.load(chunk)));
    const byDay = Map.groupBy(loaded.flat(), dayOf);
    return sections.flatMap(({ date, first }) =>
      (byDay.get(date) ?? []).filter((_, at) => first + at >= from && first + at <= to),
    );
  };
  const addRange = (to: number) => {
    photosFrom(anchor.current, to).then(add, (error: unknown) => toast({ text: messageOf(error), tone: "danger" }));
  };
  const indexOf = (photo: PhotoRecord): number | undefined => {
    const section = layout.sections.find(({ date }) => date === dayOf(photo));
    const at = wall.photos.get(dayOf(photo))?.findIndex(({ id }) => id === photo.id) ?? -1;
    return section === undefined || at < 0 ? undefined : section.first + at;
  };
  const preview = usePhotoPreview(wall, (photo) => {
    const index = indexOf(photo) ?? cursor;
    // After the preview has returned the focus to the photo it was opened from.
    requestAnimationFrame(() => requestAnimationFrame(() => goTo(index)));
  });
  const photoAt = (index: number): PhotoRecord | undefined => {
    const section = layout.sections[sectionOf(layout, index)];
    return section === undefined ? undefined : wall.photos.get(section.date)?.[index - section.first];
  };

  // Stable handlers that read the current state, so that a tile is rendered again only if its own props change.
  const handle = useRef<TileEvents | undefined>(undefined);
  handle.current = {
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
  };
  const events = useMemo<TileEvents>(
    () => ({
      onOpen: (index) => handle.current?.onOpen(index),
      onToggle: (index, photo, isRange) => handle.current?.onToggle(index, photo, isRange),
      onFocus: (index) => handle.current?.onFocus(index),
    }),
    [],
  );
  const dayHandle = useRef<((section: Section) => void) | undefined>(undefined);
  dayHandle.current = ({ first, count }) => {
    photosFrom(first, first + count - 1).then(toggleAll, (error: unknown) =>
      toast({ text: messageOf(error), tone: "danger" }),
    );
  };
  const onToggleDay = useCallback((section: Section) => dayHandle.current?.(section), []);

  const onKeyDown = (event: KeyboardEvent) => {
    if (!(event.target instanceof HTMLElement) || event.target.dataset["photo"] === undefined) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " ") {
      event.preventDefault();
      const photo = photoAt(cursor);
      if (photo !== undefined) events.onToggle(cursor, photo, event.shiftKey);
      return;
    }
    const target = targetOf(event.key);
    if (target === undefined) return;
    event.preventDefault();
    const to = Math.min(layout.total - 1, Math.max(0, target));
    if (event.shiftKey) {
      if (selected.size === 0) anchor.current = cursor;
      addRange(to);
    } else if (selected.size === 0) anchor.current = to;
    goTo(to);
  };
  const targetOf = (key: string): number | undefined => {
    const isMirrored = document.documentElement.dir === "rtl";
    const forward = isMirrored ? -1 : 1;
    const page = Math.max(1, Math.floor(height / layout.step)) * layout.columns;
    const targets: Readonly<Record<string, number>> = {
      ArrowRight: cursor + forward,
      ArrowLeft: cursor - forward,
      ArrowDown: rowsFrom(layout, cursor, 1),
      ArrowUp: rowsFrom(layout, cursor, -1),
      PageDown: cursor + page,
      PageUp: cursor - page,
      Home: 0,
      End: layout.total - 1,
    };
    return targets[key];
  };
  const listed = { run: () => undefined, listedOnly: true } as const;
  useShortcuts(text.shortcuts, [
    { keys: "arrowright", label: text.keyMove, ...listed },
    { keys: "enter", label: text.keyOpen, ...listed },
    { keys: "space", label: text.keySelect, ...listed },
    { keys: "shift+arrowright", label: text.keyRange, ...listed },
    { keys: "escape", label: text.clear, run: clear, when: () => selected.size > 0 },
  ]);

  return (
    <>
      <PhotoActions
        wall={wall}
        selected={selected}
        onClear={() => {
          clear();
          focusCursor();
        }}
      />
      <div className="relative -me-4 min-h-0 flex-1 sm:-me-6">
        <div
          ref={scroller}
          role="region"
          aria-label={text.wall}
          onScroll={updateView}
          onKeyDown={onKeyDown}
          onKeyUp={(event) => {
            // A button would treat releasing the space bar as a press.
            const isPhoto = event.target instanceof HTMLElement && event.target.dataset["photo"] !== undefined;
            if (event.key === " " && isPhoto) event.preventDefault();
          }}
          className="size-full overflow-x-hidden overflow-y-auto overscroll-contain pe-11 [scrollbar-width:none]"
        >
          <div ref={content} className="relative" style={{ height: layout.height }}>
            {width > 0 && (
              <VisibleDays
                layout={layout}
                range={range}
                photos={wall.photos}
                selected={selected}
                cursor={Math.min(cursor, Math.max(0, layout.total - 1))}
                events={events}
                onToggleDay={onToggleDay}
              />
            )}
          </div>
        </div>
        {height > 0 && layout.height > height && (
          <TimelineSlider layout={layout} scroller={scroller} viewHeight={height} />
        )}
      </div>
      {preview.preview}
    </>
  );
}
