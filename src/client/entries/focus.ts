/**
 * Menus and dialogs that close give the focus back to where they took it from, in the next frame. `then` is called in the
 * one after it, to have the last word.
 */
export function afterFocusReturns(then: () => void): void {
  requestAnimationFrame(() => requestAnimationFrame(then));
}
