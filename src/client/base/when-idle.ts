const LATEST_MS = 4000;

/** Runs `action` when the page is idle: for work that will be needed, but not now. */
export function whenIdle(action: () => void): void {
  // Safari does not support it.
  if (typeof window.requestIdleCallback === "function") window.requestIdleCallback(action, { timeout: LATEST_MS });
  else setTimeout(action, LATEST_MS / 2);
}
