import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { Account } from "../support/client.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { expectSelected, menuLabels, names, row } from "./files-helpers.ts";
import { describeWeb, type Web } from "./support/browser.ts";
import { closeByKey } from "./support/focus.ts";

/** Selects an entry, as a person does who wants no other to stay selected. */
async function select(page: Page, name: string): Promise<void> {
  await row(page, name).locator('[data-part="check"]').click();
}

/** A folder "Holiday" that the owner shares with a friend. */
async function sharedFolder(web: Web, permissions: "read" | "write", more: object = {}) {
  const owner = await web.account("Olivia Owner");
  const friend = await web.account("Fred Friend");
  const folder = await owner.client.folderId("Holiday");
  const file = await owner.client.storedId("Up the hill.", { name: "walk.txt", fields: { folder: "/Holiday/Day 1" } });
  await owner.client.storedId("Packing", { name: "list.txt", fields: { folder: "/Holiday" } });
  const shared = { user: friend.email, permissions, ...more };
  expectStatus(await owner.client.post(`/api/files/folders/${folder}/shares`, shared), 201);
  return { owner, friend, folder, file };
}

/** Whether all texts of the filter of a list fit into it, and whether the number of items next to it does. */
function measureFit(filter: Element): { filter: boolean; count: boolean } {
  const count = filter.closest("div.h-11")?.firstElementChild;
  if (!(filter instanceof HTMLElement) || !(count instanceof HTMLElement)) throw new Error("There is no filter.");
  const copy = filter.cloneNode(true);
  if (!(copy instanceof HTMLElement)) throw new Error("The filter can't be copied.");
  copy.style.position = "absolute";
  copy.style.width = "max-content";
  filter.after(copy);
  const fits = filter.offsetWidth >= copy.offsetWidth;
  copy.remove();
  return { filter: fits, count: count.textContent !== "" && count.scrollWidth <= count.clientWidth };
}

const LANGUAGES = ["de", "en", "es", "fr", "it", "ja", "nl", "pl", "pt"];

