/** Calls `then` after a closing menu or dialog has returned the focus, which happens in the next frame. */
export function afterFocusReturns(then: () => void): void {
  requestAnimationFrame(() => requestAnimationFrame(then));
}
