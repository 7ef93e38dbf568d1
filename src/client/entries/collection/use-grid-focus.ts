import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";
import { type FocusBefore, takeFocus } from "../focus.ts";

/** Options of {@link useGridFocus}. */
interface GridFocusOptions {
  readonly grid: RefObject<HTMLElement | null>;
  readonly cursor: number;
  readonly cursorRow: number;
  /** Updated once the focus has followed the cursor. */
  readonly focusedRow: { current: number };
  readonly isRenaming: boolean;
  /** Focuses the cursor as soon as this is known. */
  readonly takesFocusFrom: FocusBefore | undefined;
  scrollToRow(row: number): void;
}

/**
 * Keeps the focus of a grid at its cursor.
 * @returns handlers for the grid
 */
export function useGridFocus(options: GridFocusOptions) {
  const { grid, cursor, cursorRow, focusedRow, isRenaming } = options;
  useFollowedCursor(options);
  const handlers = useFocusOfRemovedRows(grid, cursor, isRenaming);
  useLayoutEffect(() => {
    focusedRow.current = cursorRow;
  }, [focusedRow, cursorRow]);
  return handlers;
}

/** The rendered element at a position. */
export function elementAt(grid: HTMLElement | null, position: number): HTMLElement | null {
  return grid?.querySelector<HTMLElement>(`[data-position="${position}"]`) ?? null;
}

/** Moves the focus with the cursor and scrolls to it, while the focus is in the list. */
function useFollowedCursor({ grid, cursor, cursorRow, takesFocusFrom, scrollToRow }: GridFocusOptions): void {
  const isFirst = useRef(true);
  useLayoutEffect(() => {
    const list = grid.current;
    const wasFirst = isFirst.current;
    isFirst.current = false;
    if (list === null || wasFirst || !list.contains(document.activeElement)) return;
    if (document.activeElement instanceof HTMLInputElement) return;
    // A press has focused its row already. If the list scrolled then, the press would end on another row, and not be a
    // click.
    if (elementAt(list, cursor) === document.activeElement) return;
    scrollToRow(cursorRow);
    elementAt(list, cursor)?.focus({ preventScroll: true });
    // oxlint-disable-next-line react/exhaustive-deps -- only a cursor that moves takes the focus along
  }, [cursor, cursorRow]);
  useEffect(() => {
    if (takesFocusFrom !== undefined) takeFocus(elementAt(grid.current, cursor), takesFocusFrom);
    // oxlint-disable-next-line react/exhaustive-deps -- once, when there is something to focus
  }, [takesFocusFrom]);
}

/**
 * If others removed the entry of the focused row, the row of the cursor gets the focus. Otherwise the keyboard would
 * start at the top of the page again. A rename field restores its focus itself.
 */
function useFocusOfRemovedRows(grid: RefObject<HTMLElement | null>, cursor: number, isRenaming: boolean) {
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
