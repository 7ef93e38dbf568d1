import { type KeyboardEvent, useRef } from "react";
import type { Entry } from "../../api/types.ts";
import { isPressed } from "../../base/shortcuts.ts";
import { moveCursor, TYPE_AHEAD_MS, findTyped } from "./cursor.ts";
import type { Collection } from "./use-collection.ts";

/** Options of {@link useGridKeys}. */
interface GridKeysOptions<T extends Entry> {
  readonly collection: Collection<T>;
  readonly columns: number;
  readonly rowsInView: () => number;
  onOpen(entry: T, position: number): void;
  /** Opens the context menu at the cursor's element. */
  onMenu(): void;
}

/** Keys that are shortcuts of the page, so they don't start a typed name. */
const PAGE_KEYS = "/ ? i shift+m shift+s shift+n";

/**
 * The keys of a grid: arrows, Home, End, Page Up and Down, Space, Ctrl+A, Escape, Enter, the menu key, and typed names.
 */
export function useGridKeys<T extends Entry>(options: GridKeysOptions<T>) {
  const { collection, columns, rowsInView, onOpen, onMenu } = options;
  const typed = useRef({ text: "", atMs: 0 });

  const typeAhead = ({ key, nativeEvent }: KeyboardEvent) => {
    const now = Date.now();
    const isFresh = now - typed.current.atMs > TYPE_AHEAD_MS;
    if (isFresh && (key === " " || isPressed(nativeEvent, PAGE_KEYS))) return false;
    const text = (isFresh ? "" : typed.current.text) + key;
    typed.current = { text, atMs: now };
    const names = new Map([...collection.pages.known()].map(([position, { name }]) => [position, name]));
    const position = findTyped(text, collection.cursor, names);
    if (position !== undefined) collection.select(position, "only");
    return true;
  };

  return (event: KeyboardEvent) => {
    const { cursor, pages } = collection;
    const { key, shiftKey } = event;
    const isControl = event.ctrlKey || event.metaKey;
    const handled = () => {
      event.preventDefault();
      event.stopPropagation();
    };
    if (event.altKey) return;

    const isRightToLeft = getComputedStyle(event.currentTarget).direction === "rtl";
    const view = { total: pages.total ?? 0, columns, rowsInView: rowsInView(), isRightToLeft };
    const to = moveCursor(key, cursor, view);
    if (to !== undefined) {
      handled();
      if (shiftKey) collection.select(to, isControl ? "addRange" : "range");
      else if (isControl) collection.point(to);
      else collection.select(to, "only");
      return;
    }
    const isTyping = Date.now() - typed.current.atMs <= TYPE_AHEAD_MS && typed.current.text !== "";
    if (key === " " && !isTyping) {
      handled();
      collection.select(cursor, shiftKey ? "range" : "toggle");
    } else if (isControl && key.toLowerCase() === "a") {
      handled();
      collection.selectAll();
    } else if (key === "Escape" && collection.count > 0) {
      handled();
      collection.clear();
    } else if (key === "Enter" && !isControl && !shiftKey) {
      const entry = pages.at(cursor);
      handled();
      if (entry !== undefined) onOpen(entry, cursor);
    } else if (key === "ContextMenu" || (key === "F10" && shiftKey)) {
      handled();
      onMenu();
    } else if (key.length === 1 && !isControl && typeAhead(event)) {
      handled();
    }
  };
}
