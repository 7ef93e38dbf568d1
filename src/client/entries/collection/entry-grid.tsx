import { type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import type { Entry } from "../../api/types.ts";
import { cx } from "../../ui/cx.ts";
import { type GridLook, type GridSort, NARROW_BELOW } from "./grid-types.ts";
import { HEADER_HEIGHT, ListHeader } from "./list-header.tsx";
import { ListRow } from "./list-row.tsx";
import { Tile } from "./tile.tsx";
import { layTiles, ROW_HEIGHT, TILE_GAP } from "./tile-layout.ts";
import type { Collection } from "./use-collection.ts";
import { type DragRules, useEntryDrag } from "./use-entry-drag.ts";
import { useGridKeys } from "./use-grid-keys.ts";
import { positionOf, useGridPointer } from "./use-grid-pointer.ts";
import { useRubberBand } from "./use-rubber-band.ts";

/** Where a list was scrolled to, saved for when it is shown again. */
export interface ScrollMemory {
  readonly offset: number;
}

/** Props of {@link EntryGrid}. */
export interface EntryGridProps<T extends Entry> {
  readonly collection: Collection<T>;
  /** The name of the list for screen readers. */
  readonly label: string;
  readonly look: GridLook<T>;
  readonly sort?: GridSort | undefined;
  onOpen(entry: T, position: number): void;
  readonly drag?: DragRules<T> | undefined;
  /** The scroll position when the list was last shown. */
  readonly startOffset?: number;
  onScrolled?(offset: number): void;
  /** Focuses the cursor once there are entries: the person came from another list by keyboard or press. */
  readonly takesFocus?: boolean;
  /** Shown below the last entry. */
  readonly children?: ReactNode;
}

/** Space at the sides, where a selection rectangle can be started, and below the last entry for floating elements. */
const EDGE_SPACE = 12;
const SPACE_BELOW = 88;
const MENU_TRACK = "2.75rem";

/**
 * A list or a grid of tiles of any length: only visible rows are rendered and loaded. It is one tab stop; arrow keys
 * move inside (ARIA grid).
 */
export function EntryGrid<T extends Entry>(props: EntryGridProps<T>) {
  const { collection, label, look, sort, onOpen, drag, startOffset = 0, takesFocus = false } = props;
  const { pages, cursor } = collection;
  const total = pages.total ?? 0;
  const scroller = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const outerWidth = useWidth(scroller);
  const edge = outerWidth < NARROW_BELOW ? 0 : EDGE_SPACE;
  const width = outerWidth - 2 * edge;
  const isTiles = look.layout === "tiles";
  const isNarrow = width < NARROW_BELOW;

  const tiles = layTiles(Math.max(width, 240), look.density);
  const columns = isTiles ? tiles.columns : 1;
  const rowHeight = isTiles ? tiles.rowHeight : isNarrow ? 60 : ROW_HEIGHT[look.density];
  const above = isTiles ? EDGE_SPACE : HEADER_HEIGHT;
  const rows = Math.ceil(total / columns);
  const cursorRow = Math.floor(cursor / columns);

  const focusedRow = useRef(cursorRow);
  const virtualizer = useVirtualizer({
    count: rows,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 6,
    initialOffset: startOffset,
    // Until the list is measured. Rendered with no height, it would be rendered twice.
    initialRect: { width: window.innerWidth, height: window.innerHeight },
    scrollMargin: above,
    scrollPaddingStart: isTiles ? 0 : HEADER_HEIGHT,
    scrollPaddingEnd: SPACE_BELOW,
    useFlushSync: false,
    // The row of the cursor always stays rendered, and so does the previous one until the focus has moved. Otherwise
    // keys that are pressed faster than the list scrolls would lose the focus with the row it was in.
    rangeExtractor: (range) => {
      const pinned = rows === 0 ? [] : [cursorRow, focusedRow.current].map((row) => Math.min(row, rows - 1));
      return [...new Set([...defaultRangeExtractor(range), ...pinned])].sort((one, other) => one - other);
    },
  });
  useLayoutEffect(() => virtualizer.measure(), [virtualizer, rowHeight]);

  const { startIndex = 0, endIndex = 0 } = virtualizer.range ?? {};
  const { setVisibleSpan } = pages;
  useEffect(
    () => setVisibleSpan({ first: startIndex * columns, last: (endIndex + 1) * columns - 1 }),
    [setVisibleSpan, startIndex, endIndex, columns],
  );

  useFollowedCursor(scroller, cursor, cursorRow, takesFocus && total > 0, (row) => virtualizer.scrollToIndex(row));
  const rowFocus = useFocusOfRemovedRows(scroller, cursor, look.renaming !== undefined);
  useLayoutEffect(() => {
    focusedRow.current = cursorRow;
  }, [cursorRow]);

  const openMenuAt = (element: Element) => {
    const { left, bottom } = element.getBoundingClientRect();
    const at = { bubbles: true, cancelable: true, clientX: left, clientY: bottom };
    element.dispatchEvent(new window.MouseEvent("contextmenu", at));
  };
  const onKeyDown = useGridKeys({
    collection,
    columns,
    rowsInView: () => Math.floor(((scroller.current?.clientHeight ?? 0) - above) / rowHeight),
    onOpen,
    onMenu: () => {
      const element = elementAt(scroller.current, cursor);
      if (element !== null) openMenuAt(element);
    },
  });
  const pointer = useGridPointer(collection, { onOpen, openMenuAt });
  const band = useRubberBand(scroller, body, collection, { columns, rowHeight });
  const dragging = useEntryDrag(collection, drag);
  const isFinePointer = useMemo(() => window.matchMedia("(pointer: fine)").matches, []);

  const template = isNarrow
    ? `minmax(0,1fr) ${MENU_TRACK}`
    : `minmax(0,1fr) ${look.columns.map(({ track }) => track).join(" ")} ${MENU_TRACK}`;
  const viewOf = (position: number) => {
    const entry = pages.at(position);
    return {
      entry,
      position,
      look,
      isSelected: entry === undefined ? collection.selection.kind === "all" : collection.isSelected(entry.id),
      isSelecting: collection.count > 0,
      isCursor: position === cursor,
      isDropTarget: dragging.target === position,
      isDraggable: drag !== undefined && isFinePointer,
    };
  };

  return (
    <div
      ref={scroller}
      role="grid"
      aria-label={label}
      aria-multiselectable="true"
      aria-rowcount={isTiles ? rows : rows + 1}
      aria-colcount={isTiles ? columns : look.columns.length + 2}
      aria-busy={pages.total === undefined || collection.isLoadingSelection}
      className="relative min-h-0 flex-1 overflow-auto select-none [overflow-anchor:none]"
      onKeyDown={onKeyDown}
      onScroll={(event) => props.onScrolled?.(event.currentTarget.scrollTop)}
      onBlur={rowFocus.onBlur}
      onFocus={(event) => {
        rowFocus.onFocus();
        const position = positionOf(event.target);
        if (position !== undefined && position !== cursor) collection.point(position);
      }}
      onClick={pointer.onClick}
      onDoubleClick={pointer.onDoubleClick}
      onContextMenu={(event) => {
        const position = positionOf(event.target);
        const entry = position === undefined ? undefined : pages.at(position);
        if (position === undefined || entry === undefined || !pointer.wantsMenu()) {
          event.preventDefault();
          event.stopPropagation();
          return;
        }
        if (!collection.isSelected(entry.id)) collection.select(position, "only");
        else collection.point(position);
      }}
      // A long press selects, so the surrounding context menu must not open on it.
      onTouchStart={(event) => event.stopPropagation()}
      onPointerDown={(event) => {
        pointer.onPointerDown(event);
        band.handlers.onPointerDown(event);
      }}
      onPointerMove={(event) => {
        pointer.onPointerMove(event);
        band.handlers.onPointerMove(event);
      }}
      onPointerUp={() => {
        pointer.onPointerUp();
        band.handlers.onPointerUp();
      }}
      onPointerCancel={() => {
        pointer.onPointerCancel();
        band.handlers.onPointerCancel();
      }}
      {...dragging.handlers}
    >
      <div style={{ paddingInline: edge, paddingBottom: SPACE_BELOW }}>
        {isTiles ? (
          <div style={{ height: EDGE_SPACE }} />
        ) : (
          <ListHeader columns={look.columns} template={template} isNarrow={isNarrow} sort={sort} />
        )}
        <div
          ref={body}
          role="rowgroup"
          className="relative"
          style={{ height: Math.max(virtualizer.getTotalSize(), 1) }}
        >
          {virtualizer.getVirtualItems().map(({ index, start }) => {
            const top = start - above;
            if (!isTiles) {
              return (
                <ListRow
                  key={index}
                  {...viewOf(index)}
                  top={top}
                  height={rowHeight}
                  isNarrow={isNarrow}
                  template={template}
                />
              );
            }
            const first = index * columns;
            const columnIndexes = Array.from({ length: Math.min(columns, total - first) }, (_, column) => column);
            return (
              <div
                key={index}
                role="row"
                aria-rowindex={index + 1}
                className="absolute inset-x-0 top-0 grid"
                style={{
                  height: rowHeight,
                  transform: `translateY(${top}px)`,
                  gap: TILE_GAP,
                  paddingBottom: TILE_GAP,
                  gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))`,
                }}
              >
                {columnIndexes.map((column) => (
                  <Tile key={column} {...viewOf(first + column)} column={column} />
                ))}
              </div>
            );
          })}
          {band.box !== undefined && (
            <div
              aria-hidden="true"
              className={cx("pointer-events-none absolute z-10 border border-accent bg-accent/15")}
              style={{
                left: band.box.left,
                top: band.box.top,
                width: band.box.right - band.box.left,
                height: band.box.bottom - band.box.top,
              }}
            />
          )}
        </div>
      </div>
      {props.children}
    </div>
  );
}

/** The rendered element at a position. */
function elementAt(grid: HTMLElement | null, position: number): HTMLElement | null {
  return grid?.querySelector<HTMLElement>(`[data-position="${position}"]`) ?? null;
}

/** Moves the focus with the cursor and scrolls to it, while the focus is in the list. */
function useFollowedCursor(
  grid: { readonly current: HTMLElement | null },
  cursor: number,
  row: number,
  takesFocus: boolean,
  scrollTo: (row: number) => void,
): void {
  const isFirst = useRef(true);
  useLayoutEffect(() => {
    const list = grid.current;
    const wasFirst = isFirst.current;
    isFirst.current = false;
    if (list === null || wasFirst || !list.contains(document.activeElement)) return;
    if (document.activeElement instanceof HTMLInputElement) return;
    scrollTo(row);
    elementAt(list, cursor)?.focus({ preventScroll: true });
    // oxlint-disable-next-line react/exhaustive-deps -- only a cursor that moves takes the focus along
  }, [cursor, row]);
  useEffect(() => {
    if (takesFocus) elementAt(grid.current, cursor)?.focus({ preventScroll: true });
    // oxlint-disable-next-line react/exhaustive-deps -- once, when there is something to focus
  }, [takesFocus]);
}

/**
 * If others removed the entry of the focused row, the row of the cursor gets the focus. Otherwise the keyboard would
 * start at the top of the page again. A rename field restores its focus itself.
 */
function useFocusOfRemovedRows(grid: { readonly current: HTMLElement | null }, cursor: number, isRenaming: boolean) {
  const hasFocus = useRef(false);
  useLayoutEffect(() => {
    // Browsers fire no blur event when an element is removed.
    if (isRenaming || !hasFocus.current || document.activeElement !== document.body) return;
    elementAt(grid.current, cursor)?.focus({ preventScroll: true });
  });
  return {
    onFocus: () => {
      hasFocus.current = true;
    },
    onBlur: () => {
      hasFocus.current = false;
    },
  };
}

function useWidth(element: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(window.innerWidth);
  useLayoutEffect(() => {
    const observed = element.current;
    if (observed === null) return;
    setWidth(observed.clientWidth);
    const observer = new ResizeObserver(() => setWidth(observed.clientWidth));
    observer.observe(observed);
    return () => observer.disconnect();
  }, [element]);
  return width;
}