describeWeb("shared by me", (web) => {
  test("is a list with state and statistics, in which links are ended", async () => {
    const account = await web.account();
    const { client } = account;
    const id = await client.storedId("x", { name: "plan.txt" });
    const used = await client.post(`/api/files/${id}/shares`, { maxDownloads: 1, label: "Once" });
    await client.post(`/api/files/${id}/shares`, { label: "Open", password: "open sesame" });
    await web.server().visitor.get(`/s/${used.string("data.token")}/download`);
    await eventually("it is counted", async () => (await client.get("/api/shares")).text.includes('"downloads":1'));
    const page = await web.open({ as: account, path: "/shared/by-me" });
    const list = page.getByRole("grid", { name: "Items you share" });
    await list.getByText("Limit reached").waitFor();
    await list.getByText("1 of 1 download").waitFor();
    await list.getByRole("img", { name: "Password" }).waitFor();
    await web.lookAt(page, "shared-by-me");
    await page.getByLabel("Show", { exact: true }).selectOption("closed");
    await list.getByText("Open", { exact: true }).waitFor({ state: "detached" });
    expect(new URL(page.url()).search).toBe("?show=closed");
    await select(page, "plan.txt");
    await web.lookAt(page, "shared-by-me-selected");
    await page.getByRole("toolbar").getByRole("button", { name: "Stop sharing" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Stop sharing" }).click();
    await page.getByText("No matching shares").waitFor();
    expect((await client.get("/api/shares")).at("data.pagination.total")).toBe(1);
  });

  test("is sorted by its headers, and opens files, folders, and settings", async () => {
    const account = await web.account();
    const { client } = account;
    const file = await client.storedId("the plan", { name: "b plan.txt" });
    const folder = await client.folderId("a folder");
    expectStatus(await client.post(`/api/files/folders/${folder}/shares`, { label: "For all" }), 201);
    expectStatus(await client.post(`/api/files/${file}/shares`, {}), 201);
    const page = await web.open({ as: account, path: "/shared/by-me" });
    await row(page, "b plan.txt").waitFor();
    expect(await names(page)).toEqual(["b plan.txt", "a folder"]);
    await page.getByRole("columnheader", { name: "Name" }).getByRole("button").click();
    await page.waitForFunction(() => document.querySelector('[data-position="0"] [title="a folder"]') !== null);
    await row(page, "b plan.txt").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByText("the plan").waitFor();
    expect(new URL(page.url()).searchParams.get("view")).toBe(file);
    await page.goBack();
    await select(page, "a folder");
    await page.getByRole("toolbar").getByRole("button", { name: "Edit" }).click();
    const editor = page.getByRole("dialog", { name: "Edit share of “a folder”" });
    await editor.getByLabel("Note").fill("For some");
    await editor.getByRole("button", { name: "Save" }).click();
    await row(page, "a folder").getByText("For some").waitFor();
    await row(page, "a folder").dblclick();
    await page.getByRole("heading", { level: 1, name: "a folder" }).waitFor();
  });

  test("explains how to start if it is empty", async () => {
    const page = await web.open({ as: await web.account(), path: "/shared/by-me" });
    await page.getByText("You haven't shared anything yet").waitFor();
    await web.lookAt(page, "shared-by-me-empty");
  });

  test("shows its count and its filter completely on phones", async () => {
    const account = await web.account();
    for (const name of ["plan.txt", "list.txt"]) {
      const id = await account.client.storedId("x", { name });
      expectStatus(await account.client.post(`/api/files/${id}/shares`, {}), 201);
    }
    const page = await web.open({ as: account, path: "/trash", size: "phone" });
    const filter = page.getByRole("main").getByRole("combobox");
    // Long texts of the filter were cut.
    const complete: string[] = [];
    for (const language of LANGUAGES) {
      await page.evaluate((tag) => localStorage.setItem("larder-locale", tag), language);
      await page.goto(new URL("/shared/by-me", page.url()).href);
      await row(page, "plan.txt").waitFor();
      const fit = await filter.evaluate(measureFit);
      if (fit.filter && fit.count) complete.push(language);
    }
    expect(complete).toEqual(LANGUAGES);
    // A large count was cut next to the filter.
    await page.evaluate(() => localStorage.setItem("larder-locale", "en"));
    await page.route("**/api/shares?*", async (route) => {
      const response = await route.fetch();
      const text = await response.text();
      await route.fulfill({ response, body: text.replace(/"total":\d+/, '"total":123456') });
    });
    await page.reload();
    await page.getByText("123,456 items").waitFor();
    expect((await filter.evaluate(measureFit)).count).toBe(true);
  });

  test("is reached from the tab of phones", async () => {
    const page = await web.open({ as: await web.account(), size: "phone" });
    await page.getByRole("link", { name: "Shared", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Shared with me" }).waitFor();
    await page.getByRole("navigation", { name: "Shared" }).getByRole("link", { name: "Shared by me" }).click();
    await page.getByRole("heading", { level: 1, name: "Shared by me" }).waitFor();
    await page.getByRole("navigation", { name: "Shared" }).getByRole("link", { name: "Shared with me" }).click();
    await page.getByRole("heading", { level: 1, name: "Shared with me" }).waitFor();
  });
});

describeWeb("shared with me", (web) => {
  test("is browsed and previewed; files are uploaded into a writable folder; and the share is left", async () => {
    const { owner, friend } = await sharedFolder(web, "write", { label: "Our pictures" });
    const page = await web.open({ as: friend, path: "/shared/with-me" });
    const list = page.getByRole("grid", { name: "Items shared with you" });
    await list.getByText("Olivia Owner").waitFor();
    await web.lookAt(page, "shared-with-me");
    await row(page, "Holiday").dblclick();
    await page.getByRole("heading", { level: 1, name: "Holiday" }).waitFor();
    await row(page, "Day 1").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Day 1" }).waitFor();
    await row(page, "walk.txt").dblclick();
    await page.getByText("Up the hill.").waitFor();
    await closeByKey(page, page.getByRole("dialog"));
    await web.lookAt(page, "received-folder");
    await page.getByRole("button", { name: "New", exact: true }).first().click();
    const [chooser] = await Promise.all([
      page.waitForEvent("filechooser"),
      page.getByRole("menuitem", { name: "Upload files" }).click(),
    ]);
    await chooser.setFiles([{ name: "mine.txt", mimeType: "text/plain", buffer: Buffer.from("mine") }]);
    await row(page, "mine.txt").waitFor();
    expect((await owner.client.names("/Holiday/Day 1")).toSorted()).toEqual(["mine.txt", "walk.txt"]);
    await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link", { name: "Shared with me" }).click();
    await select(page, "Holiday");
    await page.getByRole("toolbar").getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Leave" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Leave" }).click();
    await page.getByText("Nothing has been shared with you yet").waitFor();
    expect((await friend.client.get("/api/shares/received")).at("data.shares")).toEqual([]);
  });

  test("offers only what the share allows: reading", async () => {
    const { friend } = await sharedFolder(web, "read", { versions: false });
    const page = await web.open({ as: friend, path: "/shared/with-me" });
    await row(page, "Holiday").waitFor();
    const reading = ["Open", "Download as ZIP", "Add to favorites", "Pin to sidebar", "Copy", "Copy to…", "Details"];
    expect(await menuLabels(page, "Holiday")).toEqual([...reading, "Leave"]);
    await row(page, "Holiday").dblclick();
    await page.getByRole("heading", { level: 1, name: "Holiday" }).waitFor();
    expect(await menuLabels(page, "Day 1")).toEqual(reading);
    await row(page, "list.txt").click();
    await page.keyboard.press("F2");
    await page.keyboard.press("Delete");
    expect(await page.getByLabel("New name").count()).toBe(0);
    expect(await page.getByRole("button", { name: "New", exact: true }).count()).toBe(0);
    await page.keyboard.press("i");
    const details = page.getByRole("region", { name: "list.txt" });
    await details.getByText("Olivia Owner").waitFor();
    expect(await details.getByRole("tab").allTextContents()).toEqual(["Info", "Activity"]);
    expect(await details.getByLabel("Description").isEditable()).toBe(false);
    await web.lookAt(page, "received-details");
  });

  test("offers only what the share allows: changing", async () => {
    const { owner, friend } = await sharedFolder(web, "write");
    const page = await web.open({ as: friend, path: "/shared/with-me" });
    await row(page, "Holiday").waitFor();
    expect(await menuLabels(page, "Holiday")).not.toContain("Rename");
    await row(page, "Holiday").dblclick();
    await page.getByRole("heading", { level: 1, name: "Holiday" }).waitFor();
    const labels = await menuLabels(page, "list.txt");
    expect(labels).toContain("Move to trash");
    expect(labels).toContain("Move to…");
    for (const label of ["Share", "Add to album…"]) expect(labels).not.toContain(label);
    await page.keyboard.press("F2");
    await page.getByLabel("New name").fill("packing.txt");
    await page.keyboard.press("Enter");
    await row(page, "packing.txt").waitFor();
    await page.keyboard.press("Shift+N");
    await page.getByRole("dialog").getByLabel("Folder name").fill("Day 2");
    await page.getByRole("dialog").getByRole("button", { name: "Create folder" }).click();
    await row(page, "Day 2").waitFor();
    expect((await owner.client.names("/Holiday")).toSorted()).toEqual(["Day 1", "Day 2", "packing.txt"]);
    await row(page, "packing.txt").click();
    await page.keyboard.press("Delete");
    await page.getByText("1 item moved to trash.").waitFor();
    // Only the owner can restore it.
    expect(await page.getByRole("button", { name: "Undo" }).count()).toBe(0);
    expect((await owner.client.get("/api/files/trash")).at("data.files.0.name")).toBe("packing.txt");
  });

  test("is sorted, shown as tiles, and downloaded as a selection", async () => {
    const { owner, friend } = await sharedFolder(web, "read");
    await share(owner, friend, await owner.client.storedId("aa", { name: "a file.txt" }));
    const page = await web.open({ as: friend, path: "/shared/with-me" });
    await row(page, "Holiday").waitFor();
    // The latest share is first.
    expect(await names(page)).toEqual(["a file.txt", "Holiday"]);
    await page.getByRole("columnheader", { name: "Name" }).getByRole("button").click();
    await page.waitForFunction(() => document.querySelector('[data-position="0"] [title="Holiday"]') !== null);
    await page.getByRole("columnheader", { name: "Owner" }).getByRole("button").click();
    await page.waitForFunction(() => document.querySelectorAll("[data-position]").length === 2);
    await row(page, "Holiday").focus();
    await page.keyboard.press("Control+A");
    await expectSelected(page, 2);
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("toolbar").getByRole("button", { name: "Download" }).click(),
    ]);
    expect(saved.suggestedFilename()).toEndWith(".zip");
    await page.getByRole("toolbar").getByRole("button", { name: "Clear selection" }).click();
    await page.getByRole("button", { name: "Tiles" }).click();
    await page
      .getByRole("gridcell")
      .filter({ has: page.getByTitle("Holiday", { exact: true }) })
      .waitFor();
    await web.lookAt(page, "shared-with-me-tiles");
    await page.getByRole("button", { name: "List" }).click();
  });

  test("lists albums, which open on their page", async () => {
    const owner = await web.account();
    const friend = await web.account();
    const album = await owner.client.post("/api/albums", { name: "Best of" });
    expectStatus(await owner.client.post(`/api/albums/${album.string("data.id")}/shares`, { user: friend.email }), 201);
    const page = await web.open({ as: friend, path: "/shared/with-me" });
    await row(page, "Best of").waitFor();
    expect(await menuLabels(page, "Best of")).toEqual(["Open", "Pin to sidebar", "Leave"]);
    await row(page, "Best of").dblclick();
    await page.getByRole("heading", { level: 1, name: "Best of" }).waitFor();
  });

  test("closes its preview on Back, and opens it again on forward", async () => {
    const { friend } = await sharedFolder(web, "read");
    const page = await web.open({ as: friend, path: "/shared/with-me" });
    await row(page, "Holiday").dblclick();
    await row(page, "Day 1").dblclick();
    await row(page, "walk.txt").dblclick();
    const viewer = page.getByRole("dialog").filter({ hasText: "Up the hill." });
    await viewer.waitFor();
    // Nothing of it can be changed here.
    expect(await viewer.getByRole("button", { name: "Move to trash" }).count()).toBe(0);
    await page.goBack();
    await viewer.waitFor({ state: "detached" });
    await page.getByRole("heading", { level: 1, name: "Day 1" }).waitFor();
    await page.goForward();
    await viewer.waitFor();
    await page.goBack();
    await viewer.waitFor({ state: "detached" });
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "Holiday" }).waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  test("that was ended in the meantime shows a message", async () => {
    const page = await web.open({ as: await web.account(), path: "/shared/with-me?share=shr_gone", size: "phone" });
    await page.getByText("This is no longer shared with you").waitFor();
    await web.lookAt(page, "received-gone");
  });
});

async function share(owner: Account, friend: Account, file: string): Promise<void> {
  expectStatus(await owner.client.post(`/api/files/${file}/shares`, { user: friend.email, permissions: "read" }), 201);
}
