// The first script of every page: small, so that what it decides is decided before anything is drawn twice.
import { basePath } from "./base/address.ts";
import { nextTask } from "./base/next-task.ts";
import { readStored } from "./base/stored.ts";
import { whenIdle } from "./base/when-idle.ts";

/** How long the first paint is waited for: a hidden tab paints nothing. */
const FIRST_PAINT_MS_MAX = 1_000;

/**
 * Resolves when the document's own frame was presented. Drawing over it earlier would leave the browser, and whoever
 * waits, without a first picture until the application has drawn its own.
 */
async function firstPaint(): Promise<void> {
  if (document.visibilityState === "hidden" || !PerformanceObserver.supportedEntryTypes.includes("paint")) return;
  await new Promise<void>((painted) => {
    const observer = new PerformanceObserver((list) => {
      if (list.getEntriesByName("first-contentful-paint").length === 0) return;
      observer.disconnect();
      painted();
    });
    observer.observe({ type: "paint", buffered: true });
    setTimeout(painted, FIRST_PAINT_MS_MAX);
  });
}

/** What can't be had now is had the next time: a page works without its worker. */
function registerWorker(): void {
  if (!("serviceWorker" in navigator)) return;
  const options = { scope: `${basePath()}/`, updateViaCache: "none" } as const;
  navigator.serviceWorker.register(`${basePath()}/service-worker.js`, options).catch((error: unknown) => {
    // oxlint-disable-next-line no-console -- the only place to tell it: nothing on the page depends on it
    console.info("Larder works here without being installed:", error);
  });
}

/** The theme that was chosen on this device, before the frame is painted in the other one. */
function applyTheme(): void {
  const theme = readStored("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset["theme"] = theme;
}

/** The page that is asked for most is fetched beside the application, not after it; where that fails, the page tells. */
async function fetchPage(): Promise<void> {
  const path = window.location.pathname.slice(basePath().length);
  if (path !== "" && path !== "/" && !/^\/files(\/|$)/.test(path)) return;
  await import("./features/browse/files-page.tsx").catch(() => undefined);
}

async function start(): Promise<void> {
  const root = document.querySelector("#app");
  if (!(root instanceof HTMLElement)) throw new Error("The document has no place for the application.");
  applyTheme();
  await firstPaint();
  const application = import("./main.tsx");
  await nextTask();
  const page = fetchPage();
  const { mount } = await application;
  await page;
  await nextTask();
  await mount(root);
  // It fetches all the pages for the day without a network, which must not take turns with what this page asks for.
  whenIdle(registerWorker);
}

await start();
