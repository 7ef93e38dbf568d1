import { type RefObject, useEffect, useImperativeHandle, useMemo, useRef } from "react";
import { cx } from "../../ui/cx.ts";
import { useSize } from "../../ui/use-size.ts";
import { layoutList, rowHeightFor } from "./layout.ts";
import { DraggedItem, DragLabel, DropLine } from "./reorder-marks.tsx";
import { Tiles } from "./tiles.tsx";
import type { GridItem, SelectedIds } from "./types.ts";
import { useInteraction } from "./use-interaction.ts";
import { type ReorderOptions, useReorder } from "./use-reorder.ts";
import { type PhotoRange, useViewport } from "./use-viewport.ts";

/** What a page can do with a grid. */
export interface JustifiedGridHandle {
  /** Scrolls to an item and focuses it, for example after its preview is closed. */
  goTo(index: number): void;
}

/** Props of {@link JustifiedGrid}. */
interface JustifiedGridProps<T extends GridItem> {
  /** The accessible name of the grid. */
  readonly label: string;
  /** The shapes of all items in display order, as in `ShapedDay`. */
  readonly aspects: readonly number[];
  /** The item at an index; undefined until it is loaded. */
  itemAt(index: number): T | undefined;
  readonly selected: SelectedIds;
  readonly onOpen: (item: T, index: number) => void;
  readonly onToggle: (item: T) => void;
  /** Adds the items between two indexes, both included, to the selection: a range that was selected with Shift. */
  readonly onAddRange: (one: number, other: number) => void;
  readonly onClear: () => void;
  /** Called with the range of visible and nearly visible items. Must be the same function in each render. */
  readonly onNeeded: (range: PhotoRange) => void;
  /** How items are dragged to another position; undefined if they can't be dragged. */
  readonly reorder?: ReorderOptions | undefined;
  readonly handle?: RefObject<JustifiedGridHandle | null>;
}

/**
 * A grid of photos and videos with their own shapes, in rows of equal width. Fills its parent and scrolls. Renders only
 * the visible items. Arrow keys move, Shift and Space select, Enter opens.
 */
export function JustifiedGrid<T extends GridItem>(props: JustifiedGridProps<T>) {
  const { label, aspects, itemAt, selected, onOpen, onToggle, onAddRange, onClear, onNeeded, handle } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const { width } = useSize(content);
  const { height } = useSize(scroller);
  const layout = useMemo(
    () => layoutList(aspects, { width: Math.max(width, 1), rowHeight: rowHeightFor(width, "medium") }),
    [aspects, width],
  );
  const { range, neededRange, scrolledAt, onScroll } = useViewport(scroller, layout, height);
  const { cursor, goTo, events, keys } = useInteraction({
    scroller,
    layout,
    height,
    itemAt,
    selected,
    onOpen,
    onToggle,
    onAddRange,
    onClear,
  });
  const { drag, onPointerDown } = useReorder({ scroller, content, layout, reorder: props.reorder });
  useImperativeHandle(handle, () => ({ goTo }), [goTo]);
  useEffect(() => {
    if (neededRange.end > 0) onNeeded(neededRange);
  }, [neededRange, onNeeded]);
  const [block] = layout.blocks;
  const indexes = Array.from({ length: range.end - range.first }, (_, at) => range.first + at);
  if (block !== undefined && !indexes.includes(cursor)) indexes.push(cursor);
  return (
    <div
      ref={scroller}
      role="region"
      aria-label={label}
      onScroll={onScroll}
      onPointerDown={onPointerDown}
      {...keys}
      className={cx(
        "size-full overflow-x-hidden overflow-y-auto overscroll-contain [overflow-anchor:none]",
        drag !== undefined && "select-none [&_*]:cursor-grabbing",
      )}
    >
      <div ref={content} className="relative" style={{ height: layout.height }}>
        {width > 0 && block !== undefined && (
          <Tiles block={block} indexes={indexes} context={{ itemAt, selected, cursor, events, scrolledAt }} />
        )}
        {drag !== undefined &&
          indexes
            .filter((index) => props.reorder?.moves(index, drag.dragged) === true)
            .map((index) => <DraggedItem key={index} layout={layout} index={index} />)}
        {drag !== undefined && <DropLine layout={layout} drop={drag.drop} />}
      </div>
      {drag !== undefined && <DragLabel drag={drag} />}
    </div>
  );
}
