/** The element that had the focus when a list was opened from another one, which then takes the focus from it. */
export interface FocusBefore {
  current: Element | null;
}

/**
 * Focuses an element of a list that has loaded, unless the person has focused something else in the meantime: typed text
 * and keys for a menu would go to the list.
 */
export function takeFocus(element: HTMLElement | null, before: FocusBefore): void {
  const focused = document.activeElement;
  if (focused === before.current || focused === document.body) element?.focus({ preventScroll: true });
}

/** Calls `then` after a closing menu or dialog has returned the focus, which happens in the next frame. */
export function afterFocusReturns(then: () => void): void {
  requestAnimationFrame(() => requestAnimationFrame(then));
}
