import {
  type CSSProperties,
  type FocusEvent,
  type MouseEvent,
  type PointerEvent,
  type ReactNode,
  type SyntheticEvent,
  useEffect,
  useMemo,
  useRef,
} from "react";
import type { Entry } from "../../api/types.ts";
import type { FocusBefore } from "../focus.ts";
import { GridRows, SelectionBox } from "./grid-rows.tsx";
import type { GridDisplay, GridSort } from "./grid-types.ts";
import { ListHeader } from "./list-header.tsx";
import type { Collection } from "./use-collection.ts";
import { type DragRules, type FolderDrops, useEntryDrag } from "./use-entry-drag.ts";
import { elementAt, useGridFocus } from "./use-grid-focus.ts";
import { useForwardedKeys, useGridKeys } from "./use-grid-keys.ts";
import { EDGE_SPACE, type GridLayout, useGridLayout } from "./use-grid-layout.ts";
import { positionOf, useGridPointer } from "./use-grid-pointer.ts";
import { useRubberBand } from "./use-rubber-band.ts";
import { SPACE_BELOW, useVisibleRows } from "./use-visible-rows.ts";

/** Props of {@link EntryGrid}. */
interface EntryGridProps<T extends Entry> {
  readonly collection: Collection<T>;
  /** The name of the list for screen readers. */
  readonly label: string;
  readonly display: GridDisplay<T>;
  readonly sort?: GridSort | undefined;
  onOpen(entry: T, position: number): void;
  /** Called with the entry that the menu is for if it is not selected; undefined if the menu is for the selection. */
  onMenuTarget?(entry: T | undefined): void;
  readonly drag?: DragRules<T> | undefined;
  readonly drops?: FolderDrops<T>;
  /** The scroll position when the list was last shown. */
  readonly startOffset?: number;
  onScrolled?(offset: number): void;
  /** Focuses the cursor once there are entries: the person came from another list by keyboard or press. */
  readonly takesFocusFrom?: FocusBefore | undefined;
  /** Whether the surrounding context menu also opens outside of entries. */
  readonly hasBackgroundMenu?: boolean;
  /** Shown below the last entry. */
  readonly children?: ReactNode;
}

/**
 * A list or a grid of tiles of any length: only visible rows are rendered and loaded. It is one tab stop; arrow keys
 * move inside (ARIA grid).
 */
export function EntryGrid<T extends Entry>(props: EntryGridProps<T>) {
  const { collection, display, drag, startOffset = 0, takesFocusFrom } = props;
  const { pages, cursor } = collection;
  const total = pages.total ?? 0;
  const scroller = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const layout = useGridLayout(scroller, display);
  const { isTiles, columns } = layout;
  const rows = Math.ceil(total / columns);
  const cursorRow = Math.floor(cursor / columns);

  const scrolling = useVisibleRows({ scroller, layout, rows, cursorRow, startOffset });
  const { rendered, focusedRow, scrollToRow } = scrolling;
  const { first, last } = scrolling.visible;
  const { setVisibleSpan } = pages;
  useEffect(
    () => setVisibleSpan({ first: first * columns, last: (last + 1) * columns - 1 }),
    [setVisibleSpan, first, last, columns],
  );
  const focusHandlers = useGridFocus({
    grid: scroller,
    cursor,
    cursorRow,
    focusedRow,
    isRenaming: display.renaming !== undefined,
    takesFocusFrom: total > 0 ? takesFocusFrom : undefined,
    scrollToRow,
  });
  const { box, handlers } = useGridEvents(props, { scroller, body, layout, focusHandlers });
  const dragging = useEntryDrag(collection, drag, props.drops ?? NO_DROPS);
  const isFinePointer = useMemo(() => window.matchMedia("(pointer: fine)").matches, []);

  const viewOf = (position: number) => ({
    ...viewAt(props, position),
    isDropTarget: dragging.target === position,
    isDraggable: drag !== undefined && isFinePointer,
  });
  return (
    <div
      ref={scroller}
      role="grid"
      aria-label={props.label}
      aria-multiselectable="true"
      aria-rowcount={isTiles ? rows : rows + 1}
      aria-colcount={isTiles ? columns : layout.fitting.length + 2}
      aria-busy={pages.total === undefined || collection.isLoadingSelection}
      className="relative min-h-0 flex-1 overflow-auto select-none [overflow-anchor:none]"
      onScroll={(event) => props.onScrolled?.(event.currentTarget.scrollTop)}
      {...handlers}
      {...dragging.handlers}
    >
      <div style={{ paddingInline: layout.edge, paddingBottom: SPACE_BELOW, ...columnTracks(layout.template) }}>
        {isTiles ? (
          <div style={{ height: EDGE_SPACE }} />
        ) : (
          <ListHeader columns={display.columns} layout={layout} isSelecting={collection.count > 0} sort={props.sort} />
        )}
        <div ref={body} role="rowgroup" className="relative" style={{ height: Math.max(rows * layout.rowHeight, 1) }}>
          <GridRows rows={rendered} total={total} layout={layout} viewOf={viewOf} />
          {box !== undefined && <SelectionBox box={box} />}
        </div>
      </div>
      {props.children}
    </div>
  );
}

