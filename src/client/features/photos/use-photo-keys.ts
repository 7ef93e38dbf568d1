import type { KeyboardEvent, RefObject } from "react";
import { useShortcuts } from "../../base/shortcuts.ts";
import type { PhotoRecord } from "./api.ts";
import { type Layout, rowsFrom } from "./layout.ts";
import { text } from "./text.ts";
import type { SelectedPhotos } from "./use-photo-selection.ts";

/** Options of {@link usePhotoKeys}. */
interface PhotoKeysOptions {
  readonly layout: Layout;
  /** The height of the visible area. */
  readonly height: number;
  readonly cursor: number;
  /** Where a selected range begins. */
  readonly anchor: RefObject<number>;
  readonly selected: SelectedPhotos;
  photoAt(index: number): PhotoRecord | undefined;
  goTo(index: number): void;
  onToggle(index: number, photo: PhotoRecord, isRange: boolean): void;
  /** Selects the photos from the anchor to an index. */
  addRange(to: number): void;
  clear(): void;
}

/** The keys of the photo grid: arrows, Page Up and Down, Home and End move; with Shift they select; Space toggles. */
export function usePhotoKeys(options: PhotoKeysOptions) {
  const { layout, cursor, anchor, selected, photoAt, goTo, onToggle, addRange, clear } = options;
  const onKeyDown = (event: KeyboardEvent) => {
    if (!isPhoto(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " ") {
      event.preventDefault();
      const photo = photoAt(cursor);
      if (photo !== undefined) onToggle(cursor, photo, event.shiftKey);
      return;
    }
    const target = targetOf(event.key, options);
    if (target === undefined) return;
    event.preventDefault();
    const to = Math.min(layout.total - 1, Math.max(0, target));
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
function targetOf(key: string, { layout, height, cursor }: PhotoKeysOptions): number | undefined {
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
}
