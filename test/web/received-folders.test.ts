import { expect, test } from "bun:test";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { shareWith } from "../support/account-shares.ts";
import type { Account } from "../support/client.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { menuLabels, names, row } from "./files-helpers.ts";
import { describeWeb, type Web } from "./support/browser.ts";
import { closeByKey, untilKeysWork } from "./support/focus.ts";
import { withFiles } from "./support/upload-files.ts";
import { undo } from "./support/undo.ts";

/** A folder "Holiday" with the folders "Day 1" and "Day 2" that the owner shares with a friend. */
async function sharedFolder(web: Web, permissions: "read" | "write") {
  const owner = await web.account("Olivia Owner");
  const friend = await web.account("Fred Friend");
  const folder = await owner.client.folderId("Holiday");
  await owner.client.folderId("Day 1", "/Holiday");
  await owner.client.folderId("Day 2", "/Holiday");
  const file = await owner.client.storedId("Packing", { name: "list.txt", fields: { folder: "/Holiday" } });
  const share = await shareWith(owner.client, folder, friend, { permissions });
  return { owner, friend, folder, file, share };
}

async function openHoliday(web: Web, friend: Account, share: string): Promise<Page> {
  const page = await web.open({ as: friend, path: `/shared/with-me?share=${share}` });
  await row(page, "list.txt").waitFor();
  return page;
}

async function menuItem(page: Page, name: string, label: string): Promise<void> {
  await row(page, name)
    .getByRole("button", { name: `More actions for ${name}` })
    .click();
  await page.getByRole("menuitem", { name: label, exact: true }).click();
}

const crumb = (page: Page, name: string) =>
  page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link", { name });