const NO_DROPS = { destinationOf: () => undefined };

/** The widths of the columns, as a property that all rows inherit: while a column is resized, no row is rendered. */
function columnTracks(template: string): CSSProperties {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type has no custom properties
  return { "--list-columns": template } as CSSProperties;
}

function viewAt<T extends Entry>({ collection, display }: EntryGridProps<T>, position: number) {
  const entry = collection.pages.at(position);
  return {
    entry,
    position,
    display,
    isSelected: entry === undefined ? collection.selection.kind === "all" : collection.isSelected(entry.id),
    isSelecting: collection.count > 0,
    isCursor: position === collection.cursor,
  };
}

interface GridParts {
  readonly scroller: { readonly current: HTMLDivElement | null };
  readonly body: { readonly current: HTMLDivElement | null };
  readonly layout: Pick<GridLayout<Entry>, "columns" | "rowHeight" | "above">;
  readonly focusHandlers: { onFocus(): void; onBlur(): void };
}

/** The keys and pointers of a grid. The rows have no handlers of their own. */
function useGridEvents<T extends Entry>(
  { collection, onOpen, onMenuTarget, hasBackgroundMenu = false }: EntryGridProps<T>,
  { scroller, body, layout: { columns, rowHeight, above }, focusHandlers }: GridParts,
) {
  const { pages, cursor } = collection;
  useForwardedKeys(scroller);
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

  const onFocus = (event: FocusEvent) => {
    focusHandlers.onFocus();
    const position = positionOf(event.target);
    if (position !== undefined && position !== cursor) collection.point(position);
  };
  const onContextMenu = (event: MouseEvent) => {
    // The header has a menu of its own.
    if (event.defaultPrevented) return event.stopPropagation();
    const position = positionOf(event.target);
    if (position === undefined && hasBackgroundMenu && pointer.wantsMenu()) return collection.clear();
    const entry = position === undefined ? undefined : pages.at(position);
    if (position === undefined || entry === undefined || !pointer.wantsMenu()) {
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    const isSelected = collection.isSelected(entry.id);
    // With a finger, a selection would change what the next tap does.
    const isForOne = !isSelected && onMenuTarget !== undefined && pointer.isTouch();
    onMenuTarget?.(isForOne ? entry : undefined);
    if (isSelected || isForOne) collection.point(position);
    else collection.select(position, "only");
  };
  const handlers = {
    onKeyDown: inside(onKeyDown),
    onBlur: focusHandlers.onBlur,
    onFocus: inside(onFocus),
    onClick: inside(pointer.onClick),
    onDoubleClick: inside(pointer.onDoubleClick),
    onContextMenu: inside(onContextMenu),
    // A long press selects, so the surrounding context menu must not open on it.
    onTouchStart: (event: { stopPropagation(): void }) => event.stopPropagation(),
    onPointerDown: inside((event: PointerEvent<HTMLElement>) => {
      pointer.onPointerDown(event);
      band.handlers.onPointerDown(event);
    }),
    onPointerMove: (event: PointerEvent) => {
      pointer.onPointerMove(event);
      band.handlers.onPointerMove(event);
    },
    onPointerUp: () => {
      pointer.onPointerUp();
      band.handlers.onPointerUp();
    },
    onPointerCancel: () => {
      pointer.onPointerCancel();
      band.handlers.onPointerCancel();
    },
  };
  return { box: band.box, handlers };
}

/** A handler without the events of the header's menus: React passes those on, although they are not in the grid. */
function inside<E extends SyntheticEvent>(handler: (event: E) => void) {
  return (event: E) => {
    if (event.target instanceof Node && event.currentTarget.contains(event.target)) handler(event);
  };
}

/** Opens the context menu as if the person had right-clicked an element. */
function openMenuAt(element: Element): void {
  const { left, bottom } = element.getBoundingClientRect();
  const at = { bubbles: true, cancelable: true, clientX: left, clientY: bottom };
  element.dispatchEvent(new window.MouseEvent("contextmenu", at));
}
