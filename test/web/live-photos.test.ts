// Live Photos in the grid and in the preview.
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { eventually, expectStatus } from "../support/expect.ts";
import { liveVideo, livePhoto, motionPhoto } from "../support/live-photos.ts";
import { describeWeb } from "./support/browser.ts";

const tile = (page: Page, name: string) => page.getByRole("button", { name: new RegExp(`^Photo ${name}, Live,`) });

describeWeb("Live Photos", (web) => {
  test("are one tile with a mark, play in the preview, and go to the trash and back with their video", async () => {
    const account = await web.account();
    const { client } = account;
    const contentId = crypto.randomUUID();
    const takenAt = "2024:05:06 07:08:09";
    await client.stored(await livePhoto(900, { contentId, takenAt }), { name: "A.jpg", type: "image/jpeg" });
    await client.stored(liveVideo(2, { contentId, takenAt }), { name: "A.mov", type: "video/quicktime" });
    const inside = await motionPhoto(40_000, liveVideo(2, {}));
    await client.stored(inside, { name: "B.jpg", type: "image/jpeg", fields: { capturedAt: "2023-01-01T00:00:00Z" } });
    await eventually("the pair is found", async () => {
      const response = await client.get("/api/photos?limit=10");
      expectStatus(response, 200);
      return response.list("data.photos").length === 2;
    });
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
    await page.getByRole("button", { name: "Undo" }).click();
    await eventually("both are back", async () => {
      return (await client.get("/api/files/trash")).list("data.files").length === 0;
    });
    const names = (await client.get("/api/files?folder=/")).strings("data.files", "name");
    expect(names.toSorted()).toEqual(["A.jpg", "A.mov", "B.jpg"]);
  });
});
