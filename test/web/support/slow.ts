// Slow pages, to find tests that pass by chance: LARDER_TEST_SLOWDOWN=4 gives pages a quarter of the processor, and with
// LARDER_TEST_LATE_FRAMES=150 each animation frame comes that many milliseconds late, as on a busy machine. With
// LARDER_TEST_LATE_RESPONSES=500 pages get the responses to their changes that much later, so events and lists show a change
// before the page that made it knows the result.
import type { BrowserContext, Page } from "playwright-core";

const SLOWDOWN = Number(process.env["LARDER_TEST_SLOWDOWN"] ?? 1);
const LATE_FRAMES_MS = Number(process.env["LARDER_TEST_LATE_FRAMES"] ?? 0);
const LATE_RESPONSES_MS = Number(process.env["LARDER_TEST_LATE_RESPONSES"] ?? 0);

/** Makes the pages of a new profile as slow as these variables say. */
export async function slowDown(context: BrowserContext): Promise<void> {
  if (SLOWDOWN > 1) context.on("page", (page) => void throttle(page));
  if (LATE_FRAMES_MS > 0) await context.addInitScript(delayFrames, LATE_FRAMES_MS);
  if (LATE_RESPONSES_MS > 0) await context.addInitScript(delayResponses, LATE_RESPONSES_MS);
}

async function throttle(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWDOWN });
}

/** Runs in the page. */
function delayFrames(ms: number): void {
  const request = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (then) => window.setTimeout(() => request(then), ms);
  window.cancelAnimationFrame = (id) => window.clearTimeout(id);
}

/** Runs in the page. */
function delayResponses(ms: number): void {
  const request = window.fetch.bind(window);
  const late = async (...[input, init]: Parameters<typeof fetch>) => {
    const response = await request(input, init);
    const isChange = !["GET", "HEAD"].includes(init?.method ?? "GET");
    if (isChange) await new Promise((isOver) => window.setTimeout(isOver, ms));
    return response;
  };
  window.fetch = Object.assign(late, request);
}
