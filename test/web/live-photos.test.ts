// Live Photos in the grid and in the preview.
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { Client } from "../support/client.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { liveVideo, livePhoto, motionPhoto } from "../support/live-photos.ts";
import { row } from "./files-helpers.ts";
import { describeWeb } from "./support/browser.ts";
import { untilFocused } from "./support/focus.ts";
import { undo } from "./support/undo.ts";

/** Stores a pair of files and a photo with a video inside, and waits until the pair is found. */
async function storeLivePhotos(client: Client): Promise<{ readonly pair: string; readonly inside: string }> {
  const contentId = crypto.randomUUID();
  const takenAt = "2024:05:06 07:08:09";
  const pair = await client.storedId(await livePhoto(900, { contentId, takenAt }), {
    name: "A.jpg",
    type: "image/jpeg",
  });
  await client.stored(liveVideo(2, { contentId, takenAt }), { name: "A.mov", type: "video/quicktime" });
  const photo = await motionPhoto(40_000, liveVideo(2, {}));
  const fields = { capturedAt: "2023-01-01T00:00:00Z" };
  const inside = await client.storedId(photo, { name: "B.jpg", type: "image/jpeg", fields });
  await eventually("the pair is found", async () => {
    const response = await client.get("/api/photos?limit=10");
    expectStatus(response, 200);
    return response.list("data.photos").length === 2;
  });
  return { pair, inside };
}

const tile = (page: Page, name: string) => page.getByRole("button", { name: new RegExp(`^Photo ${name}, Live,`) });

describeWeb("Live Photos", (web) => {
  test("are one tile with a mark, play in the preview, and go to the trash and back with their video", async () => {
    const account = await web.account();
    const { client } = account;
    await storeLivePhotos(client);
    const page = await web.open({ as: account, path: "/photos" });
    await tile(page, "B.jpg").waitFor();
    await tile(page, "A.jpg").click();
    const preview = page.getByRole("dialog");
    // A browser without the decoder says so. The request is what counts here.
    web.expectProblems(page, /motion/);
    const sent = page.waitForRequest((request) => request.url().includes("/motion?preview=true"));
    await preview.getByRole("button", { name: "Live" }).press("Enter");
    await sent;
    await page.getByText("Your browser can't play this file").waitFor();
    await web.lookAt(page, "live-photo");
    // Resting on the picture plays the video as well.
    await page.route("**/motion?preview=true*", () => undefined);
    await page.mouse.move(500, 400);
    await page.mouse.down();
    const video = page.getByLabel("Video of A.jpg");
    await video.waitFor();
    await page.mouse.up();
    await video.waitFor({ state: "detached" });
    await page.unroute("**/motion?preview=true*");
    await preview.getByRole("button", { name: "More actions" }).click();
    const download = page.waitForEvent("download");
    await page.getByRole("menuitem", { name: "Download video" }).click();
    expect((await download).suggestedFilename()).toBe("A.mov");
    await preview.getByRole("button", { name: "Move to trash" }).click();
    await eventually("both are in the trash", async () => {
      return (await client.get("/api/files/trash")).list("data.files").length === 2;
    });
    await undo(page, "1 item moved to trash.");
    await eventually("both are back", async () => {
      return (await client.get("/api/files/trash")).list("data.files").length === 0;
    });
    const names = (await client.get("/api/files?folder=/")).strings("data.files", "name");
    expect(names.toSorted()).toEqual(["A.jpg", "A.mov", "B.jpg"]);
  });

  test("play in the preview of the files page, where their files remain separate", async () => {
    const account = await web.account();
    const { client } = account;
    const { pair, inside } = await storeLivePhotos(client);
    await client.stored(await livePhoto(901, {}), { name: "C.jpg", type: "image/jpeg" });
    const page = await web.open({ as: account });
    await page.route("**/motion?preview=true*", () => undefined);
    await row(page, "A.jpg").dblclick();
    const preview = page.getByRole("dialog");
    await untilFocused(page, preview);
    const live = preview.getByRole("button", { name: "Live", exact: true });
    await live.waitFor();
    await live.click();
    await page.getByLabel("Video of A.jpg").waitFor();
    await live.click();
    await web.lookAt(page, "live-photo-files");
    await page.keyboard.press("ArrowRight");
    // The video itself, which is no photo.
    await page.getByRole("dialog", { name: "A.mov" }).waitFor();
    await live.waitFor({ state: "detached" });
    await page.keyboard.press("ArrowRight");
    await page.getByRole("dialog", { name: "B.jpg" }).waitFor();
    await live.waitFor();
    const info = page.waitForResponse((response) => /\/api\/files\/file_\w+$/.test(response.url()));
    await page.keyboard.press("ArrowRight");
    await page.getByRole("dialog", { name: "C.jpg" }).waitFor();
    await info;
    await live.waitFor({ state: "detached" });
    // A link to the photo shows it too, and the trash gets only one of the files.
    await page.goto(`${new URL(page.url()).origin}/files?view=${pair}`);
    await live.waitFor();
    await preview.getByRole("button", { name: "Move to trash" }).click();
    await eventually("the photo is in the trash", async () => {
      return (await client.get("/api/files/trash")).list("data.files").length === 1;
    });
    expect((await client.get(`/api/files/${inside}`)).at("data.motion")).toBe("embedded");
  });

  test("play in the grids of photos and albums while the mouse is on them", async () => {
    const account = await web.account();
    const { client } = account;
    const { pair, inside } = await storeLivePhotos(client);
    const created = await client.post("/api/albums", { name: "Lake", fileIds: [inside, pair] });
    const page = await web.open({ as: account, path: "/photos" });
    await page.emulateMedia({ reducedMotion: "no-preference" });
    // Requests without a response: this browser has no decoder for the video.
    await page.route("**/motion?preview=true*", () => undefined);
    const video = (id: string) => page.locator(`video[src*="${id}"]`);
    for (const path of ["/photos", `/albums/${created.string("data.id")}`]) {
      // oxlint-disable-next-line no-await-in-loop -- one page after the other
      await page.goto(new URL(path, page.url()).href);
      await tile(page, "A.jpg").hover();
      await video(pair).waitFor();
      await tile(page, "B.jpg").hover();
      await video(inside).waitFor();
      await video(pair).waitFor({ state: "detached" });
    }
    await page.emulateMedia({ reducedMotion: "reduce" });
    await page.mouse.move(5, 5);
    await video(inside).waitFor({ state: "detached" });
  });
});
