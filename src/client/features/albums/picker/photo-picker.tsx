import { useQueries, useQueryClient } from "@tanstack/react-query";
import { useMemo, useRef } from "react";
import { Checkbox } from "../../../ui/checkbox.tsx";
import { useSize } from "../../../ui/use-size.ts";
import { formatMonth } from "../../../entries/justified/dates.ts";
import { blockOf } from "../../../entries/justified/positions.ts";
import type { GridBlock } from "../../../entries/justified/types.ts";
import { useInteraction } from "../../../entries/justified/use-interaction.ts";
import { type PhotoRange, useViewport } from "../../../entries/justified/use-viewport.ts";
import { showError } from "../../../ui/toast.tsx";
import { text } from "../text.ts";
import { type LibraryPhoto, monthQuery } from "./api.ts";
import { HEADING_HEIGHT, layoutSquares, type MonthCount } from "./layout.ts";
import { PhotoTile } from "./photo-tile.tsx";

/** The chosen photos by their id. */
export type ChosenPhotos = ReadonlyMap<string, LibraryPhoto>;

/** Props of {@link PhotoPicker}. */
interface PhotoPickerProps {
  readonly months: readonly MonthCount[];
  /** The ids of the photos that are in the album already. */
  readonly contained: ReadonlySet<string>;
  readonly chosen: ChosenPhotos;
  readonly onChange: (change: (before: ChosenPhotos) => ChosenPhotos) => void;
}

/**
 * All photos of the library by month, to choose some. Only the visible ones are rendered, and only visible months are
 * loaded. Arrow keys move, Space chooses, Shift chooses a range.
 */
export function PhotoPicker(props: PhotoPickerProps) {
  const { contained, chosen, onChange } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const { width } = useSize(content);
  const { height } = useSize(scroller);
  const layout = useMemo(() => layoutSquares(props.months, Math.max(width, 1)), [props.months, width]);
  const { range, neededRange, onScroll } = useViewport(scroller, layout, height);
  const { photos, load } = useMonths(layout.blocks, neededRange);
  const itemAt = (index: number) => {
    const block = blockOf(layout, index);
    return block === undefined ? undefined : photos.get(block.month)?.[index - block.start];
  };
  const add = (added: readonly LibraryPhoto[]) => {
    const fresh = added.filter(({ id }) => !contained.has(id));
    onChange((before) => new Map([...before, ...fresh.map((photo) => [photo.id, photo] as const)]));
  };
  const remove = (removed: readonly LibraryPhoto[]) => {
    const ids = new Set(removed.map(({ id }) => id));
    onChange((before) => new Map([...before].filter(([id]) => !ids.has(id))));
  };
  const toggle = (photo: LibraryPhoto) => (chosen.has(photo.id) ? remove([photo]) : add([photo]));
  const { cursor, events, keys } = useInteraction({
    scroller,
    layout,
    height,
    itemAt,
    selected: chosen,
    onOpen: toggle,
    onToggle: toggle,
    onAddRange: (one, other) => void load(Math.min(one, other), Math.max(one, other) + 1).then(add, showError),
    onClear: () => onChange(() => new Map()),
  });
  const current = blockOf(layout, cursor);
  const blocks = layout.blocks.filter(
    (block) => block === current || (block.start < range.end && block.start + block.count > range.first),
  );
  return (
    <div
      ref={scroller}
      role="group"
      aria-label={text.library}
      onScroll={onScroll}
      {...keys}
      className="size-full overflow-x-hidden overflow-y-auto overscroll-contain [overflow-anchor:none]"
    >
      <div ref={content} className="relative" style={{ height: layout.height }}>
        {width > 0 &&
          blocks.map((block) => (
            <Month
              key={block.month}
              block={block}
              range={range}
              cursor={cursor}
              photos={photos.get(block.month)}
              chosen={chosen}
              contained={contained}
              onToggle={events.onToggle}
              onFocus={events.onFocus}
              onToggleAll={(isAdding) =>
                void load(block.start, block.start + block.count).then(isAdding ? add : remove, showError)
              }
            />
          ))}
      </div>
    </div>
  );
}

/** The photos of the months in view, and a function that loads those of a range. */
function useMonths(blocks: readonly GridBlock[], { first, end }: PhotoRange) {
  const queryClient = useQueryClient();
  const between = (from: number, to: number) => blocks.filter(({ start, count }) => start < to && start + count > from);
  const visible = between(first, end);
  const photos = useQueries({
    queries: visible.map(monthQuery),
    combine: (results) => new Map(visible.map(({ month }, at) => [month, results[at]?.data] as const)),
  });
  /** @throws ApiError, OfflineError */
  const load = async (from: number, to: number): Promise<LibraryPhoto[]> => {
    const needed = between(from, to);
    const loaded = await Promise.all(needed.map((block) => queryClient.fetchQuery(monthQuery(block))));
    return needed.flatMap(({ start }, at) =>
      (loaded[at] ?? []).filter((_, index) => start + index >= from && start + index < to),
    );
  };
  return { photos, load };
}

function Month({
  block,
  range,
  cursor,
  photos,
  chosen,
  contained,
  onToggle,
  onFocus,
  onToggleAll,
}: {
  readonly block: GridBlock;
  readonly range: PhotoRange;
  readonly cursor: number;
  readonly photos: readonly LibraryPhoto[] | undefined;
  readonly chosen: ChosenPhotos;
  readonly contained: ReadonlySet<string>;
  readonly onToggle: (index: number, isRange: boolean) => void;
  readonly onFocus: (index: number) => void;
  readonly onToggleAll: (isAdding: boolean) => void;
}) {
  const month = formatMonth(block.month);
  const first = Math.max(block.start, range.first);
  const end = Math.min(block.start + block.count, range.end);
  const indexes = Array.from({ length: Math.max(0, end - first) }, (_, at) => first + at);
  const hasCursor = cursor >= block.start && cursor < block.start + block.count;
  if (hasCursor && !indexes.includes(cursor)) indexes.push(cursor);
  const isWhole =
    photos !== undefined && photos.length > 0 && photos.every(({ id }) => chosen.has(id) || contained.has(id));
  const columns = block.rows[0]?.end ?? 1;
  return (
    <section aria-label={month} className="absolute inset-x-0" style={{ top: block.offset, height: block.height }}>
      <div
        className="sticky top-0 z-[5] flex items-center justify-between gap-2 bg-raised"
        style={{ height: HEADING_HEIGHT }}
      >
        <h3 className="text-sm font-semibold first-letter:uppercase">{month}</h3>
        <Checkbox
          label={text.selectAll}
          aria-label={text.selectMonth({ month })}
          checked={isWhole}
          onChange={onToggleAll}
        />
      </div>
      {indexes.map((index) => {
        const at = index - block.start;
        const photo = photos?.[at];
        return (
          <PhotoTile
            key={index}
            photo={photo}
            index={index}
            left={block.lefts[at] ?? 0}
            top={block.rows[Math.floor(at / columns)]?.top ?? 0}
            side={block.widths[at] ?? 0}
            isSelected={photo !== undefined && chosen.has(photo.id)}
            isContained={photo !== undefined && contained.has(photo.id)}
            isCurrent={index === cursor}
            onToggle={onToggle}
            onFocus={onFocus}
          />
        );
      })}
    </section>
  );
}
