// The page of an album: adding photos, and the order of the files.
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import sharp from "sharp";
import type { Account, Client } from "../support/client.ts";
import { eventually } from "../support/expect.ts";
import { describeWeb, type Web } from "./support/browser.ts";
import { lookAt } from "./support/look.ts";
import { undo } from "./support/undo.ts";

const SIZES = {
  phone: { width: 390, height: 844 },
  tablet: { width: 820, height: 1180 },
  wide: { width: 1366, height: 900 },
} as const;

/** Pictures of different shapes and months, in the order of their names. */
async function withPictures(web: Web, count: number): Promise<{ account: Account; ids: string[] }> {
  const account = await web.account();
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const background = { r: (index * 47) % 256, g: 120, b: (index * 91) % 256 };
    const [width, height] = [60 + (index % 3) * 60, 120];
    const content = await sharp({ create: { width, height, channels: 3, background } })
      .png()
      .toBuffer();
    const month = String(12 - (index % 4)).padStart(2, "0");
    const fields = { capturedAt: `2025-${month}-05T10:00:00Z` };
    ids.push(
      await account.client.storedId(new Uint8Array(content), { name: `${index}.png`, type: "image/png", fields }),
    );
  }
  return { account, ids };
}

async function makeAlbum(client: Client, fileIds: readonly string[]): Promise<string> {
  return (await client.post("/api/albums", { name: "Lake", fileIds })).string("data.id");
}

async function namesIn(client: Client, albumId: string): Promise<string[]> {
  return (await client.get(`/api/albums/${albumId}/items`)).strings("data.items", "name");
}

const photo = (page: Page, name: string) => page.getByRole("button", { name: `Photo ${name}` });
const select = (page: Page, name: string) =>
  page.getByRole("checkbox", { name: `Select ${name}` }).click({ force: true });

async function centerOf(page: Page, name: string): Promise<{ x: number; y: number; width: number }> {
  const box = await photo(page, name).boundingBox();
  if (box === null) throw new Error(`${name} is not visible`);
  return { x: box.x + box.width / 2, y: box.y + box.height / 2, width: box.width };
}

/** Presses a photo, and moves the pointer to the start or the end of another one. */
async function drag(page: Page, name: string, target: string, side: "before" | "after"): Promise<void> {
  const from = await centerOf(page, name);
  const to = await centerOf(page, target);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(to.x + (to.width / 3) * (side === "before" ? -1 : 1), to.y, { steps: 6 });
  await page.locator("[data-drop]").waitFor();
}

/** Waits until the photos are shown in this order. */
async function expectOrder(page: Page, names: readonly string[]): Promise<void> {
  await page.waitForFunction(
    (expected) =>
      expected.every((name, at) =>
        document.querySelector(`[data-photo="${at}"]`)?.getAttribute("aria-label")?.includes(`Photo ${name},`),
      ),
    names,
  );
}

