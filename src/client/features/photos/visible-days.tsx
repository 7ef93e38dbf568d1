import { CircleCheck } from "lucide-react";
import { memo, useMemo } from "react";
import { cx } from "../../ui/cx.ts";
import type { PhotoRecord } from "./api.ts";
import { formatDay } from "./dates.ts";
import { HEADING_HEIGHT, type Layout, type Section, sectionOf } from "./layout.ts";
import { PhotoTile, type TileEvents } from "./photo-tile.tsx";
import { text } from "./text.ts";
import type { SelectedPhotos } from "./use-photo-selection.ts";

/** The days in view, and the day of the photo at the cursor. */
export function VisibleDays({
  layout,
  range,
  photos,
  selected,
  cursor,
  events,
  onToggleDay,
}: {
  readonly layout: Layout;
  /** The photos in view: the first, and the one after the last. */
  readonly range: { readonly first: number; readonly end: number };
  readonly photos: ReadonlyMap<string, readonly PhotoRecord[]>;
  readonly selected: SelectedPhotos;
  readonly cursor: number;
  readonly events: TileEvents;
  readonly onToggleDay: (section: Section) => void;
}) {
  const sections = useMemo(() => {
    const [from, to] = [sectionOf(layout, range.first), sectionOf(layout, Math.max(range.first, range.end - 1))];
    const indexes = new Set([sectionOf(layout, cursor)]);
    for (let index = from; index <= to; index++) indexes.add(index);
    return [...indexes].sort((a, b) => a - b).flatMap((index) => layout.sections[index] ?? []);
  }, [layout, range, cursor]);
  return sections.map((section) => (
    <Day
      key={section.date}
      section={section}
      layout={layout}
      first={Math.max(section.first, range.first)}
      end={Math.min(section.first + section.count, range.end)}
      photos={photos.get(section.date)}
      selected={selected}
      cursor={cursor >= section.first && cursor < section.first + section.count ? cursor : undefined}
      events={events}
      onToggleDay={onToggleDay}
    />
  ));
}

const Day = memo(function Day({
  section,
  layout,
  first,
  end,
  photos,
  selected,
  cursor,
  events,
  onToggleDay,
}: {
  readonly section: Section;
  readonly layout: Layout;
  readonly first: number;
  readonly end: number;
  readonly photos: readonly PhotoRecord[] | undefined;
  readonly selected: SelectedPhotos;
  readonly cursor: number | undefined;
  readonly events: TileEvents;
  readonly onToggleDay: (section: Section) => void;
}) {
  const { columns, step, side } = layout;
  const day = formatDay(section.date);
  const indexes = Array.from({ length: Math.max(0, end - first) }, (_, at) => first + at);
  if (cursor !== undefined && !indexes.includes(cursor)) indexes.push(cursor);
  const isWhole = photos !== undefined && photos.length > 0 && photos.every(({ id }) => selected.has(id));
  return (
    <section aria-label={day} className="absolute inset-x-0" style={{ top: section.top, height: section.height }}>
      <div className="group flex items-center gap-1" style={{ height: HEADING_HEIGHT }}>
        <h2 className="truncate text-sm font-semibold">{day}</h2>
        <button
          type="button"
          aria-label={text.selectDay(day)}
          aria-pressed={isWhole}
          onClick={() => onToggleDay(section)}
          className={cx(
            "control inline-flex aspect-square items-center justify-center rounded-full text-muted hover:text-accent",
            "aria-pressed:text-accent",
            selected.size === 0 &&
              "opacity-0 group-hover:opacity-100 focus-visible:opacity-100 pointer-coarse:opacity-100",
          )}
        >
          <CircleCheck aria-hidden size={20} />
        </button>
      </div>
      {indexes.map((index) => {
        const at = index - section.first;
        const photo = photos?.[at];
        return (
          <PhotoTile
            key={index}
            photo={photo}
            index={index}
            x={(at % columns) * step}
            y={HEADING_HEIGHT + Math.floor(at / columns) * step}
            side={side}
            isSelected={photo !== undefined && selected.has(photo.id)}
            isSelecting={selected.size > 0}
            isCurrent={index === cursor}
            events={events}
          />
        );
      })}
    </section>
  );
});