describeWeb("received folders that may be changed", (web) => {
  test("are tidied up by dragging, to folders and to the path, and the move is undone", async () => {
    const { owner, friend, share } = await sharedFolder(web, "write");
    const page = await openHoliday(web, friend, share);
    await row(page, "list.txt").dragTo(row(page, "Day 1"));
    await page.getByText("1 item moved to Day 1.").waitFor();
    expect(await owner.client.names("/Holiday/Day 1")).toEqual(["list.txt"]);
    await undo(page, "1 item moved to Day 1.");
    await row(page, "list.txt").waitFor();
    await row(page, "list.txt").dragTo(row(page, "Day 2"));
    await row(page, "list.txt").waitFor({ state: "detached" });
    await row(page, "Day 2").dblclick();
    await page.getByRole("heading", { level: 1, name: "Day 2" }).waitFor();
    await row(page, "list.txt").dragTo(crumb(page, "Holiday"));
    await page.getByText("1 item moved to the shared folder.").waitFor();
    expect((await owner.client.names("/Holiday")).toSorted()).toEqual(["Day 1", "Day 2", "list.txt"]);
  });

  test("take entries of other people as copies only", async () => {
    const { owner, friend, share } = await sharedFolder(web, "write");
    await friend.client.folderId("Mine");
    const page = await openHoliday(web, friend, share);
    // An own folder in the sidebar.
    const tree = page.getByRole("tree", { name: "Folders" });
    await row(page, "list.txt").dragTo(tree.getByRole("treeitem", { name: "Mine" }));
    await page.getByText("1 item copied to Mine.").waitFor();
    expect(await friend.client.names("/Mine")).toEqual(["list.txt"]);
    expect(await owner.client.names("/Holiday")).toContain("list.txt");
    // What is cut there is copied to own folders.
    await row(page, "list.txt").click();
    await page.keyboard.press("ControlOrMeta+X");
    await page.getByRole("link", { name: "Files", exact: true }).click();
    await row(page, "Mine").waitFor();
    await page.keyboard.press("ControlOrMeta+V");
    await page.getByText("Moving works only within your own files, or within one shared folder.").waitFor();
    await row(page, "list.txt").waitFor();
    expect(await owner.client.names("/Holiday")).toContain("list.txt");
    // And the other way round; inside of the shared folder, it is moved.
    await row(page, "Mine").click();
    await page.keyboard.press("ControlOrMeta+X");
    await page.goto(new URL(`/shared/with-me?share=${share}&path=/Day 1`, page.url()).href);
    await page.getByText("This folder is empty").waitFor();
    await page.keyboard.press("ControlOrMeta+V");
    await row(page, "Mine").waitFor();
    expect((await friend.client.names("/")).toSorted()).toEqual(["Mine", "list.txt"]);
    await row(page, "Mine").click();
    await page.keyboard.press("ControlOrMeta+X");
    await crumb(page, "Holiday").click();
    await row(page, "Day 1").waitFor();
    await page.keyboard.press("ControlOrMeta+V");
    await row(page, "Mine").waitFor();
    expect(await owner.client.names("/Holiday/Day 1")).toEqual([]);
  });

  test("have folder choosers with the folders of the share", async () => {
    const { owner, friend, share } = await sharedFolder(web, "write");
    await friend.client.folderId("Mine");
    const page = await openHoliday(web, friend, share);
    await menuItem(page, "list.txt", "Move to…");
    const dialog = page.getByRole("dialog", { name: /^Move/ });
    await dialog.getByRole("treeitem", { name: "Holiday" }).waitFor();
    expect(await dialog.getByRole("treeitem", { name: "Mine" }).count()).toBe(0);
    expect(await dialog.getByLabel("Copy into").count()).toBe(0);
    await dialog.getByRole("treeitem", { name: "Day 2" }).click();
    await web.lookAt(page, "received-move");
    await dialog.getByRole("button", { name: "Move here" }).click();
    await page.getByText("1 item moved to Day 2.").waitFor();
    expect(await owner.client.names("/Holiday/Day 2")).toEqual(["list.txt"]);
    await menuItem(page, "Day 2", "Copy to…");
    const copying = page.getByRole("dialog", { name: /^Copy/ });
    await copying.getByRole("treeitem", { name: "Mine" }).click();
    await copying.getByRole("button", { name: "Copy here" }).click();
    await page.getByText("1 item copied to Mine.").waitFor();
    expect(await friend.client.names("/Mine")).toEqual(["Day 2"]);
    await menuItem(page, "Day 2", "Copy to…");
    await copying.getByLabel("Copy into").selectOption({ label: "Holiday (shared by Olivia Owner)" });
    await copying.getByRole("treeitem", { name: "Day 1" }).click();
    await copying.getByRole("button", { name: "Copy here" }).click();
    await page.getByText("1 item copied to Day 1.").waitFor();
    expect(await owner.client.names("/Holiday/Day 1")).toEqual(["Day 2"]);
  });

  test("take files from the desktop on their rows", async () => {
    const { owner, friend, share } = await sharedFolder(web, "write");
    const page = await openHoliday(web, friend, share);
    await withFiles({ "new.txt": Buffer.from("new") }, async (folder) => {
      const box = await row(page, "Day 1").boundingBox();
      if (box === null) throw new Error("no row");
      const session = await page.context().newCDPSession(page);
      for (const type of ["dragEnter", "dragOver", "drop"] as const) {
        // oxlint-disable-next-line no-await-in-loop -- the events of one drag follow each other
        await session.send("Input.dispatchDragEvent", {
          type,
          x: box.x + 60,
          y: box.y + box.height / 2,
          data: { items: [], files: [join(folder, "new.txt")], dragOperationsMask: 1 },
        });
      }
      await eventually("it is stored", async () => (await owner.client.names("/Holiday/Day 1")).includes("new.txt"));
    });
    expect(await owner.client.names("/Holiday")).not.toContain("new.txt");
  });

  test("have the actions of own files in the preview", async () => {
    const { owner, friend, share, file } = await sharedFolder(web, "write");
    const page = await openHoliday(web, friend, share);
    await row(page, "list.txt").dblclick();
    const viewer = page.getByRole("dialog").filter({ hasText: "Packing" });
    await viewer.waitFor();
    await web.lookAt(page, "received-preview");
    expect(await viewer.getByRole("button", { name: "Share", exact: true }).count()).toBe(0);
    await viewer.getByRole("button", { name: "Edit", exact: true }).waitFor();
    await page.keyboard.press("F2");
    await page.getByLabel("New name").fill("packed.txt");
    await page.keyboard.press("Enter");
    await viewer.getByText("packed.txt").first().waitFor();
    await page.keyboard.press("Shift+M");
    const dialog = page.getByRole("dialog", { name: /^Move/ });
    await dialog.getByRole("treeitem", { name: "Day 1" }).click();
    await dialog.getByRole("button", { name: "Move here" }).click();
    await page.getByText("1 item moved to Day 1.").waitFor();
    expect(await owner.client.names("/Holiday/Day 1")).toEqual(["packed.txt"]);
    expectStatus(await friend.client.get(`/api/files/${file}`), 200);
  });
});

