// Measures the page of a large folder: time until it is usable, frames while scrolling, and memory.
import type { CDPSession, Page } from "playwright-core";

/** The measurements. */
export interface Scrolling {
  /** From the start of the navigation until the first row is usable. */
  readonly usableMs: number;
  /** At the speed of a finger, and through all rows within ten seconds. */
  readonly byFinger: Frames;
  readonly throughAll: Frames;
  /** From a jump to a distant position until its rows are there. */
  readonly jumpMedianMs: number;
  readonly jumpSlowestMs: number;
  /** Before scrolling, after it, and after the jumps, each of which loads rows. */
  readonly memoryBytes: { readonly before: number; readonly scrolled: number; readonly jumped: number };
  readonly elements: number;
}

/** Frames while scrolling. */
export interface Frames {
  readonly perSecond: number;
  /** The longest time between two frames. */
  readonly longestMs: number;
}

const FINGER = { durationMs: 5_000, pixelsPerSecond: 4_000 } as const;
const THROUGH_ALL_MS = 10_000;
const JUMPS = 300;

/** Opens the page of a folder, scrolls through it, and measures. The browser has no other page open. */
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
  const jumps = (await jumpThrough(page)).sort((one, other) => one - other);
  return {
    usableMs: Math.round(usableMs),
    byFinger,
    throughAll,
    jumpMedianMs: Math.round(jumps[jumps.length >> 1] ?? 0),
    jumpSlowestMs: Math.round(jumps.at(-1) ?? 0),
    memoryBytes: { before, scrolled, jumped: await usedBytes(session) },
    elements: await page.locator("*").count(),
  };
}

/** Scrolls evenly from the first row, at most to the last, and records the time of each frame. */
async function scroll(page: Page, durationMs: number, pixels: number): Promise<Frames> {
  const frames = await page.getByRole("grid").evaluate(
    async (element, { durationMs: lasts, pixels: most }) => {
      const drawn: number[] = [];
      const distance = Math.min(most, element.scrollHeight - element.clientHeight);
      const begun = performance.now();
      for (;;) {
        const at = await new Promise<number>((frame) => requestAnimationFrame(frame));
        drawn.push(at);
        const share = (at - begun) / lasts;
        if (share >= 1) return drawn;
        element.scrollTop = share * distance;
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

/** Jumps through the list, and waits after each jump for its rows. @returns the duration of each jump in milliseconds */
async function jumpThrough(page: Page): Promise<number[]> {
  return page.getByRole("grid").evaluate(async (element, jumps) => {
    const took: number[] = [];
    for (let jump = 0; jump < jumps; jump++) {
      const begun = performance.now();
      element.scrollTop = (jump / jumps) * (element.scrollHeight - element.clientHeight);
      // The row in the middle of the view belongs to the position of the jump.
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
  }, JUMPS);
}

async function usedBytes(session: CDPSession): Promise<number> {
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  return usedSize;
}
