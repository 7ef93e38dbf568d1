import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { shareWith } from "../support/account-shares.ts";
import { row } from "./files-helpers.ts";
import { describeWeb } from "./support/browser.ts";

const isDimmed = (page: Page, name: string) =>
  row(page, name).evaluate((element) =>
    [...element.querySelectorAll("svg")].some((picture) => getComputedStyle(picture).opacity === "0.4"),
  );

async function openFolder(page: Page, name: string): Promise<void> {
  await row(page, name).dblclick();
  await page.getByRole("heading", { level: 1, name }).waitFor();
}

describeWeb("copy, cut and paste", (web) => {
  test("cut moves by key, dims the rows until then, and can be undone", async () => {
    const account = await web.account();
    await account.client.folderId("Box");
    for (const name of ["a.txt", "b.txt"]) await account.client.storedId(name, { name });
    const page = await web.open({ as: account, path: "/files" });
    await row(page, "a.txt").click();
    await row(page, "b.txt").click({ modifiers: ["Shift"] });
    await page.keyboard.press("ControlOrMeta+X");
    expect([await isDimmed(page, "a.txt"), await isDimmed(page, "Box")]).toEqual([true, false]);
    await web.lookAt(page, "clipboard-cut");
    // In the same folder, nothing is moved.
    await page.keyboard.press("ControlOrMeta+V");
    await page.getByText("Already in this folder.").waitFor();
    await openFolder(page, "Box");
    await page.keyboard.press("ControlOrMeta+V");
    await page.getByText("2 items moved to Box.").waitFor();
    expect(await isDimmed(page, "a.txt")).toBe(false);
    await page.getByRole("button", { name: "Undo" }).last().click();
    await page.getByText("2 items moved back.").waitFor();
    await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link", { name: "Files" }).click();
    await row(page, "a.txt").waitFor();
    expect(await isDimmed(page, "a.txt")).toBe(false);
  });

  test("copy pastes as often as wanted, also in the same folder, and Escape cancels a cut", async () => {
    const account = await web.account();
    await account.client.storedId("a", { name: "a.txt" });
    const page = await web.open({ as: account, path: "/files" });
    await row(page, "a.txt").click();
    await page.keyboard.press("ControlOrMeta+C");
    await page.keyboard.press("ControlOrMeta+V");
    await row(page, "a (1).txt").waitFor();
    await page.keyboard.press("ControlOrMeta+V");
    await row(page, "a (2).txt").waitFor();
    await page.getByRole("button", { name: "Undo" }).last().click();
    await row(page, "a (2).txt").waitFor({ state: "detached" });
    await row(page, "a.txt").click();
    await page.keyboard.press("ControlOrMeta+X");
    expect(await isDimmed(page, "a.txt")).toBe(true);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    expect(await isDimmed(page, "a.txt")).toBe(false);
  });

  test("works in menus, in other tabs, and after a reload, but not for another person", async () => {
    const account = await web.account();
    await account.client.folderId("Box");
    await account.client.storedId("a", { name: "a.txt" });
    const page = await web.open({ as: account, path: "/files" });
    await row(page, "a.txt").click({ button: "right" });
    await page.getByRole("menuitem", { name: "Cut" }).click();
    const other = await web.openTab(page, "/files/Box");
    await other.getByText("This folder is empty").click({ button: "right" });
    await other.getByRole("menuitem", { name: "Paste" }).waitFor();
    await other.keyboard.press("Escape");
    await page.reload();
    await row(page, "a.txt").waitFor();
    expect(await isDimmed(page, "a.txt")).toBe(true);
    await other.getByText("This folder is empty").click({ button: "right" });
    await other.getByRole("menuitem", { name: "Paste" }).click();
    await row(other, "a.txt").waitFor();
    await row(page, "a.txt").waitFor({ state: "detached" });
    const stranger = await web.open({ as: await web.account(), path: "/files" });
    await stranger.getByText("This folder is empty").click({ button: "right" });
    await stranger.getByRole("menuitem", { name: "New folder" }).waitFor();
    expect(await stranger.getByRole("menuitem", { name: "Paste" }).count()).toBe(0);
  });

  test("works on phones, by the menus", async () => {
    const account = await web.account();
    await account.client.folderId("Box");
    await account.client.storedId("a", { name: "a.txt" });
    const page = await web.open({ as: account, path: "/files", size: "phone" });
    await row(page, "a.txt").getByRole("button", { name: "More actions for a.txt" }).tap();
    await page.getByRole("menuitem", { name: "Copy", exact: true }).tap();
    await page.getByText("1 item copied. Open a folder to paste it.").waitFor();
    await row(page, "Box").tap();
    await page.getByRole("heading", { level: 1, name: "Box" }).waitFor();
    await page.locator("[data-floating-action]").getByRole("button", { name: "New" }).tap();
    await page.getByRole("menuitem", { name: "Paste" }).tap();
    await row(page, "a.txt").waitFor();
  });

  test("received items can be copied; into shared folders only where the share allows it", async () => {
    const [owner, person] = [await web.account(), await web.account()];
    const readable = await owner.client.folderId("Readable");
    const writable = await owner.client.folderId("Writable");
    await owner.client.storedId("p", { name: "plan.txt", fields: { folder: "/Readable" } });
    await shareWith(owner.client, readable, person);
    await shareWith(owner.client, writable, person, { permissions: "write" });
    const page = await web.open({ as: person, path: "/shared/with-me" });
    await openFolder(page, "Readable");
    await row(page, "plan.txt").click({ button: "right" });
    await page.getByRole("menuitem", { name: "Copy", exact: true }).waitFor();
    expect(await page.getByRole("menuitem", { name: "Cut" }).count()).toBe(0);
    await page.getByRole("menuitem", { name: "Copy", exact: true }).click();
    await page.keyboard.press("ControlOrMeta+V");
    expect((await owner.client.get("/api/files?folder=/Readable")).strings("data.files", "name")).toEqual(["plan.txt"]);
    await page.getByRole("link", { name: "Shared with me" }).first().click();
    await openFolder(page, "Writable");
    await page.keyboard.press("ControlOrMeta+V");
    await row(page, "plan.txt").waitFor();
    expect((await owner.client.get("/api/files?folder=/Writable")).strings("data.files", "name")).toEqual(["plan.txt"]);
    await page.getByRole("link", { name: "Files", exact: true }).click();
    await page.getByText("This folder is empty").waitFor();
    await page.keyboard.press("ControlOrMeta+V");
    await row(page, "plan.txt").waitFor();
  });

  test("text in fields stays with the browser", async () => {
    const account = await web.account();
    await account.client.storedId("a", { name: "a.txt" });
    const page = await web.open({ as: account, path: "/files" });
    await row(page, "a.txt").click();
    await page.keyboard.press("ControlOrMeta+C");
    const field = page.getByRole("combobox", { name: "Search files and folders" });
    await field.click();
    await page.keyboard.press("ControlOrMeta+V");
    expect(await field.inputValue()).toBe("a.txt");
    expect((await account.client.get("/api/files")).list("data.files").length).toBe(1);
  });
});
