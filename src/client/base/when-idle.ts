const LATEST_MS = 4000;

/** Runs `deed` once the page has nothing to do: for what will be needed, but not now. */
export function whenIdle(deed: () => void): void {
  // Safari has no such call.
  if (typeof window.requestIdleCallback === "function") window.requestIdleCallback(deed, { timeout: LATEST_MS });
  else setTimeout(deed, LATEST_MS / 2);
}
