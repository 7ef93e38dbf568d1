import { beforeAll, expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import sharp from "sharp";
import type { Account, Client } from "../support/client.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { liveVideo } from "../support/live-photos.ts";
import { describeWeb, type Web } from "./support/browser.ts";
import { closeByKey, untilFocused } from "./support/focus.ts";
import { undo } from "./support/undo.ts";

/** An image with a gradient of its own, and its capture time in Exif. */
async function picture(seed: number, takenAt: string): Promise<Uint8Array> {
  const [width, height] = seed % 3 === 0 ? [240, 360] : [360, 240];
  const hue = (seed * 47) % 360;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
    <defs><linearGradient id="g" x2="0" y2="1"><stop stop-color="hsl(${hue} 60% 75%)"/>
    <stop offset="1" stop-color="hsl(${(hue + 50) % 360} 55% 35%)"/></linearGradient></defs>
    <rect width="100%" height="100%" fill="url(#g)"/>
    <circle cx="${60 + (seed % 5) * 40}" cy="70" r="32" fill="hsl(50 90% 85%)"/>
    <path d="M0 ${height} L${width / 3} ${height / 2} L${width / 2} ${height * 0.7} L${width * 0.8} ${height * 0.4} L${width} ${height} Z" fill="hsl(${hue} 30% 22%)"/></svg>`;
  const time = takenAt.slice(0, 19).replaceAll("-", ":").replace("T", " ");
  const exif = { IFD2: { DateTimeOriginal: time, OffsetTimeOriginal: "+02:00" } };
  return new Uint8Array(await sharp(Buffer.from(svg)).withExif(exif).jpeg({ quality: 70 }).toBuffer());
}

/** The header of a video, which is all that a list needs. */
const FILM = new Uint8Array([0, 0, 0, 24, ...Buffer.from("ftypisom0000isommp42")]);

/** Days with their number of photos, newest first. */
const DAYS: readonly (readonly [date: string, count: number])[] = [
  ["2025-08-17", 14],
  ["2025-08-16", 5],
  ["2025-06-01", 9],
  ["2024-12-24", 7],
  ["2023-07-09", 12],
  ["2021-03-05", 6],
  ["2019-10-10", 8],
];

async function store(client: Client): Promise<void> {
  let seed = 0;
  for (const [date, count] of DAYS) {
    for (let index = 0; index < count; index++) {
      seed++;
      const takenAt = `${date}T${String(20 - index).padStart(2, "0")}:30:00`;
      const fields = { folder: "/Camera", capturedAt: `${takenAt}+02:00` };
      await client.stored(await picture(seed, takenAt), {
        name: `${date} ${index + 1}.jpg`,
        type: "image/jpeg",
        fields,
      });
    }
  }
  const fields = { folder: "/Camera", capturedAt: "2025-08-17T22:00:00+02:00" };
  await client.stored(FILM, { name: "film.mp4", type: "video/mp4", fields });
}

const tile = (page: Page, name: string) => page.getByRole("button", { name: new RegExp(`^(Photo|Video) ${name},`) });
const box = (page: Page, name: string) => page.getByRole("checkbox", { name: `Select ${name}` });
const bar = (page: Page) => page.getByRole("toolbar", { name: "Actions for the selection" });
const timeline = (page: Page) => page.getByRole("slider", { name: "Timeline" });

/** Waits until the visible thumbnails are loaded. */
async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const pictures = [...document.querySelectorAll<HTMLImageElement>("main img")];
    return pictures.length > 0 && pictures.every((one) => one.complete);
  });
}

/**
 * Uploads a photo to the empty page, which first gets it for today, with or without `isSettling`. The photos of that
 * day are requested when the photo has moved to the day in its Exif already.
 */
async function openUploading(
  web: Web,
  account: Account,
  { name, takenAt }: { readonly name: string; readonly takenAt: string },
  isSettling: boolean,
): Promise<Page> {
  const page = await web.open({ as: account, path: "/photos" });
  await page.getByText("No photos yet").waitFor();
  const days = [{ date: new Date().toISOString().slice(0, 10), count: 1 }];
  const data = { days, total: 1, isIndexing: false, isSettling };
  let isReported = false;
  await page.route("**/api/photos/timeline*", async (route) => {
    if (isReported) return route.continue();
    isReported = true;
    await eventually("its own day is known", async () => {
      const [first] = (await account.client.get("/api/photos/timeline")).strings("data.days", "date");
      return first === takenAt.slice(0, 10);
    });
    return route.fulfill({ json: { success: true, data } });
  });
  if (isSettling) {
    await page.route(`**/api/photos?at=${days[0]?.date}*`, async (route) => {
      const response = await account.client.get("/api/photos");
      const photos = response
        .list("data.photos")
        .map((photo) => ({ ...Object(photo), takenAt: `${days[0]?.date}T12:00:00Z` }));
      return route.fulfill({ json: { success: true, data: { photos, nextCursor: null, isIndexing: false } } });
    });
  }
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Upload photos" }).click();
  const buffer = Buffer.from(await picture(Number(takenAt.slice(2, 4)), takenAt));
  await (await chooser).setFiles({ name, mimeType: "image/jpeg", buffer });
  return page;
}

/** Slides change only by keys, and by `nextSlide`: on a busy machine, the time of a slide may end before the next line. */
async function holdSlides(page: Page): Promise<void> {
  await page.evaluate(() => {
    window.setTimeout = new Proxy(window.setTimeout, {
      apply: (wait, self, [then, ms, ...more]) => {
        if (ms !== 3000 && ms !== 5000) return Reflect.apply(wait, self, [then, ms, ...more]);
        Reflect.set(window, `endOf${ms}`, then);
        return 0;
      },
    });
  });
}

/** Ends the time of a slide that is shown for this many milliseconds. */
async function nextSlide(page: Page, ms: 3000 | 5000): Promise<void> {
  await page.waitForFunction((name) => name in window, `endOf${ms}`);
  await page.evaluate((name) => Reflect.get(window, name)(), `endOf${ms}`);
}

const PER_DAY = 25;

/** Consecutive days, newest first. */
function daysFrom(newest: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) =>
    new Date(Date.parse(newest) - index * 86_400_000).toISOString().slice(0, 10),
  );
}

/** A photo record for a photo that the server does not have. */
function photoOf(date: string, index: number) {
  return {
    id: `file_${date}_${index}`,
    type: "file",
    name: `${date} ${index + 1}.jpg`,
    folder: "/",
    url: `/api/files/file_${date}_${index}/download`,
    version: 1,
    mimeType: "image/jpeg",
    size: DOT.length,
    tags: [],
    isVideo: false,
    durationSeconds: null,
    takenAt: `${date}T12:00:00.000Z`,
    hasThumbnail: false,
  };
}

const DOT = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>';

async function isFocused(locator: Locator): Promise<boolean> {
  return (await locator.count()) === 1 && locator.evaluate((element) => element === document.activeElement);
}

async function openWall(web: Web, account: Account, size: "phone" | "desktop" = "desktop"): Promise<Page> {
  const page = await web.open({ as: account, path: "/photos", size });
  await tile(page, "film.mp4").waitFor();
  return page;
}

/** Stores photos that were all taken on the same day. */
function storeOnOneDay(account: Account) {
  const fields = { capturedAt: "2018-09-10T12:00:00Z" };
  return async (seed: number, name: string) =>
    account.client.storedId(await picture(seed, "2018-09-10T12:00:00"), { name, type: "image/jpeg", fields });
}

describeWeb("the photos page", (web) => {
  let account: Account;

  beforeAll(async () => {
    account = await web.account("Ada Lovelace");
    await store(account.client);
  });

  test("shows a hint while it is empty, and then what is uploaded", async () => {
    const page = await web.open({ as: await web.account(), path: "/photos" });
    await page.getByText("No photos yet").waitFor();
    expect(await page.title()).toContain("Photos");
    await web.lookAt(page, "photos-empty");
    const chooser = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Upload photos" }).click();
    const buffer = Buffer.from(await picture(400, "2022-05-06T07:08:09"));
    await (await chooser).setFiles({ name: "first.jpg", mimeType: "image/jpeg", buffer });
    await tile(page, "first.jpg").waitFor();
  });

  test("a photo moves to the day it was taken on as soon as that is known, automatically", async () => {
    const account = await web.account();
    const page = await openUploading(web, account, { name: "late.jpg", takenAt: "2021-03-04T05:06:07" }, true);
    await page.getByRole("heading", { name: /^Thursday,? 4 March 2021$/ }).waitFor();
    await tile(page, "late.jpg").waitFor();
  });

  test("a photo whose day becomes known between two requests of the page is shown", async () => {
    const account = await web.account();
    const page = await openUploading(web, account, { name: "between.jpg", takenAt: "2020-02-03T05:06:07" }, false);
    await page.getByRole("heading", { name: /^Monday,? 3 February 2020$/ }).waitFor();
    await tile(page, "between.jpg").waitFor();
  });

  test("shows changes by another device when the person returns to the page", async () => {
    const account = await web.account();
    const store = storeOnOneDay(account);
    const gone = await store(18, "gone.jpg");
    const page = await web.open({ as: account, path: "/photos" });
    await tile(page, "gone.jpg").waitFor();
    // As many on that day as before, so the page can't notice the change by the number.
    expectStatus(await account.client.delete(`/api/files/${gone}`), 200);
    await store(19, "new.jpg");
    await page.evaluate(() => window.dispatchEvent(new Event("visibilitychange")));
    await tile(page, "new.jpg").waitFor();
    expect(await tile(page, "gone.jpg").count()).toBe(0);
  });

  test("shows them also if a response from before the change arrives after the return", async () => {
    // Once the old photo stayed for half a minute: while a request was on its way, the return requested nothing.
    const account = await web.account();
    const store = storeOnOneDay(account);
    const gone = await store(20, "gone.jpg");
    const page = await web.open({ as: account, path: "/trash" });
    // Without the regular refreshes, which hide that a return has no effect.
    await page.evaluate(() => {
      window.setInterval = new Proxy(window.setInterval, { apply: () => 0 });
    });
    const [isResponded, isReturned] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let requests = 0;
    await page.route(/\/api\/photos\?.*at=/, async (route) => {
      requests += 1;
      if (requests > 1) return route.continue();
      const response = await route.fetch();
      isResponded.resolve();
      await isReturned.promise;
      return route.fulfill({ response });
    });
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Photos" }).click();
    await isResponded.promise;
    expectStatus(await account.client.delete(`/api/files/${gone}`), 200);
    await store(21, "new.jpg");
    await page.evaluate(() => window.dispatchEvent(new Event("visibilitychange")));
    isReturned.resolve();
    await tile(page, "new.jpg").waitFor();
  });

  test("requests a thumbnail again that failed to load", async () => {
    const account = await web.account();
    const fields = { capturedAt: "2017-01-02T12:00:00Z" };
    const bytes = await picture(17, "2017-01-02T12:00:00");
    const id = await account.client.storedId(bytes, { name: "slow.jpg", type: "image/jpeg", fields });
    // The server has rendered the thumbnails: otherwise the page would have to request them more often.
    for (const size of ["small", "medium"]) {
      await eventually(`the ${size} thumbnail is made`, async () => {
        return (await account.client.get(`/api/files/${id}/download?thumbnail=${size}`)).status === 200;
      });
    }
    const page = await web.open({ as: account, path: "/trash" });
    web.expectProblems(page, /503/);
    let requests = 0;
    await page.route("**/download?thumbnail=*", (route) => {
      requests++;
      return requests === 1 ? route.fulfill({ status: 503 }) : route.continue();
    });
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Photos" }).click();
    await tile(page, "slow.jpg").waitFor();
    // An image that failed to load counts as complete for a moment, too.
    await page.waitForFunction(() =>
      [...document.querySelectorAll<HTMLImageElement>("main img")].some((one) => one.naturalWidth > 0),
    );
    expect(requests).toBe(2);
  });

  test("shows all days with their photos, with thumbnails only", async () => {
    const page = await openWall(web, account);
    const loaded: string[] = [];
    page.on("request", (request) => loaded.push(request.url()));
    await page.reload();
    await tile(page, "film.mp4").waitFor();
    await settled(page);
    await page.getByRole("heading", { level: 2, name: "August 2025" }).waitFor();
    // The reader's region decides whether there is a comma.
    await page.getByRole("heading", { level: 3, name: /^Sunday,? 17 August 2025$/ }).waitFor();
    await page.getByRole("heading", { level: 3, name: /^Saturday,? 16 August 2025$/ }).waitFor();
    const contents = loaded.filter((url) => url.includes("/download"));
    expect(contents.length).toBeGreaterThan(5);
    expect(contents.filter((url) => !url.includes("thumbnail="))).toEqual([]);
    await page.getByText("62 items").waitFor();
    await web.lookAt(page, "photos");
  });

  test("opens with few scripts, asks for the same data once, and moves nothing while it loads", async () => {
    for (const viewport of [
      { width: 390, height: 844 },
      { width: 1366, height: 900 },
    ]) {
      const context = { viewport, serviceWorkers: "block" } as const;
      // oxlint-disable-next-line no-await-in-loop -- one page at a time
      const page = await web.open({ as: account, path: "/trash", isFirstVisit: true, context });
      const requests: URL[] = [];
      page.on("request", (request) => requests.push(new URL(request.url())));
      await page.goto(new URL("/photos", page.url()).href);
      await tile(page, "film.mp4").waitFor();
      await settled(page);
      const shifts = await page.evaluate(
        () =>
          new Promise<number>((resolve) => {
            const observer = new PerformanceObserver((list) => {
              const values = list.getEntries().map((entry) => Number(Reflect.get(entry, "value")));
              resolve(values.reduce((sum, value) => sum + value, 0));
            });
            observer.observe({ type: "layout-shift", buffered: true });
            // Without any shift the observer is never called.
            requestIdleCallback(() => resolve(0));
          }),
      );
      expect(shifts).toBeLessThan(0.01);
      const scripts = requests.filter(({ pathname }) => /^\/assets\/.*\.js$/.test(pathname));
      expect(scripts.length).toBeLessThan(30);
      const data = requests.filter(({ pathname }) => pathname.startsWith("/api/") && !pathname.endsWith("/download"));
      const addresses = data.map(({ pathname, search }) => pathname + search);
      expect(addresses).toContain("/api/photos/timeline");
      expect(addresses).toEqual([...new Set(addresses)]);
    }
  });

  test("goes to any month with the timeline, by keyboard and by mouse", async () => {
    const page = await openWall(web, account, "phone");
    await timeline(page).focus();
    await page.keyboard.press("End");
    await page.getByRole("heading", { name: /^Thursday,? 10 October 2019$/ }).waitFor();
    await tile(page, "2019-10-10 8.jpg").waitFor();
    await page.keyboard.press("Home");
    await tile(page, "film.mp4").waitFor();
    await eventually("the timeline is at the newest month", async () => {
      return (await timeline(page).getAttribute("aria-valuetext")) === "August 2025";
    });
    await page.keyboard.press("ArrowDown");
    await eventually("the timeline is a month further", async () => {
      return (await timeline(page).getAttribute("aria-valuetext")) === "June 2025";
    });
    await page.keyboard.press("PageDown");
    await eventually("the timeline is a year further", async () => {
      return (await timeline(page).getAttribute("aria-valuetext")) === "December 2024";
    });
    const slider = await timeline(page).boundingBox();
    const grid = await page.getByRole("region", { name: "Photos, newest first" }).boundingBox();
    if (slider === null || grid === null) throw new Error("the grid is not shown");
    await page.mouse.move(slider.x + slider.width / 2, slider.y + slider.height / 2);
    await page.mouse.down();
    await page.mouse.move(slider.x + slider.width / 2, grid.y + grid.height - 2, { steps: 5 });
    await timeline(page).getByText("October 2019", { exact: true }).waitFor();
    await page.mouse.up();
    await tile(page, "2019-10-10 8.jpg").waitFor();
  });

  test("selects by mouse, with Shift a range, and by day; tags the selection", async () => {
    const page = await openWall(web, account);
    await tile(page, "2025-08-17 2.jpg").hover();
    await box(page, "2025-08-17 2.jpg").click();
    await bar(page).getByText("1 selected").waitFor();
    await tile(page, "2025-08-17 5.jpg").click({ modifiers: ["Shift"] });
    await bar(page).getByText("4 selected").waitFor();
    expect(await box(page, "2025-08-17 4.jpg").isChecked()).toBe(true);
    await page.getByRole("button", { name: /^Select everything from Saturday,? 16 August 2025$/ }).click();
    await bar(page).getByText("9 selected").waitFor();
    await web.lookAt(page, "photos-selected");
    await bar(page).getByRole("button", { name: "Edit tags…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox").or(dialog.getByRole("combobox")).first().fill("holiday");
    await dialog.getByRole("button", { name: "Apply" }).click();
    await dialog.waitFor({ state: "detached" });
    await eventually("the photos carry the tag", async () => {
      const response = await account.client.get("/api/photos?tags=holiday");
      return response.list("data.photos").length === 9;
    });
    await page.keyboard.press("Escape");
    await bar(page).waitFor({ state: "hidden" });
  });

  test("is used by keyboard alone: moving, opening, selecting, trash and undo", async () => {
    const own = await web.account();
    await store(own.client);
    const page = await openWall(web, own);
    await tile(page, "film.mp4").focus();
    await page.keyboard.press("ArrowRight");
    await eventually("the next has the focus", () => isFocused(tile(page, "2025-08-17 1.jpg")));
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    await eventually("and again", () => isFocused(tile(page, "2025-08-17 1.jpg")));
    await page.keyboard.press("Enter");
    await untilFocused(page, page.getByRole("dialog", { name: "2025-08-17 1.jpg" }));
    await page.keyboard.press("ArrowRight");
    await closeByKey(page, page.getByRole("dialog", { name: "2025-08-17 2.jpg" }));
    await eventually("the one that was shown has the focus", () => isFocused(tile(page, "2025-08-17 2.jpg")));
    await page.keyboard.press("Space");
    await page.keyboard.press("Shift+ArrowRight");
    await bar(page).getByText("2 selected").waitFor();
    await page.keyboard.press("Delete");
    await eventually("both are in the trash", async () => {
      return (await own.client.get("/api/photos/timeline")).at("data.total") === 60;
    });
    await tile(page, "2025-08-17 3.jpg").waitFor({ state: "detached" });
    await page.getByText("60 items").waitFor();
    await undo(page, "2 items moved to trash.");
    await page.getByText("62 items").waitFor();
    await page.keyboard.press("End");
    await page.keyboard.press("Tab");
    expect((await own.client.get("/api/photos/timeline")).at("data.total")).toBe(62);
  });

  test("marks videos, and shows only videos or only photos", async () => {
    const page = await openWall(web, account);
    await page.getByRole("combobox", { name: "Show" }).selectOption("video");
    await page.getByText("1 item", { exact: true }).waitFor();
    await tile(page, "film.mp4").waitFor();
    await eventually("it is the only one", async () => {
      return (await page.getByRole("button", { name: /^(Photo|Video) / }).count()) === 1;
    });
    await page.getByRole("combobox", { name: "Show" }).selectOption("photo");
    await page.getByText("61 items").waitFor();
    await tile(page, "film.mp4").waitFor({ state: "detached" });
  });

  test("a long press selects, and taps then select more", async () => {
    const page = await openWall(web, account, "phone");
    const first = tile(page, "2025-08-17 1.jpg");
    await first.dispatchEvent("pointerdown", { pointerType: "touch", clientX: 100, clientY: 200 });
    await bar(page).getByText("1 selected").waitFor();
    await first.dispatchEvent("pointerup", { pointerType: "touch" });
    await tile(page, "2025-08-17 2.jpg").tap();
    await bar(page).getByText("2 selected").waitFor();
    await page.getByRole("button", { name: "Clear selection" }).tap();
    await bar(page).waitFor({ state: "hidden" });
    await eventually("the last that was touched has the focus", () => isFocused(tile(page, "2025-08-17 2.jpg")));
  });

  test("downloads the selection as one archive, saved by the browser", async () => {
    const page = await openWall(web, account);
    await tile(page, "2025-08-17 1.jpg").click({ modifiers: ["Control"] });
    await tile(page, "2025-08-17 2.jpg").click();
    await bar(page).getByText("2 selected").waitFor();
    const download = page.waitForEvent("download");
    await bar(page).getByRole("button", { name: "Download" }).click();
    expect((await download).suggestedFilename()).toMatch(/\.zip$/);
  });

  test("renders only what is visible of a hundred thousand, and reaches each of them", async () => {
    const page = await web.open({ as: await web.account(), path: "/trash" });
    const days = Array.from({ length: 4_000 }, (_, index) => ({
      date: new Date(Date.UTC(2025, 11, 31) - index * 86_400_000).toISOString().slice(0, 10),
      count: 25,
    }));
    await page.route("**/api/photos/timeline*", (route) =>
      route.fulfill({ json: { success: true, data: { days, total: 100_000, isIndexing: false, isSettling: false } } }),
    );
    const requests: string[] = [];
    await page.route(/\/api\/photos\?/, (route) => {
      const { searchParams } = new URL(route.request().url());
      const at = searchParams.get("at") ?? "";
      requests.push(at);
      const from = days.findIndex(({ date }) => date === at);
      const photos = days.slice(from, from + Number(searchParams.get("limit")) / 25).flatMap(({ date }) =>
        Array.from({ length: 25 }, (_, index) => ({
          id: `file_${date}_${index}`,
          name: `${date} ${index + 1}.jpg`,
          isVideo: false,
          durationSeconds: null,
          takenAt: `${date}T12:00:00.000Z`,
          hasThumbnail: false,
        })),
      );
      return route.fulfill({ json: { success: true, data: { photos, nextCursor: null, isIndexing: false } } });
    });
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Photos" }).click();
    await tile(page, "2025-12-31 1.jpg").focus();
    await page.keyboard.press("End");
    const oldest = days.at(-1)?.date ?? "";
    await eventually("the oldest has the focus", () => isFocused(tile(page, `${oldest} 25.jpg`)));
    await timeline(page).focus();
    for (let count = 0; count < 5; count++) await page.keyboard.press("PageUp");
    await tile(page, "2020-12-31 1.jpg").waitFor();
    // Photos that were skipped by the jump were not requested.
    expect(requests.length).toBeLessThan(40);
    expect(await page.locator("[data-photo]").count()).toBeLessThan(250);
  });

  test("the next photo is the neighbor, even if others added days while one was shown", async () => {
    const page = await web.open({ as: await web.account(), path: "/trash" });
    const older = daysFrom("2024-12-31", 40);
    let days = older;
    await page.route("**/api/photos/timeline*", (route) => {
      const total = days.length * PER_DAY;
      const counted = days.map((date) => ({ date, count: PER_DAY }));
      return route.fulfill({
        json: { success: true, data: { days: counted, total, isIndexing: false, isSettling: false } },
      });
    });
    await page.route(/\/api\/photos\?/, (route) => {
      const { searchParams } = new URL(route.request().url());
      const from = days.indexOf(searchParams.get("at") ?? "");
      const photos = days
        .slice(from, from + Number(searchParams.get("limit")) / PER_DAY)
        .flatMap((date) => Array.from({ length: PER_DAY }, (_, index) => photoOf(date, index)));
      return route.fulfill({ json: { success: true, data: { photos, nextCursor: null, isIndexing: false } } });
    });
    await page.route(/\/api\/files\/file_/, (route) => {
      const [, date = "", index = ""] = /file_([\d-]+)_(\d+)(\/download)?/.exec(route.request().url()) ?? [];
      if (route.request().url().includes("/download")) {
        return route.fulfill({ contentType: "image/svg+xml", body: DOT });
      }
      const data = { ...photoOf(date, Number(index)), capturedAt: `${date}T12:00:00.000Z` };
      return route.fulfill({ json: { success: true, data } });
    });
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Photos" }).click();
    const newest = older[0] ?? "";
    await tile(page, `${newest} 1.jpg`).press("Enter");
    const shown = (name: string) => page.getByRole("dialog", { name, exact: true });
    await untilFocused(page, shown(`${newest} 1.jpg`));
    days = [...daysFrom("2025-12-31", 13), ...older];
    await page.evaluate(() => window.dispatchEvent(new Event("visibilitychange")));
    await shown(`${newest} 1.jpg`)
      .getByText("326 of 1,325")
      .or(shown(`${newest} 1.jpg`).getByText("326 of 1325"))
      .waitFor();
    await page.keyboard.press("ArrowRight");
    await shown(`${newest} 2.jpg`).waitFor();
    await page.keyboard.press("ArrowLeft");
    await shown(`${newest} 1.jpg`).waitFor();
    await page.keyboard.press("ArrowLeft");
    await shown(`2025-12-19 ${PER_DAY}.jpg`).waitFor();
    await page.keyboard.press("End");
    await shown(`${older.at(-1)} ${PER_DAY}.jpg`).waitFor();
  });

  /** The page with 1,200 days of photos. The shapes of all but the newest come when the test releases them. */
  async function openWithLateShapes() {
    const page = await web.open({ as: await web.account(), path: "/trash" });
    const days = daysFrom("2024-12-31", 1_200);
    await page.route("**/api/photos/timeline*", (route) => {
      const data = { days: days.map((date) => ({ date, count: 25 })), total: 30_000, isIndexing: false };
      return route.fulfill({ json: { success: true, data: { ...data, isSettling: false } } });
    });
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    await page.route("**/api/photos/aspects*", async (route) => {
      const at = new URL(route.request().url()).searchParams.get("at");
      // The first view has its shapes. The others come late, and are much narrower than estimated.
      if (at !== null) await isReleased;
      const from = Math.max(0, days.indexOf(at ?? ""));
      const listed = days.slice(from, from + (at === null ? 20 : 80));
      const data = { days: listed.map((date) => ({ date, aspects: Array(25).fill(50) })), nextCursor: null };
      return route.fulfill({ json: { success: true, data } });
    });
    await page.route(/\/api\/photos\?/, (route) => {
      const { searchParams } = new URL(route.request().url());
      const from = days.indexOf(searchParams.get("at") ?? "");
      const listed = days.slice(from, from + Number(searchParams.get("limit")) / 25);
      const photos = listed.flatMap((date) => Array.from({ length: 25 }, (_, index) => photoOf(date, index)));
      return route.fulfill({ json: { success: true, data: { photos, nextCursor: null, isIndexing: false } } });
    });
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Photos" }).click();
    const region = page.getByRole("region", { name: "Photos, newest first" });
    await tile(page, `${days[0]} 1.jpg`).waitFor();
    const height = await region.evaluate((element) => element.scrollHeight);
    const releaseShapes = async () => {
      release();
      await eventually("the shapes change the height", async () => {
        return (await region.evaluate((element) => element.scrollHeight)) !== height;
      });
    };
    return { page, region, days, releaseShapes };
  }

  test("stays at its photo when the shapes of photos above it become known, and remembers the size", async () => {
    const { page, region, days, releaseShapes } = await openWithLateShapes();
    await region.evaluate((element) => (element.scrollTop = element.scrollHeight / 2));
    const name = await region.evaluate(async (element) => {
      const view = element.getBoundingClientRect();
      for (;;) {
        await new Promise((frame) => requestAnimationFrame(frame));
        const shown = [...element.querySelectorAll("[data-photo]")].find(
          (one) => one.getBoundingClientRect().bottom > view.top + 60,
        );
        if (shown !== undefined) return shown.getAttribute("aria-label") ?? "";
      }
    });
    const topOf = () =>
      region.evaluate((element, label) => {
        const shown = [...element.querySelectorAll("[data-photo]")].find(
          (one) => one.getAttribute("aria-label") === label,
        );
        return shown === undefined ? Number.NaN : shown.getBoundingClientRect().top;
      }, name);
    const before = await topOf();
    await releaseShapes();
    await eventually("the photo is where it was", async () => Math.abs((await topOf()) - before) < 240);
    await page.getByRole("combobox", { name: "Photo size" }).selectOption("small");
    await page.reload();
    await tile(page, `${days[0]} 1.jpg`).waitFor();
    expect(await page.getByRole("combobox", { name: "Photo size" }).inputValue()).toBe("small");
  });

  test("loses no key of the timeline if shapes become known before the page has seen that it scrolled", async () => {
    const { page, region, days, releaseShapes } = await openWithLateShapes();
    await timeline(page).focus();
    await page.keyboard.press("ArrowDown");
    await tile(page, `${days[31]} 1.jpg`).waitFor();
    // The browser sends the event of a scroll with its next frame, which can be late.
    await region.evaluate((element) => {
      const hold = (event: Event) => event.stopImmediatePropagation();
      document.addEventListener("scroll", hold, true);
      element.addEventListener("release", () => document.removeEventListener("scroll", hold, true));
    });
    await page.keyboard.press("PageDown");
    await releaseShapes();
    await region.evaluate((element) => {
      element.dispatchEvent(new Event("release"));
      element.dispatchEvent(new Event("scroll"));
    });
    await tile(page, "2023-12-31 1.jpg").waitFor({ timeout: 10_000 });
  });

  test("plays a slideshow from the page, which pauses, moves, and ends with Back", async () => {
    const page = await openWall(web, account);
    const show = page.getByRole("dialog", { name: "Slideshow" });
    await holdSlides(page);
    // Without an end: the slideshow skips a video that can't be played.
    await page.route("**/download?*inline=true*", () => undefined);
    const requested = page.waitForRequest((request) => request.url().includes("inline=true"));
    await page.getByRole("button", { name: "Slideshow" }).click();
    await show.getByLabel("film.mp4").waitFor();
    // Watching is not a download, as in the preview.
    expect(new URL((await requested).url()).searchParams.get("preview")).toBe("true");
    await untilFocused(page, show);
    await page.keyboard.press("ArrowRight");
    await show.getByRole("img", { name: "2025-08-17 1.jpg" }).waitFor();
    // Across the photos of a day and of a chunk, without a pause.
    await show.getByRole("combobox", { name: "Time per photo" }).selectOption("3");
    await nextSlide(page, 3000);
    await show.getByRole("img", { name: "2025-08-17 2.jpg" }).waitFor();
    await show.getByRole("button", { name: "Pause" }).click();
    await page.keyboard.press("ArrowLeft");
    await show.getByRole("img", { name: "2025-08-17 1.jpg" }).waitFor();
    await show.getByRole("button", { name: "Play", exact: true }).waitFor();
    await page.goBack();
    await show.waitFor({ state: "detached" });
    expect(new URL(page.url()).pathname).toBe("/photos");
    await tile(page, "film.mp4").waitFor();
  });

  test("plays a slideshow of the selection, and from the preview, which shows the last photo at the end", async () => {
    const page = await openWall(web, account);
    await holdSlides(page);
    const show = page.getByRole("dialog", { name: "Slideshow" });
    await tile(page, "2025-08-17 1.jpg").click({ modifiers: ["Control"] });
    await tile(page, "2025-08-17 4.jpg").click();
    await bar(page).getByRole("button", { name: "Slideshow" }).click();
    await show.getByRole("img", { name: "2025-08-17 1.jpg" }).waitFor();
    await untilFocused(page, show);
    await page.keyboard.press("ArrowRight");
    await show.getByRole("img", { name: "2025-08-17 4.jpg" }).waitFor();
    await closeByKey(page, show);
    // Escape ended the slideshow, not the selection.
    await bar(page).getByText("2 selected").waitFor();
    await page.getByRole("button", { name: "Clear selection" }).click();
    await tile(page, "2025-08-17 3.jpg").press("Enter");
    await untilFocused(page, page.getByRole("dialog", { name: "2025-08-17 3.jpg" }));
    await page.keyboard.press("p");
    await show.getByRole("img", { name: "2025-08-17 3.jpg" }).waitFor();
    await untilFocused(page, show);
    await page.keyboard.press("Space");
    await show.getByRole("button", { name: "Play", exact: true }).waitFor();
    await page.keyboard.press("ArrowRight");
    await show.getByRole("img", { name: "2025-08-17 4.jpg" }).waitFor();
    // Once the address had followed, after 300 ms, the preview showed the photo from which the slideshow began.
    await page.waitForTimeout(500);
    await closeByKey(page, show);
    await page.getByRole("dialog", { name: "2025-08-17 4.jpg" }).waitFor();
  });

  test("shows this day in earlier years until it is hidden for today", async () => {
    const own = await web.account();
    const now = new Date();
    const day = `${String(now.getMonth() + 1).padStart(2, "0")}-${String(now.getDate()).padStart(2, "0")}`;
    // A leap year, so that every day exists.
    const year = 2020;
    for (const hour of ["09", "10"]) {
      const takenAt = `${year}-${day}T${hour}:00:00`;
      await own.client.stored(await picture(Number(hour), takenAt), {
        name: `then ${hour}.jpg`,
        type: "image/jpeg",
        fields: { capturedAt: `${takenAt}Z` },
      });
    }
    const page = await web.open({ as: own, path: "/trash", context: { timezoneId: process.env["TZ"] ?? "UTC" } });
    // At midnight, another day would begin.
    await page.clock.setFixedTime(now);
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Photos" }).click();
    await holdSlides(page);
    const row = page.getByRole("region", { name: "On this day" });
    await row.getByRole("button", { name: `${now.getFullYear() - year} years ago` }).click();
    const show = page.getByRole("dialog", { name: "Slideshow" });
    await show.getByRole("img", { name: "then 10.jpg" }).waitFor();
    await untilFocused(page, show);
    await page.keyboard.press("ArrowRight");
    await show.getByRole("img", { name: "then 09.jpg" }).waitFor();
    await closeByKey(page, show);
    await row.getByRole("button", { name: "Hide for today" }).click();
    await row.waitFor({ state: "detached" });
    await page.reload();
    await tile(page, "then 10.jpg").waitFor();
    expect(await row.count()).toBe(0);
  });

  test("asks for this day in earlier years before it is rendered, once, and not while it is hidden", async () => {
    const page = await web.open({ as: account, path: "/trash", isFirstVisit: true });
    // At midnight, the page would ask for another day.
    await page.clock.setFixedTime(new Date("2025-09-01T12:00:00Z"));
    const dates: (string | null)[] = [];
    page.on("request", (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === "/api/photos/memories") dates.push(searchParams.get("date"));
    });
    // Without the session, nothing is rendered.
    const requested = page.waitForRequest(/\/api\/photos\/memories/);
    await page.route("**/api/auth/session", async (route) => {
      await requested;
      await route.continue();
    });
    await page.goto(new URL("/photos", page.url()).href);
    await tile(page, "film.mp4").waitFor();
    expect(dates).toEqual(["2025-09-01"]);
    await page.evaluate(() => localStorage.setItem("larder-memories-dismissed", "2025-09-01"));
    await page.unroute("**/api/auth/session");
    await page.reload();
    await tile(page, "film.mp4").waitFor();
    expect(dates).toEqual(["2025-09-01"]);
  });

  test("a video without a picture shows its name and its length, which are in the name of its button", async () => {
    const own = await web.account();
    await own.client.stored(liveVideo(9, {}), { name: "clip.mov", type: "video/quicktime" });
    await eventually("the length is known", async () => {
      return (await own.client.get("/api/photos")).at("data.photos.0.durationSeconds") === 9;
    });
    const page = await web.open({ as: own, path: "/photos" });
    await page.getByRole("button", { name: /^Video clip.mov, 0:09,/ }).waitFor();
    await web.lookAt(page, "photos-video");
  });

  test("a viewer can't change anything", async () => {
    const viewer = await web.server().addUser(["--role", "viewer"]);
    const page = await web.open({ as: viewer, path: "/photos" });
    await page.getByText("No photos yet").waitFor();
    expect(await page.getByRole("button", { name: "Upload photos" }).count()).toBe(0);
    expectStatus(await viewer.client.get("/api/photos"), 200);
  });
});
