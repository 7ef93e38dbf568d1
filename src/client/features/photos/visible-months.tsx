import { CircleCheck } from "lucide-react";
import { memo, useMemo } from "react";
import { cx } from "../../ui/cx.ts";
import { formatDay, formatMonth, formatShortDay } from "../../entries/justified/dates.ts";
import { DAY_HEIGHT, MONTH_HEIGHT } from "../../entries/justified/layout.ts";
import { blockOf } from "../../entries/justified/positions.ts";
import { Tiles, type TilesContext } from "../../entries/justified/tiles.tsx";
import type { DayBox, Layout, GridBlock } from "../../entries/justified/types.ts";
import type { PhotoRange } from "../../entries/justified/use-viewport.ts";
import type { PhotoRecord } from "./api.ts";
import { text } from "./text.ts";
import type { SelectedPhotos } from "./use-photo-selection.ts";

/** The months in view, and the month of the photo at the cursor. */
export function VisibleMonths({
  layout,
  range,
  ...context
}: MonthContext & { readonly layout: Layout; readonly range: PhotoRange }) {
  const { cursor } = context;
  const blocks = useMemo(() => {
    const inView = layout.blocks.filter(({ start, count }) => start < range.end && start + count > range.first);
    const current = blockOf(layout, cursor);
    return current === undefined || inView.includes(current) ? inView : [...inView, current];
  }, [layout, range, cursor]);
  return blocks.map((block) => <Month key={block.month} block={block} range={range} {...context} />);
}

interface MonthContext extends TilesContext {
  readonly selected: SelectedPhotos;
  readonly photos: ReadonlyMap<string, readonly PhotoRecord[]>;
  readonly onToggleDay: (first: number, count: number) => void;
}

function Month({ block, range, ...context }: MonthContext & { readonly block: GridBlock; readonly range: PhotoRange }) {
  const month = formatMonth(block.month);
  const first = range.first - block.start;
  const end = range.end - block.start;
  const cursor = context.cursor - block.start;
  const days = block.days.filter((day) => {
    const after = day.first + day.count;
    return (day.first < end && after > first) || (day.first <= cursor && cursor < after);
  });
  return (
    <section aria-label={month} className="absolute inset-x-0" style={{ top: block.offset, height: block.height }}>
      <h2
        className="sticky top-0 z-[5] flex items-center bg-raised text-base font-semibold"
        style={{ height: MONTH_HEIGHT }}
      >
        {/* Many languages write months in lower case, but not at the beginning of a heading. */}
        <span className="inline-block first-letter:uppercase">{month}</span>
      </h2>
      {days.map((day) => (
        <Day
          key={day.date}
          block={block}
          day={day}
          first={Math.max(day.first, first)}
          end={Math.min(day.first + day.count, end)}
          {...context}
          cursor={cursor >= day.first && cursor < day.first + day.count ? context.cursor : -1}
          dayPhotos={context.photos.get(day.date)}
        />
      ))}
    </section>
  );
}

const Day = memo(
  function Day({
    block,
    day,
    first,
    end,
    dayPhotos,
    onToggleDay,
    ...context
  }: MonthContext & {
    readonly block: GridBlock;
    readonly day: DayBox;
    readonly first: number;
    readonly end: number;
    readonly dayPhotos: readonly PhotoRecord[] | undefined;
  }) {
    const { selected, cursor } = context;
    const indexes = Array.from({ length: Math.max(0, end - first) }, (_, at) => block.start + first + at);
    if (cursor >= 0 && !indexes.includes(cursor)) indexes.push(cursor);
    const isWhole = dayPhotos !== undefined && dayPhotos.length > 0 && dayPhotos.every(({ id }) => selected.has(id));
    return (
      <>
        <div
          className="group absolute flex items-center gap-1"
          style={{ insetInlineStart: day.left, top: day.top, width: day.width, height: DAY_HEIGHT }}
        >
          <h3 aria-label={formatDay(day.date)} className="truncate text-sm text-muted first-letter:uppercase">
            {formatShortDay(day.date)}
          </h3>
          <button
            type="button"
            aria-label={text.selectDay({ day: formatDay(day.date) })}
            aria-pressed={isWhole}
            onClick={() => onToggleDay(block.start + day.first, day.count)}
            className={cx(
              "inline-flex size-8 shrink-0 items-center justify-center rounded-full text-muted hover:text-accent",
              "aria-pressed:text-accent",
              selected.size === 0 &&
                "opacity-0 group-hover:opacity-100 focus-visible:opacity-100 pointer-coarse:opacity-100",
            )}
          >
            <CircleCheck aria-hidden size={18} />
          </button>
        </div>
        <Tiles block={block} indexes={indexes} context={context} />
      </>
    );
  },
  // Not compared: `photos` and functions, which change with each chunk that is loaded for other days.
  (before, after) =>
    before.block === after.block &&
    before.day === after.day &&
    before.first === after.first &&
    before.end === after.end &&
    before.cursor === after.cursor &&
    before.selected === after.selected &&
    before.dayPhotos === after.dayPhotos,
);
