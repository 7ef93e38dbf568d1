import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { expectStatus } from "../support/expect.ts";
import { jpegPhoto } from "../support/images.ts";
import { row } from "./files-helpers.ts";
import { describeWeb } from "./support/browser.ts";
import { closeByKey, untilFocused } from "./support/focus.ts";

/** Opens the details of an entry on the files page. */
async function openDetails(page: Page, name: string): Promise<void> {
  await row(page, name).click();
  await page.keyboard.press("i");
}

describeWeb("the details of a file", (web) => {
  test("show its properties, and store description, tags and fields", async () => {
    const account = await web.account();
    const { client } = account;
    const id = await client.storedId(await jpegPhoto(320, 240), { name: "beach.jpg", fields: { tags: "sea" } });
    await client.storedId("x", { name: "other.txt", fields: { tags: "harbour" } });
    const page = await web.open({ as: account });
    await openDetails(page, "beach.jpg");
    const panel = page.getByRole("region", { name: "Details of beach.jpg" });
    await panel.getByText("JPEG image").waitFor();
    await panel.getByLabel("Checksum").waitFor();
    await panel.getByLabel("Description").fill("The north beach.");
    await panel.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    // The tags of other files are suggested.
    await panel.locator('datalist option[value="harbour"]').waitFor({ state: "attached" });
    await panel.getByLabel("Add a tag").fill("harbour");
    await page.keyboard.press("Enter");
    await panel.getByRole("button", { name: "Remove tag harbour" }).waitFor();
    await panel.getByRole("button", { name: "Remove tag sea" }).click();
    await panel.getByRole("button", { name: "Remove tag sea" }).waitFor({ state: "detached" });
    await panel.getByRole("button", { name: "Add field" }).click();
    await panel.getByLabel("Field name").fill("weather");
    await panel.getByLabel("Value").fill("sunny");
    await page.keyboard.press("Enter");
    await panel.getByRole("button", { name: "Remove field weather" }).waitFor();
    await web.lookAt(page, "details");
    const info = await client.get(`/api/files/${id}`);
    expect(info.at("data.tags")).toEqual(["harbour"]);
    expect(info.at("data.metadata")).toEqual({ description: "The north beach.", weather: "sunny" });
  });

  test("say when a photo was taken in the reader's format, and the same date only once", async () => {
    const account = await web.account();
    const fields = { capturedAt: "2024-07-09T18:30:00+02:00" };
    await account.client.storedId(await jpegPhoto(32, 24), { name: "beach.jpg", fields });
    const page = await web.open({ as: account });
    await openDetails(page, "beach.jpg");
    const panel = page.getByRole("region", { name: "Details of beach.jpg" });
    await panel.getByText("9 Jul 2024, 18:30 (UTC+02:00)").waitFor();
    await panel.getByText("Uploaded", { exact: true }).waitFor();
    expect(await panel.getByText("Created", { exact: true }).count()).toBe(0);
  });

  test("cover the preview on phones, and show the file of the preview when they close", async () => {
    const account = await web.account();
    for (const name of ["1.txt", "2.txt"]) await account.client.storedId(name, { name });
    const page = await web.open({ as: account, size: "phone" });
    await row(page, "1.txt").dblclick();
    await untilFocused(page, page.getByRole("dialog", { name: "1.txt" }));
    await page.keyboard.press("i");
    await page.getByRole("complementary", { name: "Details" }).waitFor();
    await page.keyboard.press("ArrowRight");
    const second = page.getByRole("dialog", { name: "2.txt" });
    await second.waitFor();
    // Once the address had followed, after 300 ms, the details closed over the file that they were opened for.
    await page.waitForTimeout(500);
    await page.goBack();
    await page.getByRole("complementary", { name: "Details" }).waitFor({ state: "detached" });
    await second.waitFor();
    expect(await page.getByRole("dialog", { name: "1.txt" }).count()).toBe(0);
  });

  test("link to the albums that it is in", async () => {
    const account = await web.account();
    const { client } = account;
    const id = await client.storedId(await jpegPhoto(320, 240), { name: "beach.jpg" });
    await client.storedId("x", { name: "note.txt" });
    for (const name of ["Summer", "Best of 2025"])
      expectStatus(await client.post("/api/albums", { name, fileIds: [id] }), 201);
    const page = await web.open({ as: account });
    await openDetails(page, "note.txt");
    await page.getByRole("region", { name: "Details of note.txt" }).getByLabel("Checksum").waitFor();
    await row(page, "beach.jpg").click();
    const albums = page.getByRole("region", { name: "In albums" });
    await albums.getByRole("link", { name: "Summer" }).waitFor();
    expect(await albums.getByRole("link").allTextContents()).toEqual(["Best of 2025", "Summer"]);
    await web.lookAt(page, "details-albums");
    await row(page, "note.txt").click();
    await albums.waitFor({ state: "detached" });
    await row(page, "beach.jpg").dblclick();
    await untilFocused(page);
    await page.keyboard.press("i");
    await page.getByRole("dialog", { name: "beach.jpg" }).getByRole("link", { name: "Best of 2025" }).click();
    await page.getByRole("heading", { name: "Best of 2025" }).waitFor();
    await page.getByRole("button", { name: "Photo beach.jpg" }).waitFor();
  });

  test("show its versions, and restore or delete one", async () => {
    const account = await web.account();
    const { client } = account;
    const id = await client.storedId("first", { name: "note.txt" });
    expectStatus(await client.putContent(id, "second, longer"), 200);
    const page = await web.open({ as: account });
    await openDetails(page, "note.txt");
    const panel = page.getByRole("region", { name: "Details of note.txt" });
    await panel.getByRole("tab", { name: "Versions" }).click();
    const versions = panel.getByRole("list", { name: "Versions of note.txt" });
    await versions.getByText("9 bytes larger").waitFor();
    await web.lookAt(page, "versions");
    await versions.getByRole("button", { name: "Restore: Version 1" }).click();
    await versions.getByText("Version 3", { exact: true }).waitFor();
    expect((await client.get(`/api/files/${id}/download`)).text).toBe("first");
    await versions.getByRole("button", { name: "Delete: Version 2" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
    await versions.getByText("Version 2", { exact: true }).waitFor({ state: "detached" });
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      versions.getByRole("link", { name: "Download: Version 1" }).click(),
    ]);
    expect(await Bun.file(await download.path()).text()).toBe("first");
  });

  test("show its shares and activity, in a sheet on phones", async () => {
    const account = await web.account();
    const { client } = account;
    const id = await client.storedId("x", { name: "draft.txt" });
    expectStatus(await client.put(`/api/files/${id}`, { name: "final.txt" }), 200);
    expectStatus(await client.post(`/api/files/${id}/shares`, { label: "For Ana" }), 201);
    const page = await web.open({ as: account });
    await openDetails(page, "final.txt");
    const panel = page.getByRole("region", { name: "Details of final.txt" });
    await panel.getByRole("tab", { name: "Shares" }).click();
    await panel.getByText("For Ana").waitFor();
    await panel.getByRole("tab", { name: "Activity" }).click();
    await panel.getByText("Renamed from draft.txt to final.txt").waitFor();
    await panel.getByText("Shared with a link").waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    const sheet = page.getByRole("dialog", { name: "final.txt" });
    await sheet.getByRole("tab", { name: "Info" }).waitFor();
    await web.lookAt(page, "details-sheet");
    // The sheet is mounted again when the page has the size of a phone again, and takes the focus when it is ready.
    await closeByKey(page, sheet);
  });

  test("of a folder store its description", async () => {
    const account = await web.account();
    const id = await account.client.folderId("Taxes");
    const page = await web.open({ as: account });
    await openDetails(page, "Taxes");
    const panel = page.getByRole("region", { name: "Details of Taxes" });
    await panel.getByText("0 items").waitFor();
    await panel.getByLabel("Description").fill("Since 2020.");
    await panel.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    expect((await account.client.get(`/api/files/folders/${id}`)).at("data.description")).toBe("Since 2020.");
    expect(await panel.getByRole("tab", { name: "Versions" }).count()).toBe(0);
  });
});
