import { type RefObject, useMemo, useRef } from "react";
import type { TileEvents } from "./tile.tsx";
import type { GridItem, Layout, SelectedIds } from "./types.ts";
import { useCursor } from "./use-cursor.ts";
import { useKeys } from "./use-keys.ts";

/** Options of {@link useInteraction}. */
interface InteractionOptions<T extends GridItem> {
  readonly scroller: RefObject<HTMLElement | null>;
  readonly layout: Layout;
  /** The height of the visible area. */
  readonly height: number;
  /** The item at an index; undefined if it is not loaded. */
  itemAt(index: number): T | undefined;
  readonly selected: SelectedIds;
  onOpen(item: T, index: number): void;
  onToggle(item: T): void;
  /** Adds the items between two indexes, both included, to the selection. */
  onAddRange(one: number, other: number): void;
  onClear(): void;
}

/** The cursor of a grid, and the events that open and select items. */
export function useInteraction<T extends GridItem>(options: InteractionOptions<T>) {
  const { scroller, layout, height, itemAt, selected, onOpen, onToggle, onAddRange, onClear } = options;
  const { cursor, setCursor, goTo, focus } = useCursor(scroller, layout);
  const anchor = useRef(0);
  const addRange = (to: number) => onAddRange(anchor.current, to);
  const current: TileEvents = {
    onOpen: (index) => {
      const item = itemAt(index);
      if (item !== undefined) onOpen(item, index);
    },
    onToggle: (index, isRange) => {
      setCursor(index);
      const item = itemAt(index);
      if (isRange) addRange(index);
      else if (item !== undefined) onToggle(item);
      anchor.current = index;
    },
    onFocus: setCursor,
  };
  const keys = useKeys({
    layout,
    height,
    cursor,
    anchor,
    selected,
    goTo,
    onToggle: current.onToggle,
    addRange,
    clear: onClear,
  });
  return {
    cursor: Math.min(cursor, Math.max(0, layout.total - 1)),
    goTo,
    focus,
    events: useStableEvents(current),
    keys,
  };
}

/** Stable handlers that call the latest ones, so that a tile is rendered again only if its own props change. */
function useStableEvents(current: TileEvents): TileEvents {
  const latest = useRef(current);
  latest.current = current;
  return useMemo<TileEvents>(
    () => ({
      onOpen: (index) => latest.current.onOpen(index),
      onToggle: (index, isRange) => latest.current.onToggle(index, isRange),
      onFocus: (index) => latest.current.onFocus(index),
    }),
    [],
  );
}
