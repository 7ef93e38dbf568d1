import { type KeyboardEvent, type RefObject, useRef } from "react";
import { useShortcuts } from "../../base/shortcuts.ts";
import { boxOf, pageFrom, rowsFrom } from "./positions.ts";
import { text } from "./text.ts";
import type { Layout, SelectedIds } from "./types.ts";

/** Options of {@link useKeys}. */
interface KeysOptions {
  readonly layout: Layout;
  /** The height of the visible area. */
  readonly height: number;
  readonly cursor: number;
  /** Where a selected range begins. */
  readonly anchor: RefObject<number>;
  readonly selected: SelectedIds;
  goTo(index: number): void;
  onToggle(index: number, isRange: boolean): void;
  /** Selects the photos from the anchor to an index. */
  addRange(to: number): void;
  clear(): void;
}

/**
 * The column in which the up and down keys move: that of the photo at which they started. Photos of different rows are
 * not aligned, so the column would otherwise drift.
 */
interface Track {
  readonly cursor: number;
  readonly left: number;
}

/** The keys of the grid: arrows, Page Up and Down, Home and End move; with Shift they select; Space toggles. */
export function useKeys(options: KeysOptions) {
  const { layout, cursor, anchor, selected, goTo, onToggle, addRange, clear } = options;
  const track = useRef<Track>(undefined);
  const onKeyDown = (event: KeyboardEvent) => {
    if (!isPhoto(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " ") {
      event.preventDefault();
      onToggle(cursor, event.shiftKey);
      return;
    }
    const isVertical = event.key === "ArrowDown" || event.key === "ArrowUp";
    const box = boxOf(layout, cursor);
    const left = track.current?.cursor === cursor ? track.current.left : box.left + box.width / 2;
    const target = targetOf(event.key, options, left);
    if (target === undefined) return;
    event.preventDefault();
    const to = Math.min(layout.total - 1, Math.max(0, target));
    track.current = isVertical ? { cursor: to, left } : undefined;
    if (event.shiftKey) {
      if (selected.size === 0) anchor.current = cursor;
      addRange(to);
    } else if (selected.size === 0) anchor.current = to;
    goTo(to);
  };
  const onKeyUp = (event: KeyboardEvent) => {
    // A button would treat releasing the space bar as a press.
    if (event.key === " " && isPhoto(event.target)) event.preventDefault();
  };
  const listed = { run: () => undefined, listedOnly: true } as const;
  useShortcuts(text.shortcuts, [
    { keys: "arrowright", label: text.keyMove, ...listed },
    { keys: "enter", label: text.keyOpen, ...listed },
    { keys: "space", label: text.keySelect, ...listed },
    { keys: "shift+arrowright", label: text.keyRange, ...listed },
    { keys: "escape", label: text.clear, run: clear, when: () => selected.size > 0 },
  ]);
  return { onKeyDown, onKeyUp };
}

function isPhoto(target: EventTarget): boolean {
  return target instanceof HTMLElement && target.dataset["photo"] !== undefined;
}

/** The index that a key leads to; undefined for keys that don't move. */
function targetOf(key: string, { layout, height, cursor }: KeysOptions, left: number): number | undefined {
  const forward = document.documentElement.dir === "rtl" ? -1 : 1;
  switch (key) {
    case "ArrowRight":
      return cursor + forward;
    case "ArrowLeft":
      return cursor - forward;
    case "ArrowDown":
      return rowsFrom(layout, cursor, 1, left);
    case "ArrowUp":
      return rowsFrom(layout, cursor, -1, left);
    case "PageDown":
      return pageFrom(layout, cursor, 1, height);
    case "PageUp":
      return pageFrom(layout, cursor, -1, height);
    case "Home":
      return 0;
    case "End":
      return layout.total - 1;
    default:
      return undefined;
  }
}
