const LATEST_MS = 4000;

/** Runs `deed` once the page has nothing to do: for what will be needed, but not now. */
export function whenIdle(action: () => void): void {
  // Safari has no such call.
  if (typeof window.requestIdleCallback === "function") window.requestIdleCallback(action, { timeout: LATEST_MS });
  else setTimeout(action, LATEST_MS / 2);
}
