import { type RefObject, useEffect, useImperativeHandle, useMemo, useRef } from "react";
import { useSize } from "../../ui/use-size.ts";
import { aspectOf, layoutList, rowHeightFor } from "./layout.ts";
import { Tiles } from "./tiles.tsx";
import type { GridItem, SelectedIds } from "./types.ts";
import { useInteraction } from "./use-interaction.ts";
import { useViewport } from "./use-viewport.ts";

/** What a page can do with a grid. */
export interface JustifiedGridHandle {
  /** Scrolls to an item and focuses it, such as after its preview was closed. */
  goTo(index: number): void;
}

/** Props of {@link JustifiedGrid}. */
interface JustifiedGridProps<T extends GridItem> {
  /** The accessible name of the grid. */
  readonly label: string;
  /** In the order in which they are shown. */
  readonly items: readonly T[];
  readonly selected: SelectedIds;
  readonly onOpen: (item: T, index: number) => void;
  readonly onToggle: (item: T) => void;
  /** Adds items to the selection: a range that was selected with Shift. */
  readonly onAdd: (items: readonly T[]) => void;
  readonly onClear: () => void;
  /** Called when the end is near: loads further items. */
  readonly onNearEnd?: () => void;
  readonly handle?: RefObject<JustifiedGridHandle | null>;
}

const NEAR_END_ITEMS = 60;

/**
 * A list of photos and videos in rows of equal width, which keep their shapes. Fills its parent and scrolls; only
 * visible items are rendered. Arrow keys move, Shift and Space select, Enter opens.
 */
export function JustifiedGrid<T extends GridItem>(props: JustifiedGridProps<T>) {
  const { label, items, selected, onOpen, onToggle, onAdd, onClear, onNearEnd, handle } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const { width } = useSize(content);
  const { height } = useSize(scroller);
  const layout = useMemo(() => {
    const aspects = items.map(aspectOf);
    return layoutList(aspects, { width: Math.max(width, 1), rowHeight: rowHeightFor(width, "medium") });
  }, [items, width]);
  const { range, scrolledAt, onScroll } = useViewport(scroller, layout, height);
  const itemAt = (index: number): T | undefined => items[index];
  const { cursor, goTo, events, keys } = useInteraction({
    scroller,
    layout,
    height,
    itemAt,
    selected,
    onOpen,
    onToggle,
    onAddRange: (one, other) => onAdd(items.slice(Math.min(one, other), Math.max(one, other) + 1)),
    onClear,
  });
  useImperativeHandle(handle, () => ({ goTo }), [goTo]);
  const isNearEnd = range.end >= items.length - NEAR_END_ITEMS;
  useEffect(() => {
    if (isNearEnd) onNearEnd?.();
  }, [isNearEnd, onNearEnd, items.length]);
  const [block] = layout.blocks;
  const indexes = Array.from({ length: range.end - range.first }, (_, at) => range.first + at);
  if (block !== undefined && !indexes.includes(cursor)) indexes.push(cursor);
  return (
    <div
      ref={scroller}
      role="region"
      aria-label={label}
      onScroll={onScroll}
      {...keys}
      className="size-full overflow-x-hidden overflow-y-auto overscroll-contain [overflow-anchor:none]"
    >
      <div ref={content} className="relative" style={{ height: layout.height }}>
        {width > 0 && block !== undefined && (
          <Tiles block={block} indexes={indexes} context={{ itemAt, selected, cursor, events, scrolledAt }} />
        )}
      </div>
    </div>
  );
}