describeWeb("the page of an album", (web) => {
  test("adds photos of the library, and marks those that are in the album", async () => {
    const { account, ids } = await withPictures(web, 14);
    const [first = "", second = ""] = ids;
    const id = await makeAlbum(account.client, []);
    const page = await web.open({ as: account, path: `/albums/${id}`, hasOwnClock: true });
    await page.getByText("This album is empty").waitFor();
    await lookAt(page, "album-empty", SIZES);
    expect((await account.client.post(`/api/albums/${id}/items`, { fileIds: [first, second] })).status).toBe(200);
    // The dialog requests the files of the album if the page did so long ago. They replace the button that opened it.
    await page.clock.fastForward(11_000);
    await page.getByRole("button", { name: "Add photos" }).first().click();
    const dialog = page.getByRole("dialog", { name: "Add photos to “Lake”" });
    const contained = dialog.getByRole("checkbox", { name: /^0\.png, .*already in this album$/ });
    await contained.waitFor();
    expect(await contained.getAttribute("aria-disabled")).toBe("true");
    expect(await contained.isChecked()).toBe(true);
    await contained.click({ force: true });
    await dialog.getByText("0 selected").waitFor();
    expect(await dialog.getByRole("button", { name: "Add", exact: true }).isDisabled()).toBe(true);

    await dialog.getByRole("checkbox", { name: /^12\.png/ }).click();
    // By keys: to the next photo of the month, which is in the album, then to the one after it.
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Space");
    await dialog.getByText("2 selected").waitFor();
    await dialog.getByRole("checkbox", { name: "Select all from November 2025" }).click();
    await dialog.getByText("5 selected").waitFor();
    await lookAt(page, "album-add-photos", SIZES);
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("5 files added to “Lake”.").waitFor();
    // In the order in which they were taken, after those that were there.
    const names = await namesIn(account.client, id);
    expect(names.slice(0, 2)).toEqual(["0.png", "1.png"]);
    expect(names.slice(2, 5).toSorted()).toEqual(["13.png", "5.png", "9.png"]);
    expect(names.slice(5).toSorted()).toEqual(["12.png", "8.png"]);
    await expectOrder(page, names);
  });

  test("shows only the visible ones of 10,000 photos", async () => {
    const account = await web.account();
    const id = await makeAlbum(account.client, []);
    const page = await web.open({ as: account, path: `/albums/${id}` });
    const days = Array.from({ length: 50 }, (_, month) => ({
      date: new Date(Date.UTC(2025, 11 - month, 10)).toISOString().slice(0, 10),
      count: 200,
    }));
    await page.route("**/api/photos/timeline*", (route) =>
      route.fulfill({ json: { success: true, data: { days, total: 10_000, isIndexing: false, isSettling: false } } }),
    );
    await page.route(/\/api\/photos\?/, (route) => {
      const month = new URL(route.request().url()).searchParams.get("at") ?? "";
      const photos = Array.from({ length: 200 }, (_, at) => ({
        id: `${month}-${at}`,
        name: `${month}-${at}.jpg`,
        isVideo: false,
        durationSeconds: null,
        takenAt: `${month}-10T10:00:00.000Z`,
        hasThumbnail: false,
      }));
      return route.fulfill({ json: { success: true, data: { photos, nextCursor: null, isIndexing: false } } });
    });
    await page.getByRole("button", { name: "Add photos" }).click();
    const dialog = page.getByRole("dialog", { name: "Add photos to “Lake”" });
    await dialog.getByRole("checkbox", { name: /^2025-12-0\.jpg/ }).waitFor();
    expect(await dialog.locator("[data-photo]").count()).toBeLessThan(200);
    await dialog.getByRole("checkbox", { name: /^2025-12-0\.jpg/ }).click();
    await page.keyboard.press("End");
    await dialog.getByRole("checkbox", { name: /^2021-11-199\.jpg/ }).waitFor();
    expect(await dialog.locator("[data-photo]").count()).toBeLessThan(200);
    // A range from the first to the last photo.
    await dialog.getByRole("checkbox", { name: /^2021-11-199\.jpg/ }).click({ modifiers: ["Shift"] });
    await dialog.getByText("10,000 selected").waitFor();
  });

  test("shows photos in their shapes from the beginning", async () => {
    const { account, ids } = await withPictures(web, 9);
    await makeAlbum(account.client, ids);
    const page = await web.open({ as: account, path: "/albums" });
    const shapes = new Promise<void>((resolve) => {
      void page.route("**/api/albums/*/items*", async (route) => {
        // The layout does not wait for the files, and does not change with them.
        await page.locator("div.absolute.bg-sunken").first().waitFor();
        await page.evaluate(() => {
          const state = window as unknown as { shifts: number };
          state.shifts = 0;
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) state.shifts += (entry as unknown as { value: number }).value;
          }).observe({ type: "layout-shift" });
        });
        resolve();
        await route.continue();
      });
    });
    await page.getByRole("link", { name: /Lake/ }).click();
    await shapes;
    await photo(page, "8.png").waitFor();
    const ratios = await Promise.all(
      ["0.png", "1.png", "2.png"].map(async (name) => {
        const box = await photo(page, name).boundingBox();
        return box === null ? 0 : box.width / box.height;
      }),
    );
    for (const [at, expected] of [0.5, 1, 1.5].entries()) expect(ratios[at]).toBeCloseTo(expected, 1);
    expect(await page.evaluate(() => (window as unknown as { shifts: number }).shifts)).toBe(0);
    await lookAt(page, "album-shapes", SIZES);
  });

  test("moves a dragged file, or the selection, to where it is dropped", async () => {
    const { account, ids } = await withPictures(web, 6);
    const id = await makeAlbum(account.client, ids);
    const page = await web.open({ as: account, path: `/albums/${id}` });
    await photo(page, "5.png").waitFor();
    await drag(page, "4.png", "1.png", "before");
    await page.getByText("Move 1 item", { exact: true }).waitFor();
    await lookAt(page, "album-drag", { wide: SIZES.wide });
    const to = await centerOf(page, "1.png");
    await page.mouse.move(to.x - to.width / 3, to.y);
    await page.mouse.up();
    const moved = ["0.png", "4.png", "1.png", "2.png", "3.png", "5.png"];
    await expectOrder(page, moved);
    expect(await page.getByRole("dialog").count()).toBe(0);
    await eventually("the order is saved", async () => Bun.deepEquals(await namesIn(account.client, id), moved));

    await select(page, "0.png");
    await select(page, "2.png");
    await drag(page, "2.png", "5.png", "after");
    await page.getByText("Move 2 items", { exact: true }).waitFor();
    await page.mouse.up();
    const last = ["4.png", "1.png", "3.png", "5.png", "0.png", "2.png"];
    await expectOrder(page, last);

    await drag(page, "5.png", "4.png", "before");
    await page.keyboard.press("Escape");
    await page.locator("[data-drop]").waitFor({ state: "detached" });
    await page.mouse.up();
    await expectOrder(page, last);
    // Escape ended the drag only: the selection is still there.
    await page.getByText("2 selected").waitFor();
  });

  test("moves files by the menu on a phone, and undoes what the server rejects", async () => {
    const { account, ids } = await withPictures(web, 3);
    const id = await makeAlbum(account.client, ids);
    const page = await web.open({ as: account, path: `/albums/${id}`, size: "phone" });
    await photo(page, "0.png").waitFor();
    await photo(page, "0.png").focus();
    await page.keyboard.press("Space");
    await page.getByRole("toolbar").getByRole("button", { name: "More" }).click();
    await lookAt(page, "album-order-menu", { phone: SIZES.phone });
    await page.getByRole("menuitem", { name: "Move to end" }).click();
    await expectOrder(page, ["1.png", "2.png", "0.png"]);
    const moved = ["1.png", "2.png", "0.png"];
    await eventually("the order is saved", async () => Bun.deepEquals(await namesIn(account.client, id), moved));
    await page.route("**/items/move", (route) =>
      route.fulfill({ status: 404, json: { success: false, error: { code: "NOT_FOUND", message: "It is gone." } } }),
    );
    await page.getByRole("toolbar").getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Move to start" }).click();
    await page.getByText("It is gone.").waitFor();
    await expectOrder(page, ["1.png", "2.png", "0.png"]);
  });

  test("selects and marks files of pages that are not loaded", async () => {
    const account = await web.account();
    const ids: string[] = [];
    for (let at = 0; at < 350; at += 1) {
      ids.push(await account.client.storedId("x", { name: `${at}.jpg`, type: "image/jpeg" }));
    }
    const id = await makeAlbum(account.client, ids);
    const page = await web.open({ as: account, path: `/albums/${id}` });
    await photo(page, "0.jpg").waitFor();
    await select(page, "0.jpg");
    await page.keyboard.press("End");
    await photo(page, "349.jpg").waitFor();
    expect(await page.locator("[data-photo]").count()).toBeLessThan(150);
    await page.getByRole("checkbox", { name: "Select 349.jpg" }).click({ modifiers: ["Shift"] });
    await page.getByText("350 selected").waitFor();
    await page.keyboard.press("Shift+S");
    await page.getByText("350 items added to favorites.").waitFor();
    expect((await account.client.get("/api/favorites")).number("data.pagination.total")).toBe(350);
    await page.getByRole("toolbar").getByRole("button", { name: "Remove from favorites" }).click();
    await page.getByText("350 items removed from favorites.").waitFor();
    await page.keyboard.press("Delete");
    await page.getByText("This album is empty").waitFor();
    await undo(page, "350 files removed from the album.");
    await photo(page, "0.jpg").waitFor();
    expect(await namesIn(account.client, id)).toHaveLength(100);
  });
});
