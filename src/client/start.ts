// The first script of every page. It is small, so that the theme is set before anything is painted.
import { basePath } from "./base/address.ts";
import { ignore } from "./base/ignore.ts";
import { areMemoriesShown, localDate } from "./base/memories.ts";
import { nextTask } from "./base/next-task.ts";
import { readStored } from "./base/stored.ts";
import { whenIdle } from "./base/when-idle.ts";

/** How long to wait for the first paint: a hidden tab never paints. */
const FIRST_PAINT_MS_MAX = 1_000;

/**
 * Resolves when the document's static frame was painted. Rendering over it earlier would delay the first paint until
 * the application has rendered.
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

/** Registers the service worker. Pages work without it, so a failure is only logged; the next page tries again. */
function registerWorker(): void {
  if (!("serviceWorker" in navigator)) return;
  const options = { scope: `${basePath()}/`, updateViaCache: "none" } as const;
  navigator.serviceWorker.register(`${basePath()}/service-worker.js`, options).catch((error: unknown) => {
    // oxlint-disable-next-line no-console -- nothing on the page depends on it, so no message is shown
    console.info("Larder works here without being installed:", error);
  });
}

/** Applies the stored theme before the frame is painted in the other one. */
function applyTheme(): void {
  const theme = readStored("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset["theme"] = theme;
}

/**
 * Loads the script of the most common pages in parallel with the application. If that fails, the page itself shows the
 * error.
 */
async function fetchPage(): Promise<void> {
  const path = window.location.pathname.slice(basePath().length);
  if (path === "" || path === "/" || /^\/files(\/|$)/.test(path)) {
    await import("./features/browse/files-page.tsx").catch(ignore);
  } else if (path === "/photos") {
    preloadMemories();
    await import("./features/photos/photos-page.tsx").catch(ignore);
  }
}

/** Requests what the photos page shows first, and whose address the server does not know: it depends on the time zone. */
function preloadMemories(): void {
  const date = localDate();
  // The photos of one town have no memories.
  if (!areMemoriesShown(date) || window.location.search !== "") return;
  const link = Object.assign(document.createElement("link"), { rel: "preload", as: "fetch", crossOrigin: "" });
  link.href = `${basePath()}/api/photos/memories?date=${date}`;
  document.head.append(link);
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
  // The worker downloads all pages for offline use, which must not compete with what this page loads.
  whenIdle(registerWorker);
}

await start();
