import { type KeyboardEvent, type RefObject, useEffect, useRef } from "react";
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
const PAGE_KEYS = "/ ? i shift+h shift+m shift+s shift+n";

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
    if (event.altKey || isOnHeader(event.target)) return;

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

/** Whether an element belongs to the header, whose buttons and separators have keys of their own. */
function isOnHeader(target: EventTarget): boolean {
  return target instanceof Element && target.closest('[data-part="header"]') !== null;
}

/** Keys that the list takes from the page. */
const FORWARDED_KEYS = "mod+a arrowdown arrowup home end pagedown pageup";

/**
 * Hands keys to a list while nothing else has the focus, for example after its page was opened by its address. The
 * list then has the focus.
 */
export function useForwardedKeys(grid: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const onKeyDown = (event: globalThis.KeyboardEvent) => {
      if (event.defaultPrevented || !isPressed(event, FORWARDED_KEYS) || !isUnfocused(event.target)) return;
      if (document.querySelector('[role="dialog"], [role="alertdialog"], [role="menu"]') !== null) return;
      const row = grid.current?.querySelector<HTMLElement>('[data-position][tabindex="0"]');
      if (row === null || row === undefined) return;
      event.preventDefault();
      row.focus({ preventScroll: true });
      const { key, ctrlKey, metaKey, shiftKey } = event;
      row.dispatchEvent(
        new window.KeyboardEvent("keydown", { key, ctrlKey, metaKey, shiftKey, bubbles: true, cancelable: true }),
      );
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [grid]);
}

/** Whether a key reached only the page, or its title, which has the focus after a navigation. */
function isUnfocused(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches("body, main, h1");
}
