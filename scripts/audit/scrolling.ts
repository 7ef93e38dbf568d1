// How a large folder feels: when it can be used, whether it scrolls without a hitch, what it leaves in memory.
import type { CDPSession, Page } from "playwright-core";

/** What was measured. */
export interface Scrolling {
  /** From the start of the navigation until rows can be used, in milliseconds. */
  readonly usableMs: number;
  /** As a finger scrolls, and through all of it within ten seconds, which shows nothing twice. */
  readonly byFinger: Frames;
  readonly throughAll: Frames;
  /** From a leap to a far place until its rows are there: half of the leaps, and the slowest. */
  readonly leapMedianMs: number;
  readonly leapSlowestMs: number;
  /** Before scrolling, after it, and after the leaps, each of which loads what it comes to. */
  readonly memoryBytes: { readonly before: number; readonly scrolled: number; readonly leapt: number };
  readonly elements: number;
}

/** Frames while scrolling. */
export interface Frames {
  readonly perSecond: number;
  /** The longest time between two, in milliseconds. */
  readonly longestMs: number;
}

const FINGER = { durationMs: 5_000, pixelsPerSecond: 4_000 } as const;
const THROUGH_ALL_MS = 10_000;
const LEAPS = 300;

/** Opens a folder's page, scrolls through all of it, and measures. The page is in a browser with nothing else open. */
export async function measureScrolling(page: Page, path: string): Promise<Scrolling> {
  const session = await page.context().newCDPSession(page);
  await page.goto(path, { waitUntil: "commit" });
  const row = page.locator("[role=row][aria-rowindex] [role=gridcell]").first();
  await row.waitFor();
  const usableMs = await page.evaluate(() => performance.now());
  const before = await usedBytes(session);
  const byFinger = await scroll(page, FINGER.durationMs, (FINGER.durationMs / 1000) * FINGER.pixelsPerSecond);
  const throughAll = await scroll(page, THROUGH_ALL_MS, Number.POSITIVE_INFINITY);
  const scrolled = await usedBytes(session);
  const leaps = (await leapThrough(page)).sort((one, other) => one - other);
  return {
    usableMs: Math.round(usableMs),
    byFinger,
    throughAll,
    leapMedianMs: Math.round(leaps[leaps.length >> 1] ?? 0),
    leapSlowestMs: Math.round(leaps.at(-1) ?? 0),
    memoryBytes: { before, scrolled, leapt: await usedBytes(session) },
    elements: await page.locator("*").count(),
  };
}

/** Scrolls evenly from the first row, at most to the last, and watches when frames are drawn. */
async function scroll(page: Page, durationMs: number, pixels: number): Promise<Frames> {
  const frames = await page.getByRole("grid").evaluate(
    async (element, { durationMs: lasts, pixels: most }) => {
      const drawn: number[] = [];
      const way = Math.min(most, element.scrollHeight - element.clientHeight);
      const begun = performance.now();
      for (;;) {
        const at = await new Promise<number>((frame) => requestAnimationFrame(frame));
        drawn.push(at);
        const share = (at - begun) / lasts;
        if (share >= 1) return drawn;
        element.scrollTop = share * way;
      }
    },
    { durationMs, pixels },
  );
  const gaps = frames.slice(1).map((at, index) => at - (frames[index] ?? at));
  const lastedMs = (frames.at(-1) ?? 0) - (frames[0] ?? 0);
  return {
    perSecond: Math.round((gaps.length / lastedMs) * 10_000) / 10,
    longestMs: Math.round(Math.max(...gaps)),
  };
}

/** Goes from place to place and waits at each until its rows are there. @returns how long each took, in milliseconds */
async function leapThrough(page: Page): Promise<number[]> {
  return page.getByRole("grid").evaluate(async (element, leaps) => {
    const took: number[] = [];
    for (let leap = 0; leap < leaps; leap++) {
      const begun = performance.now();
      element.scrollTop = (leap / leaps) * (element.scrollHeight - element.clientHeight);
      // Rows lie where their place in the list is: what is under the middle of the view is the place that was gone to.
      const middle = element.getBoundingClientRect();
      const rowThere = () =>
        document
          .elementFromPoint(middle.left + middle.width / 2, middle.top + middle.height / 2)
          ?.closest("[role=row]");
      do await new Promise((frame) => requestAnimationFrame(frame));
      while (rowThere()?.ariaBusy !== "false");
      took.push(performance.now() - begun);
    }
    return took;
  }, LEAPS);
}

async function usedBytes(session: CDPSession): Promise<number> {
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  return usedSize;
}
