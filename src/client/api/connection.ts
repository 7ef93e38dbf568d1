/**
 * Tracks whether the server can be reached, from the results of requests, and whether it still runs the version of this
 * page.
 */
import { href, onReachability } from "./http.ts";
import { queryClient } from "./query-client.ts";
import { createStore, useStore } from "../base/store.ts";

const PROBE_FIRST_MS = 2000;
const PROBE_MS_MAX = 30_000;
/** A request that always fails while others succeed must not make the page repeat all of them without a pause. */
const REFETCH_APART_MS = 10_000;

const reached = createStore(true);
const updated = createStore(false);
let probeTimer: ReturnType<typeof setTimeout> | undefined;
let probeDelayMs = PROBE_FIRST_MS;
let refetchTimer: ReturnType<typeof setTimeout> | undefined;
let refetchedMs = -REFETCH_APART_MS;

/** Whether the last request reached the server. */
export function useIsReached(): boolean {
  return useStore(reached);
}

/** Whether the server now runs another version than this page. */
export function useIsUpdated(): boolean {
  return useStore(updated);
}

/** Watches requests and the browser's online state. Called once, by main.tsx. */
export function watchConnection(): void {
  onReachability(setReachable);
  window.addEventListener("offline", () => setReachable(false));
  window.addEventListener("online", () => void probe());
  navigator.serviceWorker?.addEventListener("controllerchange", () => void checkForUpdate());
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) void checkForUpdate();
  });
}

function setReachable(isReached: boolean): void {
  if (isReached) {
    clearTimeout(probeTimer);
    probeTimer = undefined;
    probeDelayMs = PROBE_FIRST_MS;
    if (reached.get()) return;
    reached.set(true);
    refetchSoon();
    return;
  }
  reached.set(false);
  if (probeTimer !== undefined) return;
  probeTimer = setTimeout(() => {
    probeTimer = undefined;
    void probe();
  }, probeDelayMs);
  probeDelayMs = Math.min(probeDelayMs * 2, PROBE_MS_MAX);
}

/** Loads the data of the page again, and looks for an update: now, or `REFETCH_APART_MS` after the last time. */
function refetchSoon(): void {
  refetchTimer ??= setTimeout(
    () => {
      refetchTimer = undefined;
      // Otherwise the next successful request starts it again.
      if (!reached.get()) return;
      refetchedMs = performance.now();
      void queryClient.invalidateQueries();
      void checkForUpdate();
    },
    Math.max(0, refetchedMs + REFETCH_APART_MS - performance.now()),
  );
}

/** Sends the cheapest request there is. Any response means that the server can be reached. */
async function probe(): Promise<void> {
  try {
    await fetch(href("/health/live"), { cache: "no-store" });
    setReachable(true);
  } catch {
    setReachable(false);
  }
}

/** Compares the version in the document that the server now sends with the version of this page. */
async function checkForUpdate(): Promise<void> {
  const own = document.querySelector<HTMLElement>("[data-version]")?.dataset["version"];
  if (own === undefined || own === "" || updated.get()) return;
  try {
    const response = await fetch(href("/app-document"), { cache: "no-store", headers: { accept: "text/html" } });
    const served = /data-version="([^"]+)"/.exec(await response.text())?.[1];
    if (response.ok && served !== undefined && served !== own) updated.set(true);
  } catch {
    return; // Not reached. Checked again at the next reconnect.
  }
}
