// Measures the photos page with a large library: time until it is usable, frames while scrolling, requests, elements.
import { Database } from "bun:sqlite";
import { join } from "node:path";
import type { Page } from "playwright-core";
import sharp from "sharp";
import type { Account } from "../../test/support/client.ts";
import { landscape } from "../../test/support/sample-library.ts";
import type { TestServer } from "../../test/support/server.ts";

/** The measurements of one visit. */
export interface PhotoScrolling {
  /** From the start of the navigation until the first thumbnail is drawn. */
  readonly usableMs: number;
  readonly bytesOfLayout: number;
  /** Milliseconds between two frames while the wheel is turned. */
  readonly p50: number;
  readonly p95: number;
  readonly longest: number;
  /** Elements before and after. */
  readonly elements: readonly [number, number];
  /** Thumbnails requested while the wheel is turned, and those of them that were aborted. */
  readonly thumbnails: number;
  readonly aborted: number;
  /** From a jump to the middle until the thumbnails there are drawn. */
  readonly jumpMs: number;
}

const CONTENTS = 60;
const WHEEL_STEPS = 60;
const WHEEL_PIXELS = 240;
const WHEEL_PAUSE_MS = 30;
const SIZES = [
  [1200, 900],
  [900, 1200],
  [1200, 800],
  [1200, 675],
  [1000, 1000],
] as const;

/**
 * Gives an account `count` photos over twelve years. Only some are uploaded; the others are rows with the same contents,
 * because uploads would take longer than the measurement.
 */
export async function fillPhotos(server: TestServer, account: Account, count: number): Promise<void> {
  for (let at = 0; at < CONTENTS; at++) {
    const [width, height] = SIZES[at % SIZES.length] ?? SIZES[0];
    const bytes = await sharp(await landscape(at, width, height))
      .jpeg({ quality: 75 })
      .toBuffer();
    await account.client.stored(new Uint8Array(bytes), {
      name: `${at}.jpg`,
      type: "image/jpeg",
      fields: { folder: "/Library", capturedAt: new Date(Date.UTC(2025, 11, 31) - at * 3_600_000).toISOString() },
    });
  }
  // Not the query of the page: the server would cache its result, because rows that are added below are no change of the account.
  while ((await account.client.get("/api/photos/timeline?type=photo")).at("data.isSettling") !== false)
    await Bun.sleep(200);
  const database = new Database(join(server.dataDir, "larder.db"));
  try {
    database.run("PRAGMA busy_timeout = 10000");
    database.run(
      `WITH RECURSIVE numbers(n) AS (SELECT ?1 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ?2),
         sources AS (SELECT row_number() OVER (ORDER BY id) - 1 AS at, * FROM nodes WHERE media_type = 'image/jpeg')
       INSERT INTO nodes (public_id, account_id, parent_id, kind, name, sort_key, created_at, modified_at, seq, created_seq,
         size_bytes, media_type, blob_id, version, content_at, captured_at)
       SELECT 'file_audit' || n, s.account_id, s.parent_id, 1, 'audit ' || n || '.jpg', 'audit ' || n, s.created_at,
         s.modified_at, s.seq, s.created_seq, s.size_bytes, s.media_type, s.blob_id, 1, s.content_at,
         strftime('%Y-%m-%dT%H:%M:%SZ', '2025-12-28', '-' || (n * 3785 / 100000) || ' days', (n % 1440) || ' minutes')
       FROM numbers JOIN sources s ON s.at = (n * 7919) % ?1`,
      [CONTENTS, count],
    );
  } finally {
    database.close();
  }
}

/** Opens the page, turns the wheel, jumps to the middle, and measures. */
export async function measurePhotoScrolling(page: Page): Promise<PhotoScrolling> {
  let bytesOfLayout = 0;
  let [thumbnails, aborted] = [0, 0];
  page.removeAllListeners();
  page.on("response", (response) => {
    if (/photos\/(timeline|aspects)/.test(response.url())) {
      void response.body().then(
        (body) => (bytesOfLayout += body.length),
        () => undefined,
      );
    }
  });
  page.on("request", (request) => (thumbnails += request.url().includes("thumbnail=") ? 1 : 0));
  page.on("requestfailed", (request) => (aborted += request.url().includes("thumbnail=") ? 1 : 0));
  await page.goto("/photos", { waitUntil: "commit" });
  await drawn(page);
  const usableMs = await page.evaluate(() => performance.now());
  await page.waitForLoadState("networkidle");
  const grid = page.getByRole("region", { name: "Photos, newest first" });
  const before = await page.locator("*").count();
  [thumbnails, aborted] = [0, 0];
  const gaps = await turnWheel(page);
  const after = await page.locator("*").count();
  const [requested, given] = [thumbnails, aborted];
  const jumpedAt = performance.now();
  await grid.evaluate((element) => (element.scrollTop = element.scrollHeight / 2));
  await page.waitForTimeout(0);
  await drawn(page);
  const jumpMs = performance.now() - jumpedAt;
  const at = (part: number) =>
    Math.round((gaps[Math.min(gaps.length - 1, Math.floor(gaps.length * part))] ?? 0) * 10) / 10;
  return {
    usableMs: Math.round(usableMs),
    bytesOfLayout,
    p50: at(0.5),
    p95: at(0.95),
    longest: at(1),
    elements: [before, after],
    thumbnails: requested,
    aborted: given,
    jumpMs: Math.round(jumpMs),
  };
}

/** Turns the wheel step by step. @returns the times between frames in milliseconds, shortest first */
async function turnWheel(page: Page): Promise<number[]> {
  const grid = page.getByRole("region", { name: "Photos, newest first" });
  const box = await grid.boundingBox();
  if (box === null) throw new Error("The grid is not shown.");
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const recording = page.evaluate(
    () =>
      new Promise<number[]>((resolve) => {
        const frames: number[] = [];
        const follow = (time: number) => {
          frames.push(time);
          if (document.documentElement.dataset["stopped"] === undefined) requestAnimationFrame(follow);
          else resolve(frames);
        };
        requestAnimationFrame(follow);
      }),
  );
  for (let step = 0; step < WHEEL_STEPS; step++) {
    await page.mouse.wheel(0, WHEEL_PIXELS);
    await Bun.sleep(WHEEL_PAUSE_MS);
  }
  await page.evaluate(() => (document.documentElement.dataset["stopped"] = ""));
  const frames = await recording;
  return frames
    .slice(1)
    .map((time, index) => time - (frames[index] ?? time))
    .sort((one, other) => one - other);
}

/** Waits until the thumbnails in the middle of the view are loaded. */
async function drawn(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const region = document.querySelector('[role="region"][aria-label^="Photos"]')?.getBoundingClientRect();
    if (region === undefined) return false;
    const images = [...document.querySelectorAll<HTMLImageElement>("[data-photo] img")].filter((image) => {
      const { top, bottom } = image.getBoundingClientRect();
      return bottom > region.top && top < region.bottom;
    });
    return images.length > 3 && images.every((image) => image.complete && image.naturalWidth > 0);
  });
}
