// Actions on files, and undoing them.
import { expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { describeWeb } from "./support/browser.ts";
import { eventually, expectFocus, expectSelected, row, tile } from "./files-helpers.ts";
import { closeByKey, closeMenu, untilFocused } from "./support/focus.ts";
import { undo } from "./support/undo.ts";

/** The field to edit a name. */
const nameField = (page: Page) => page.getByRole("textbox", { name: "New name" });

/** Simulates a return to the page, which fetches the changes by others. */
async function recheck(page: Page): Promise<void> {
  await page.evaluate(() => window.dispatchEvent(new Event("visibilitychange")));
}

/** Waits until a field with this value has the focus, with these letters selected. */
async function expectTyping(page: Page, value: string, from: number, to: number): Promise<void> {
  await eventually(
    () =>
      page.evaluate(() => {
        const field = document.activeElement;
        if (!(field instanceof HTMLInputElement)) return undefined;
        return { value: field.value, from: field.selectionStart, to: field.selectionEnd };
      }),
    { value, from, to },
  );
}

/** Starts to type a name: "draft", with the second and third letter selected. */
async function beginTyping(page: Page): Promise<void> {
  await page.keyboard.press("F2");
  await nameField(page).fill("draft");
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Shift+ArrowRight");
  await expectTyping(page, "draft", 1, 3);
}

describeWeb("actions on files", (web) => {
  test("a name is edited in place, without its extension; a taken name shows an error at the field", async () => {
    const account = await web.account();
    await account.client.stored("one", { name: "letter.txt" });
    await account.client.stored("two", { name: "taken.txt" });
    const page = await web.open({ as: account });
    await row(page, "letter.txt").click();
    await page.keyboard.press("F2");
    const field = page.getByRole("textbox", { name: "New name" });
    await field.waitFor();
    // The extension is not selected, so typing replaces only the stem.
    await page.keyboard.type("taken");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("taken.txt").waitFor();
    await web.lookAt(page, "files-rename-refused");
    await field.fill("epistle.txt");
    await page.keyboard.press("Enter");
    await row(page, "epistle.txt").waitFor();
    await expectFocus(page, "epistle.txt");
    expect(await account.client.names()).toEqual(["epistle.txt", "taken.txt"]);

    await page.keyboard.press("F2");
    await page.keyboard.type("never");
    await page.keyboard.press("Escape");
    await field.waitFor({ state: "detached" });
    await expectFocus(page, "epistle.txt");
    expect(await account.client.names()).toEqual(["epistle.txt", "taken.txt"]);
  });

  for (const size of ["desktop", "phone"] as const) {
    test(`the menu of a file opens the field for its name (${size})`, async () => {
      const account = await web.account();
      await account.client.stored("one", { name: "letter.txt" });
      const page = await web.open({ as: account, size });
      const press = async (target: Locator) => (size === "phone" ? target.tap() : target.click());
      await press(page.getByRole("button", { name: "More actions for letter.txt" }));
      await press(page.getByRole("menuitem", { name: "Rename" }));
      await page.getByRole("menu").waitFor({ state: "detached" });
      await nameField(page).and(page.locator(":focus")).fill("epistle.txt");
      await page.keyboard.press("Enter");
      await expectFocus(page, "epistle.txt");
      expect(await account.client.names()).toEqual(["epistle.txt"]);
    });
  }

  test("a name that is being edited stays when others add files above it, few or more than are rendered", async () => {
    const account = await web.account();
    await account.client.stored("mine", { name: "m.txt" });
    const page = await web.open({ as: account });
    await row(page, "m.txt").click();
    await beginTyping(page);
    await account.client.stored("theirs", { name: "a.txt" });
    await recheck(page);
    await row(page, "a.txt").waitFor();
    await expectTyping(page, "draft", 1, 3);

    for (let at = 100; at < 160; at++) await account.client.stored("theirs", { name: `b${at}.txt` });
    await recheck(page);
    await row(page, "b100.txt").waitFor();
    await expectTyping(page, "draft", 1, 3);
    await page.keyboard.type("!");
    await page.keyboard.press("Enter");
    await expectFocus(page, "d!ft");
    const found = await account.client.names();
    expect([found.length, found.includes("d!ft"), found.includes("m.txt")]).toEqual([62, true, false]);
  });

  test("a name that is being edited moves with its tile into the next row", async () => {
    const account = await web.account();
    for (let at = 10; at < 30; at++) await account.client.stored("mine", { name: `m${at}.txt` });
    const page = await web.open({ as: account });
    await page.getByRole("button", { name: "Tiles" }).click();
    await tile(page, "m10.txt").waitFor();
    const columns = Number(await page.getByRole("grid").getAttribute("aria-colcount"));
    const last = `m${10 + columns - 1}.txt`;
    await tile(page, last).click();
    await beginTyping(page);
    await account.client.stored("theirs", { name: "a.txt" });
    await recheck(page);
    await tile(page, "a.txt").waitFor();
    await expectTyping(page, "draft", 1, 3);
    await page.keyboard.press("Enter");
    await expectFocus(page, "draft");
    const found = await account.client.names();
    expect([found.length, found.includes("draft"), found.includes(last)]).toEqual([21, true, false]);
  });

  test("a rejected name is shown even if its row has moved, and the typed text stays", async () => {
    const account = await web.account();
    await account.client.stored("one", { name: "letter.txt" });
    await account.client.stored("two", { name: "taken.txt" });
    const page = await web.open({ as: account });
    await row(page, "letter.txt").click();
    await page.keyboard.press("F2");
    await nameField(page).fill("taken.txt");
    const gate = Promise.withResolvers<void>();
    const requested = Promise.withResolvers<void>();
    await page.route("**/api/files/file_*", async (route) => {
      requested.resolve();
      await gate.promise;
      await route.continue();
    });
    await page.keyboard.press("Enter");
    await requested.promise;
    await account.client.stored("theirs", { name: "a.txt" });
    await recheck(page);
    await row(page, "a.txt").waitFor();
    gate.resolve();
    await page.getByRole("alert").getByText("taken.txt").waitFor();
    expect(await nameField(page).inputValue()).toBe("taken.txt");
    expect(await account.client.names()).toEqual(["a.txt", "letter.txt", "taken.txt"]);
  });

  test("a name is saved while the list is refreshing, and an unchanged name does not overwrite one by others", async () => {
    const account = await web.account();
    const id = await account.client.storedId("mine", { name: "letter.txt" });
    const page = await web.open({ as: account });
    await row(page, "letter.txt").click();
    await page.keyboard.press("F2");
    await nameField(page).fill("epistle.txt");
    const gate = Promise.withResolvers<void>();
    const requested = Promise.withResolvers<void>();
    await page.route(/\/api\/files\?/, async (route) => {
      requested.resolve();
      await gate.promise;
      await route.continue();
    });
    // Another tab of this browser changed something.
    await page.evaluate(() => new BroadcastChannel("larder-files").postMessage("files-changed"));
    await requested.promise;
    await page.keyboard.press("Enter");
    await eventually(() => account.client.names(), ["epistle.txt"]);
    gate.resolve();
    await expectFocus(page, "epistle.txt");

    await page.keyboard.press("F2");
    await nameField(page).waitFor();
    await account.client.put(`/api/files/${id}`, { name: "theirs.txt" });
    await recheck(page);
    await page.getByRole("button", { name: "More actions for theirs.txt" }).waitFor();
    await page.keyboard.press("Enter");
    await expectFocus(page, "theirs.txt");
    expect(await account.client.names()).toEqual(["theirs.txt"]);
  });

  test("a folder is created, also by keys; a rejection is shown as a message", async () => {
    const account = await web.account();
    const page = await web.open({ as: account });
    await page.getByText("This folder is empty").waitFor();
    await web.lookAt(page, "files-empty");
    await page.keyboard.press("Shift+N");
    const dialog = page.getByRole("dialog", { name: "New folder" });
    await dialog.getByLabel("Folder name").fill("a/b");
    await page.keyboard.press("Enter");
    await dialog.getByRole("textbox").and(page.locator("[aria-invalid=true]")).waitFor();
    await web.lookAt(page, "files-new-folder");
    await dialog.getByLabel("Folder name").fill("Holidays");
    await page.keyboard.press("Enter");
    await row(page, "Holidays").waitFor();
    await dialog.waitFor({ state: "detached" });
    expect(await account.client.names()).toEqual(["Holidays"]);
  });

  test("moving with the dialog, and undoing it", async () => {
    const account = await web.account();
    await account.client.folderId("Archive");
    await account.client.folderId("2024", "/Archive");
    for (const name of ["a.txt", "b.txt", "c.txt"]) await account.client.stored(name, { name });
    const page = await web.open({ as: account });
    // Without the tree in the sidebar, the dialog is the first to load folders.
    await page.evaluate(() => window.localStorage.setItem("larder-folder-tree-closed", "yes"));
    await page.reload();
    await row(page, "a.txt").click();
    await row(page, "b.txt").click({ modifiers: ["Shift"] });
    const dialog = page.getByRole("dialog", { name: "Move 2 items" });
    // In the list, letters start a name, except those that are shortcuts of the page.
    const folders = /\/api\/files\?.*type=folder/;
    const rejection = { success: false, error: { code: "VALIDATION_ERROR", message: "Not now.", details: {} } };
    await page.route(folders, (route) => route.fulfill({ status: 400, json: rejection }));
    await page.keyboard.press("Shift+M");
    // Folders that could not be loaded are not shown as empty.
    await dialog.getByText("Not now.").waitFor();
    await page.unroute(folders);
    await dialog.getByRole("button", { name: "Try again" }).click();
    await dialog.getByRole("treeitem", { name: "Archive" }).waitFor();
    await closeByKey(page, dialog);
    await page.getByRole("toolbar").getByRole("button", { name: "Move to…" }).click();
    await dialog.getByText("Already in this folder.").waitFor();
    expect(await dialog.getByRole("button", { name: "Move here" }).isDisabled()).toBe(true);
    // By keys: down to Archive, open it, down into 2024.
    await untilFocused(page, dialog);
    await dialog.getByRole("treeitem", { name: "Files" }).focus();
    await dialog.getByRole("treeitem", { name: "Archive" }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowRight");
    await dialog.getByRole("treeitem", { name: "2024" }).waitFor();
    await page.keyboard.press("ArrowDown");
    await dialog.getByText("/Archive/2024").waitFor();
    await web.lookAt(page, "files-move");
    await dialog.getByRole("button", { name: "Move here" }).click();
    await page.getByText("2 items moved to 2024.").waitFor();
    await row(page, "a.txt").waitFor({ state: "detached" });
    expect(await account.client.names("/Archive/2024")).toEqual(["a.txt", "b.txt"]);

    await undo(page, "2 items moved to 2024.");
    await page.getByText("2 items moved back.").waitFor();
    await row(page, "a.txt").waitFor();
    expect(await account.client.names("/Archive/2024")).toEqual([]);
  });

  test("the folder chooser begins at the current folder, also for keys", async () => {
    const account = await web.account();
    await account.client.folderId("Archive");
    await account.client.folderId("Notes");
    await account.client.stored("a", { name: "a.txt", fields: { folder: "/Notes" } });
    const page = await web.open({ as: account, path: "/files/Notes" });
    await row(page, "a.txt").click();
    await page.getByRole("toolbar").getByRole("button", { name: "Move to…" }).click();
    const dialog = page.getByRole("dialog", { name: "Move 1 item" });
    await dialog.getByRole("treeitem", { name: "Notes" }).and(page.locator(":focus")).waitFor();
    await page.keyboard.press("ArrowUp");
    await dialog.getByText("/Archive").waitFor();
  });

  test("a drag moves into the folder or breadcrumb that it is dropped on", async () => {
    const account = await web.account();
    await account.client.folderId("Box");
    for (const name of ["a.txt", "b.txt", "c.txt"]) await account.client.stored(name, { name });
    const page = await web.open({ as: account });
    await row(page, "a.txt").click();
    await row(page, "b.txt").click({ modifiers: ["Control"] });
    await row(page, "b.txt").dragTo(row(page, "Box"));
    await page.getByText("2 items moved to Box.").waitFor();
    await row(page, "Box").dblclick();
    await row(page, "a.txt").waitFor();
    const crumbs = page.getByRole("navigation", { name: "Breadcrumb" });
    await row(page, "a.txt").dragTo(crumbs.getByRole("link", { name: "Files" }));
    await page.getByText("1 item moved to Files.").waitFor();
    await eventually(() => account.client.names(), ["Box", "a.txt", "c.txt"]);
    // A file accepts no drop: dropped entries stay where they are.
    await page.goBack();
    await row(page, "c.txt").dragTo(row(page, "a.txt"));
    expect(await account.client.names()).toEqual(["Box", "a.txt", "c.txt"]);
    // Nor does a folder that is itself dragged.
    await row(page, "c.txt").click();
    await page.keyboard.press("Control+a");
    await expectSelected(page, 3);
    await row(page, "c.txt").dragTo(row(page, "Box"));
    expect(await account.client.names()).toEqual(["Box", "a.txt", "c.txt"]);
  });

  test("Delete moves to the trash, and Undo restores", async () => {
    const account = await web.account();
    for (const name of ["a.txt", "b.txt", "c.txt"]) await account.client.stored(name, { name });
    const page = await web.open({ as: account });
    await row(page, "a.txt").click();
    await page.keyboard.press("Shift+ArrowDown");
    await expectSelected(page, 2);
    let requested = 0;
    const { promise: isPressedTwice, resolve: goOn } = Promise.withResolvers<void>();
    await page.route("**/api/files/trash", async (route) => {
      requested += 1;
      await isPressedTwice;
      await route.continue();
    });
    await page.keyboard.press("Delete");
    await page.keyboard.press("Delete");
    goOn();
    await page.getByText("2 items moved to trash.").waitFor();
    await row(page, "a.txt").waitFor({ state: "detached" });
    expect(requested).toBe(1);
    await expectSelected(page, 0);
    await expectFocus(page, "c.txt");
    expect(await account.client.names()).toEqual(["c.txt"]);
    await undo(page, "2 items moved to trash.");
    await page.getByText("2 items restored.").waitFor();
    await row(page, "b.txt").waitFor();
    // The button disappeared with its message, so the focus continues in the list.
    await page.waitForFunction(() => document.activeElement?.closest('[role="grid"]') != null);
    expect(await account.client.names()).toEqual(["a.txt", "b.txt", "c.txt"]);
  });

  test("the focus stays in the list when others remove the focused entry", async () => {
    const account = await web.account();
    for (const name of ["a.txt", "b.txt"]) await account.client.stored(name, { name });
    const id = await account.client.storedId("c", { name: "c.txt" });
    const page = await web.open({ as: account });
    await row(page, "b.txt").click();
    await page.keyboard.press("ArrowDown");
    await expectFocus(page, "c.txt");
    await account.client.delete(`/api/files/${id}`);
    // Seen when the page becomes visible again; otherwise after half a minute.
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange", { bubbles: true })));
    await row(page, "c.txt").waitFor({ state: "detached" });
    await expectFocus(page, "b.txt");
  });

  test("failures are shown for each entry, and the rest is done", async () => {
    const account = await web.account();
    await account.client.folderId("Box");
    await account.client.stored("there already", { name: "a.txt", fields: { folder: "/Box" } });
    await account.client.stored("there already", { name: "b.txt", fields: { folder: "/Box" } });
    for (const name of ["a.txt", "b.txt", "c.txt"]) await account.client.stored(name, { name });
    const page = await web.open({ as: account });
    await row(page, "a.txt").click();
    await row(page, "c.txt").click({ modifiers: ["Shift"] });
    await row(page, "c.txt").dragTo(row(page, "Box"));
    await page.getByText("1 item moved to Box.").waitFor();
    await page.getByText("2 items failed.").waitFor();
    await page.getByRole("button", { name: "Show" }).click();
    const dialog = page.getByRole("dialog", { name: "2 items failed" });
    await dialog.getByText("a.txt", { exact: true }).waitFor();
    await dialog.getByText("b.txt", { exact: true }).waitFor();
    await web.lookAt(page, "files-failed");
    await closeByKey(page, dialog);
    expect(await account.client.names()).toEqual(["Box", "a.txt", "b.txt"]);
  });

  test("the menu of a folder offers nothing that only files have", async () => {
    const account = await web.account();
    await account.client.folderId("Box");
    const page = await web.open({ as: account });
    await row(page, "Box").click({ button: "right" });
    await page.getByRole("menuitem", { name: "Rename" }).waitFor();
    expect(await page.getByRole("menuitem", { name: /Edit tags|Add to album/ }).count()).toBe(0);
  });

  test("copies, tags, and the menu by keys", async () => {
    const account = await web.account();
    await account.client.folderId("Box");
    await account.client.stored("a", { name: "a.txt", fields: { tags: "draft" } });
    const page = await web.open({ as: account });
    await row(page, "a.txt").click();
    await page.keyboard.press("Shift+F10");
    await page.getByRole("menu").waitFor();
    await web.lookAt(page, "files-menu");
    await page.getByRole("menuitem", { name: "Copy to…" }).click();
    const copying = page.getByRole("dialog", { name: "Copy 1 item" });
    await copying.getByRole("treeitem", { name: "Box" }).click();
    await copying.getByRole("button", { name: "Copy here" }).click();
    await page.getByText("1 item copied to Box.").waitFor();
    expect(await account.client.names("/Box")).toEqual(["a.txt"]);

    await expectFocus(page, "a.txt");
    await page.keyboard.press("Shift+F10");
    await page.getByRole("menuitem", { name: "Edit tags…" }).click();
    const tagging = page.getByRole("dialog", { name: "Edit tags of 1 file" });
    await tagging.getByLabel("Add tags").fill("final, sent");
    await tagging.getByLabel("draft").check();
    await web.lookAt(page, "files-tags");
    await tagging.getByRole("button", { name: "Apply" }).click();
    await page.getByText("Tags updated on 1 file.").waitFor();
    await row(page, "a.txt").getByText("final").waitFor();
    const listed = await account.client.get("/api/files");
    expect(listed.at("data.files.1.tags")).toEqual(["final", "sent"]);
  });

  test("downloads are saved by the browser itself: one file as it is, several as a ZIP", async () => {
    const account = await web.account();
    await account.client.folderId("Box");
    await account.client.stored("the letter", { name: "letter.txt" });
    await account.client.stored("the note", { name: "note.txt" });
    const page = await web.open({ as: account });
    await row(page, "letter.txt").click();
    const one = page.waitForEvent("download");
    await page.getByRole("toolbar").getByRole("button", { name: "Download" }).click();
    expect((await one).suggestedFilename()).toBe("letter.txt");
    expect(await Bun.file(await (await one).path()).text()).toBe("the letter");

    await row(page, "note.txt").click({ modifiers: ["Shift"] });
    await expectSelected(page, 2);
    const several = page.waitForEvent("download");
    await page.getByRole("toolbar").getByRole("button", { name: "Download" }).click();
    const archive = await several;
    expect(archive.suggestedFilename()).toEndWith(".zip");
    const bytes = await Bun.file(await archive.path()).text();
    expect(bytes).toContain("the letter");
    expect(bytes).toContain("the note");
  });

  test("a viewer is offered nothing that would be rejected", async () => {
    const account = await web.account();
    await account.client.stored("a", { name: "a.txt" });
    const changed = await web.server().larder(["user", "set", account.email, "--role", "viewer"]);
    expect(changed.code).toBe(0);
    const page = await web.open({ as: account });
    await row(page, "a.txt").click({ button: "right" });
    await page.getByRole("menuitem", { name: "Download" }).waitFor();
    const offered = await page.getByRole("menuitem").allInnerTexts();
    expect(offered.map((label) => label.split("\n")[0] ?? "")).toEqual(["Open", "Download", "Details"]);
    // While the menu is open, the shortcuts of the page are off.
    await closeMenu(page);
    await expectFocus(page, "a.txt");
    await page.keyboard.press("F2");
    await page.keyboard.press("Delete");
    expect(await page.getByRole("button", { name: "Move to trash" }).count()).toBe(0);
    expect(await page.getByRole("textbox", { name: "New name" }).count()).toBe(0);
    expect(await account.client.names()).toEqual(["a.txt"]);
  });
});