describeWeb("received folders that may only be read", (web) => {
  test("offer no change by key, drag, menu, toolbar, preview or details", async () => {
    const { owner, friend, share } = await sharedFolder(web, "read");
    const page = await openHoliday(web, friend, share);
    const changes = ["Edit", "Rename", "Cut", "Move to…", "Edit tags", "Move to trash", "Share", "Add to album…"];
    const labels = await menuLabels(page, "list.txt");
    expect(labels).toContain("Copy to…");
    for (const label of changes) expect(labels).not.toContain(label);
    await row(page, "list.txt").click();
    for (const key of ["F2", "Delete", "ControlOrMeta+X", "ControlOrMeta+V", "Shift+M", "Shift+N", "e"]) {
      // oxlint-disable-next-line no-await-in-loop -- one key after the other
      await page.keyboard.press(key);
    }
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(await page.getByLabel("New name").count()).toBe(0);
    const toolbar = page.getByRole("toolbar");
    for (const label of changes) expect(await toolbar.getByRole("button", { name: label }).count()).toBe(0);
    await row(page, "list.txt").dragTo(row(page, "Day 1"));
    await row(page, "list.txt").dblclick();
    const viewer = page.getByRole("dialog").filter({ hasText: "Packing" });
    await viewer.waitFor();
    for (const key of ["F2", "Delete", "Shift+M", "e"]) {
      // oxlint-disable-next-line no-await-in-loop -- one key after the other
      await page.keyboard.press(key);
    }
    for (const label of changes) expect(await viewer.getByRole("button", { name: label }).count()).toBe(0);
    await closeByKey(page, viewer);
    expect(await names(page)).toEqual(["Day 1", "Day 2", "list.txt"]);
    expect((await owner.client.names("/Holiday")).toSorted()).toEqual(["Day 1", "Day 2", "list.txt"]);
    expect(await owner.client.names("/Holiday/Day 1")).toEqual([]);
  });

  test("lose their actions when the owner lowers the share, and fail with a message until then", async () => {
    const { owner, friend, share } = await sharedFolder(web, "write");
    const page = await openHoliday(web, friend, share);
    expect(await menuLabels(page, "list.txt")).toContain("Move to trash");
    expectStatus(await owner.client.patch(`/api/shares/${share}`, { permissions: "read" }), 200);
    await row(page, "list.txt").click();
    await page.keyboard.press("Delete");
    await page
      .getByText(/only (read|view)|not allowed|may not|can't/i)
      .first()
      .waitFor();
    await row(page, "list.txt").waitFor();
    await eventually(
      "the actions are gone",
      async () => !(await menuLabels(page, "list.txt")).includes("Move to trash"),
    );
    expect(await owner.client.names("/Holiday")).toContain("list.txt");
  });
});

describeWeb("received files in lists with own ones", (web) => {
  test("open from the suggestions of the search", async () => {
    const { owner, friend } = await sharedFolder(web, "read");
    const single = await owner.client.storedId("alone", { name: "single sheet.txt" });
    await shareWith(owner.client, single, friend);
    await owner.client.storedId("deep", { name: "deep sheet.txt", fields: { folder: "/Holiday/Day 1" } });
    // Names are indexed in the background, and the field asks once for each letter.
    await eventually("both are suggested", async () => {
      const suggested = await Promise.all(
        ["deep", "single"].map((q) => friend.client.get(`/api/files/search/suggestions?q=${q}`)),
      );
      return suggested.every((response) => response.strings("data.suggestions", "kind").includes("file"));
    });
    const page = await web.open({ as: friend, path: "/files" });
    const field = page.getByRole("combobox", { name: "Search files and folders" });
    await untilKeysWork(page);
    await field.click();
    await page.keyboard.type("deep");
    await page.getByRole("option", { name: /deep sheet/ }).click();
    await closeByKey(page, page.getByRole("dialog", { name: /deep sheet/ }));
    await page.getByRole("heading", { level: 1, name: "Day 1" }).waitFor();
    await row(page, "deep sheet.txt").waitFor();
    await field.fill("");
    await page.keyboard.type("single");
    await page.getByRole("option", { name: /single sheet/ }).click();
    await closeByKey(page, page.getByRole("dialog", { name: /single sheet/ }));
    await page.getByRole("heading", { level: 1, name: "Shared with me" }).waitFor();
  });

  test("have the best rights of several shares of the same folder", async () => {
    const { owner, friend, folder, share } = await sharedFolder(web, "read");
    await shareWith(owner.client, folder, friend, { permissions: "write" });
    const page = await openHoliday(web, friend, share);
    await page.getByText("Can edit").waitFor();
    expect(await menuLabels(page, "list.txt")).toContain("Rename");
    await page.goto(new URL("/search?q=list", page.url()).href);
    await row(page, "list.txt").waitFor();
    expect(await menuLabels(page, "list.txt")).toContain("Rename");
  });

  test("have the rights of a folder inside that is shared for editing", async () => {
    const { owner, friend } = await sharedFolder(web, "read");
    const inner = await owner.client.folderId("Drafts of Olivia", "/Holiday");
    const fields = { folder: "/Holiday/Drafts of Olivia" };
    const invitation = await owner.client.storedId("Dear Fred", { name: "invitation.txt", fields });
    await shareWith(owner.client, inner, friend, { permissions: "write" });
    expectStatus(await friend.client.post("/api/favorites", { ids: [inner, invitation], favorite: true }), 200);
    const page = await web.open({ as: friend, path: "/search?q=invitation" });
    await row(page, "invitation.txt").waitFor();
    expect(await menuLabels(page, "invitation.txt")).toContain("Rename");
    await page.goto(new URL("/favorites", page.url()).href);
    await row(page, "invitation.txt").waitFor();
    expect(await menuLabels(page, "invitation.txt")).toContain("Move to trash");
    expect(await menuLabels(page, "Drafts of Olivia")).not.toContain("Rename");
  });

  test("have the rights of their share in search and favorites", async () => {
    const { friend, file, share } = await sharedFolder(web, "write");
    await friend.client.storedId("mine", { name: "list of mine.txt" });
    expectStatus(await friend.client.post("/api/favorites", { ids: [file], favorite: true }), 200);
    const page = await web.open({ as: friend, path: "/search?q=list" });
    await row(page, "list.txt").waitFor();
    await row(page, "list of mine.txt").waitFor();
    const labels = await menuLabels(page, "list.txt");
    expect(labels).toContain("Rename");
    expect(labels).not.toContain("Share");
    expect(await menuLabels(page, "list of mine.txt")).toContain("Share");
    await page.goto(new URL("/favorites", page.url()).href);
    await row(page, "list.txt").waitFor();
    expect(await menuLabels(page, "list.txt")).toContain("Move to…");
    expect(await menuLabels(page, "list.txt")).not.toContain("Share");
    await menuItem(page, "list.txt", "Move to…");
    const dialog = page.getByRole("dialog", { name: /^Move/ });
    await dialog.getByRole("treeitem", { name: "Day 1" }).click();
    await dialog.getByRole("button", { name: "Move here" }).click();
    await page.getByText("1 item moved to Day 1.").waitFor();
    const listed = await friend.client.get(`/api/files?folder=/Day 1&share=${share}`);
    expect(listed.strings("data.files", "name")).toEqual(["list.txt"]);
  });
});
