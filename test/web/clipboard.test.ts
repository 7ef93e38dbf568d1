import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { shareWith } from "../support/account-shares.ts";
import { expectSelected, row } from "./files-helpers.ts";
import { describeWeb } from "./support/browser.ts";
import { dismiss, undo } from "./support/undo.ts";

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
    await undo(page, "2 items moved to Box.");
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
    await dismiss(page, "1 item copied to Files.");
    await page.keyboard.press("ControlOrMeta+V");
    await row(page, "a (2).txt").waitFor();
    await undo(page, "1 item copied to Files.");
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

  test("pastes into a folder by its menu, into received ones only if they can be changed", async () => {
    const [owner, person] = [await web.account(), await web.account()];
    for (const [name, permissions] of [
      ["Readable", "read"],
      ["Writable", "write"],
    ] as const) {
      await shareWith(owner.client, await owner.client.folderId(name), person, { permissions });
      await owner.client.folderId("Inner", `/${name}`);
    }
    await person.client.folderId("Box");
    await person.client.storedId("a", { name: "a.txt" });
    const page = await web.open({ as: person, path: "/files" });
    const pasteInto = page.getByRole("menuitem", { name: "Paste into folder" });
    await row(page, "Box").click({ button: "right" });
    await page.getByRole("menuitem", { name: "Rename" }).waitFor();
    expect(await pasteInto.count()).toBe(0);
    await page.getByRole("menuitem", { name: "Rename" }).press("Escape");
    await row(page, "a.txt").click();
    await page.keyboard.press("ControlOrMeta+C");
    await row(page, "a.txt").click({ button: "right" });
    await page.getByRole("menuitem", { name: "Rename" }).waitFor();
    expect(await pasteInto.count()).toBe(0);
    await page.getByRole("menuitem", { name: "Rename" }).press("Escape");
    await row(page, "Box").click({ button: "right" });
    await pasteInto.click();
    await page.getByText("1 item copied to Box.").waitFor();
    expect(await person.client.names("/Box")).toEqual(["a.txt"]);
    for (const [name, count] of [
      ["Readable", 0],
      ["Writable", 1],
    ] as const) {
      await page.getByRole("link", { name: "Shared with me" }).first().click();
      await openFolder(page, name);
      await row(page, "Inner").click({ button: "right" });
      await page.getByRole("menuitem", { name: "Open" }).waitFor();
      expect([name, await pasteInto.count()]).toEqual([name, count]);
      if (count === 0) await page.getByRole("menuitem", { name: "Open" }).press("Escape");
    }
    await pasteInto.click();
    await page.getByText("1 item copied to Inner.").waitFor();
    expect(await owner.client.names("/Writable/Inner")).toEqual(["a.txt"]);
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

  test("shows the progress of many entries", async () => {
    const account = await web.account();
    await account.client.folderId("Box");
    await Promise.all(
      Array.from({ length: 200 }, (_, n) =>
        account.client.storedId("a", { name: `${1000 + n}.txt`, fields: { folder: "/Many" } }),
      ),
    );
    const page = await web.open({ as: account, path: "/files/Many" });
    await row(page, "1000.txt").waitFor();
    // Keys work as soon as the list is shown, without a click.
    await page.keyboard.press("ControlOrMeta+A");
    await expectSelected(page, 200);
    await page.keyboard.press("ControlOrMeta+C");
    await page.getByText("200 items copied.").waitFor({ state: "attached" });
    const isShown = Promise.withResolvers<void>();
    await page.route("**/api/files/copy", async (route) => {
      await isShown.promise;
      await route.continue();
    });
    await page.goto(new URL("/files/Box", page.url()).href);
    await page.getByText("This folder is empty").waitFor();
    await page.keyboard.press("ControlOrMeta+V");
    await page.getByText("Working…").waitFor();
    isShown.resolve();
    await page.getByText("200 items copied to Box.").waitFor();
    await page.getByText("Working…").waitFor({ state: "detached" });
    await row(page, "1000.txt").waitFor();
    await page.keyboard.press("End");
    await row(page, "1199.txt").waitFor();
    expect((await account.client.get("/api/files?folder=/Box")).at("data.pagination.total")).toBe(200);
    await undo(page, "200 items copied to Box.");
    await page.getByText("This folder is empty").waitFor();
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
