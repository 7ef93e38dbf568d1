import { expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { shareWith } from "../support/account-shares.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import type { Account } from "../support/client.ts";
import { tryLock } from "../support/dav-locks.ts";
import { connectDav } from "../support/webdav.ts";
import { row } from "./files-helpers.ts";
import { describeWeb } from "./support/browser.ts";
import { untilFocused } from "./support/focus.ts";
import { openPreview, overlay } from "./support/preview.ts";

/** The text that a person types into. */
function area(page: Page): Locator {
  return page.getByRole("textbox", { name: /^Text of/ });
}

/** Waits until the editor has the focus. */
async function untilReady(page: Page): Promise<void> {
  await page.locator('[data-editor="ready"]').waitFor();
  await area(page).and(page.locator(":focus")).waitFor();
}

const status = (page: Page, text: string) => page.getByRole("status").getByText(text, { exact: true }).waitFor();

async function bytesOf(account: Account, id: string): Promise<string> {
  return Buffer.from((await account.client.get(`/api/files/${id}/download`)).bytes).toString("latin1");
}

async function versions(account: Account, id: string): Promise<number> {
  return (await account.client.get(`/api/files/${id}/versions`)).strings("data.versions", "checksum").length;
}

/** Whether the browser has stored the unsaved text. Runs in the page. */
async function hasDraft(): Promise<boolean> {
  const database = await new Promise<IDBDatabase>((resolve) => {
    const opening = indexedDB.open("larder-drafts", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("drafts");
    opening.onsuccess = () => resolve(opening.result);
  });
  const found = await new Promise<unknown[]>((resolve) => {
    const reading = database.transaction("drafts").objectStore("drafts").getAll();
    reading.onsuccess = () => resolve(reading.result);
  });
  database.close();
  return JSON.stringify(found).includes("new old");
}

/** Stores the drafts of this browser for another account too. Runs in the page. */
async function copyDrafts(userId: string): Promise<void> {
  const database = await new Promise<IDBDatabase>((resolve) => {
    const opening = indexedDB.open("larder-drafts", 1);
    opening.onsuccess = () => resolve(opening.result);
  });
  await new Promise<void>((resolve) => {
    const transaction = database.transaction("drafts", "readwrite");
    transaction.oncomplete = () => resolve();
    const drafts = transaction.objectStore("drafts");
    const reading = drafts.openCursor();
    reading.onsuccess = () => {
      if (reading.result !== null) drafts.put(reading.result.value, [userId, "file"]);
    };
  });
  database.close();
}

/** The ids of the accounts with drafts. Runs in the page. */
async function draftOwners(): Promise<string[]> {
  const database = await new Promise<IDBDatabase>((resolve) => {
    const opening = indexedDB.open("larder-drafts", 1);
    opening.onsuccess = () => resolve(opening.result);
  });
  const found = await new Promise<IDBValidKey[]>((resolve) => {
    const reading = database.transaction("drafts").objectStore("drafts").getAllKeys();
    reading.onsuccess = () => resolve(reading.result);
  });
  database.close();
  return found.flatMap((key) => (Array.isArray(key) && typeof key[0] === "string" ? [key[0]] : []));
}

describeWeb("the editor", (web) => {
  test("changes a text from the preview, saved by key as a version with the same line ends", async () => {
    const account = await web.account();
    const id = await account.client.storedId("\uFEFFone\r\ntwo\r\n", { name: "list.txt" });
    const page = await web.open({ as: account });
    await openPreview(page, "list.txt");
    await page.keyboard.press("e");
    await untilReady(page);
    await status(page, "No changes");
    await page.keyboard.press("Control+End");
    await page.keyboard.type("three");
    await status(page, "Unsaved changes");
    await page.keyboard.press("Control+s");
    await status(page, "Saved");
    expect(await bytesOf(account, id)).toBe("\xEF\xBB\xBFone\r\ntwo\r\nthree");
    expect(await versions(account, id)).toBe(2);
    await web.lookAt(page, "editor");
    // Back is the preview, with the new text.
    await page.getByRole("button", { name: "Close editor" }).click();
    await overlay(page).getByText("three").waitFor();
  });

  test("creates a Markdown file in the folder, with its preview beside it", async () => {
    const account = await web.account();
    const page = await web.open({ as: account });
    await page.getByRole("button", { name: "New", exact: true }).click();
    await page.getByRole("menuitem", { name: "New Markdown file" }).click();
    await untilFocused(page);
    await page.keyboard.type("Plan");
    await page.keyboard.press("Enter");
    await untilReady(page);
    expect(await account.client.names()).toEqual(["Plan.md"]);
    await page.keyboard.type("# Garden\n\nbeans");
    const preview = page.getByRole("region", { name: "Preview of Plan.md" });
    await preview.getByRole("heading", { name: "Garden" }).waitFor();
    await page.keyboard.press("Shift+Home");
    await page.getByRole("button", { name: "Bold" }).click();
    await page.keyboard.press("End");
    await page.keyboard.type("\n\n- [x] sow\nwater\n\n\n| bed | plant |\n|---|---|\n| 1 | peas |");
    await preview.locator("strong", { hasText: "beans" }).waitFor();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await status(page, "Saved");
    await web.lookAt(page, "editor-markdown");
    await page.goBack();
    await page.getByRole("main").getByText("Plan.md", { exact: true }).waitFor();
  });

  test("keeps the person until they decide, and their changes in the browser", async () => {
    const account = await web.account();
    const id = await account.client.storedId("old", { name: "note.txt" });
    const page = await web.open({ as: account });
    await openPreview(page, "note.txt");
    await overlay(page).getByRole("button", { name: "Edit" }).click();
    await untilReady(page);
    await page.keyboard.type("new ");
    await status(page, "Unsaved changes");
    await page.goBack();
    const question = page.getByRole("alertdialog", { name: "Save your changes?" });
    await untilFocused(page, question);
    await web.lookAt(page, "editor-leave");
    await page.keyboard.press("Escape");
    await question.waitFor({ state: "detached" });
    await area(page).getByText("new old").waitFor();
    // As after a crash: the next visit finds the text.
    await eventually("the draft is stored", () => page.evaluate(hasDraft));
    page.once("dialog", (dialog) => void dialog.accept());
    await page.reload();
    await page.getByText(/Your unsaved changes from .* are back\./).waitFor();
    await area(page).getByText("new old").waitFor();
    await untilReady(page);
    await page.getByRole("button", { name: "Close editor" }).click();
    await untilFocused(page, question);
    await question.getByRole("button", { name: "Save and close" }).click();
    await overlay(page).getByText("new old").waitFor();
    expect(await bytesOf(account, id)).toBe("new old");
    expect(await versions(account, id)).toBe(2);
  });

  test("asks before a sign-out that deletes unsaved changes, and deletes only those of the account", async () => {
    const [account, other] = [await web.account(), await web.account()];
    const id = await account.client.storedId("old", { name: "note.txt" });
    const page = await web.open({ as: account, path: `/edit/${id}` });
    await untilReady(page);
    await page.keyboard.type("new ");
    await eventually("the draft is stored", () => page.evaluate(hasDraft));
    page.once("dialog", (dialog) => void dialog.accept());
    await page.goto(new URL("/files", page.url()).href);
    await row(page, "note.txt").waitFor();
    await page.evaluate(copyDrafts, other.id);
    const signOut = async () => {
      await page.getByRole("button", { name: /^Account: / }).click();
      await page.getByRole("menuitem", { name: "Sign out" }).click();
    };
    await signOut();
    const question = page.getByRole("alertdialog", { name: "Sign out and delete unsaved changes?" });
    await untilFocused(page, question);
    await question.getByText("This browser has unsaved changes in 1 text.").waitFor();
    await web.lookAt(page, "editor-sign-out");
    await question.getByRole("button", { name: "Stay signed in" }).click();
    await question.waitFor({ state: "detached" });
    expect(await page.evaluate(draftOwners)).toEqual([account.id, other.id].toSorted());
    await signOut();
    await untilFocused(page, question);
    await question.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
    expect(await page.evaluate(draftOwners)).toEqual([other.id]);
  });

  test("keeps no unsaved text that is typed while another tab signs out", async () => {
    const account = await web.account();
    const id = await account.client.storedId("old", { name: "note.txt" });
    const page = await web.open({ as: account });
    await row(page, "note.txt").waitFor();
    const editor = await web.openTab(page, `/edit/${id}`);
    await untilReady(editor);
    // On a slow line, the sign-in page comes later than the draft would be stored.
    const { promise: mayLeave, resolve: leave } = Promise.withResolvers<void>();
    await editor.route(/\/sign-in/, async (route) => {
      await mayLeave;
      await route.continue();
    });
    await editor.evaluate(() =>
      document.addEventListener("input", () => setTimeout(() => console.info("typed a second ago"), 1_000)),
    );
    const typed = editor.waitForEvent("console", (message) => message.text() === "typed a second ago");
    const leaving = editor.waitForRequest(/\/sign-in/);
    await page.getByRole("button", { name: /^Account: / }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await leaving;
    await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
    await editor.keyboard.type("new ");
    await typed;
    leave();
    await editor.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
    expect(await page.evaluate(draftOwners)).toEqual([]);
  });

  test("does not overwrite what was saved since: the person compares and chooses", async () => {
    const account = await web.account();
    const id = await account.client.storedId("one\ntwo\nthree", { name: "list.txt" });
    const page = await web.open({ as: account, path: `/edit/${id}` });
    await untilReady(page);
    await page.keyboard.type("zero ");
    expectStatus(await account.client.putContent(id, "one\ntwo\nTHREE"), 200);
    await page.keyboard.press("Control+s");
    const dialog = page.getByRole("dialog", { name: "The file has changed" });
    await untilFocused(page, dialog);
    web.expectProblems(page, /412/);
    const comparison = dialog.getByRole("region", { name: "Compare" });
    expect((await comparison.innerText()).split("\n").map((line) => line.trim())).toEqual([
      "− one",
      "+ zero one",
      "two",
      "− THREE",
      "+ three",
    ]);
    await web.lookAt(page, "editor-conflict");
    await dialog.getByRole("button", { name: "Save mine as a copy" }).click();
    await page.getByText("Saved as list (1).txt.").waitFor();
    await area(page).getByText("THREE").waitFor();
    await area(page).click();
    await page.keyboard.press("Control+Home");
    await page.keyboard.type("first ");
    expectStatus(await account.client.putContent(id, "theirs"), 200);
    await page.keyboard.press("Control+s");
    await untilFocused(page, dialog);
    await dialog.getByRole("button", { name: "Save mine over it" }).click();
    await dialog.waitFor({ state: "detached" });
    await status(page, "Saved");
    expect(await bytesOf(account, id)).toBe("first one\ntwo\nTHREE");
    expect(await versions(account, id)).toBe(4);
  });

  test("offers a copy when the file is lost while somebody types", async () => {
    // Saving failed with a message, and the changes stayed in a draft of a file that nobody could open.
    const [owner, account] = [await web.account(), await web.account()];
    const id = await owner.client.storedId("one", { name: "lost.txt" });
    await shareWith(owner.client, id, account, { permissions: "write" });
    const page = await web.open({ as: account, path: `/edit/${id}` });
    await untilReady(page);
    await page.keyboard.type("zero ");
    expectStatus(await owner.client.delete(`/api/files/${id}`), 200);
    await page.keyboard.press("Control+s");
    web.expectProblems(page, /404/);
    const dialog = page.getByRole("dialog", { name: "The file can't be saved any more" });
    await untilFocused(page, dialog);
    await dialog.getByRole("button", { name: "Save mine as a copy" }).click();
    await page.getByText("Saved as lost.txt.").waitFor();
    const copies = await account.client.get("/api/files?folder=/");
    expect(copies.strings("data.files", "name")).toEqual(["lost.txt"]);
    expect(await bytesOf(account, copies.string("data.files.0.id"))).toBe("zero one");
  });

  test("refuses what it could damage, and shows locks and missing rights before one types", async () => {
    const [account, other] = [await web.account(), await web.account()];
    const binary = await account.client.storedId("a\0b", { name: "raw.txt", type: "text/plain" });
    const large = await account.client.storedId("x".repeat(2 * 1024 * 1024 + 1), { name: "large.txt" });
    for (const [id, message] of [
      [binary, "isn't text in UTF-8 or UTF-16"],
      [large, "Texts of up to 2"],
    ] as const) {
      const page = await web.open({ as: account, path: `/edit/${id}` });
      await page.getByText(message).waitFor();
      await page.getByRole("link", { name: "Download" }).waitFor();
    }
    const id = await account.client.storedId("locked", { name: "a.txt" });
    const dav = await connectDav(account, { name: "Writer" });
    expectStatus(await tryLock(dav, "a.txt", { depth: "0", timeout: "Second-600" }), 200);
    const owner = await web.open({ as: account, path: `/edit/${id}` });
    await owner.getByText(/^Writer has locked this file until/).waitFor();
    await web.lookAt(owner, "editor-locked");
    await untilReady(owner);
    await owner.keyboard.type("more ");
    await owner.keyboard.press("Control+s");
    await owner
      .getByText(/locked/)
      .last()
      .waitFor();
    web.expectProblems(owner, /423|409/);
    await status(owner, "Unsaved changes");

    await shareWith(account.client, id, other, { permissions: "read" });
    const reader = await web.open({ as: other, path: `/edit/${id}` });
    await reader.getByText("You can read this file, but not change it.").waitFor();
    expect(await reader.getByRole("button", { name: "Save", exact: true }).count()).toBe(0);
    const stranger = await web.open({ as: await web.account(), path: `/edit/${id}` });
    await stranger.getByText(/not found/).waitFor();
    web.expectProblems(stranger, /404/);
  });

  test("on a phone the tools are below the text, and the keyboard leaves it by Escape and Tab", async () => {
    const account = await web.account();
    const id = await account.client.storedId("# Title", { name: "read.md" });
    const page = await web.open({ as: account, size: "phone", path: `/edit/${id}`, context: { hasTouch: true } });
    await untilReady(page);
    const tools = page.getByRole("toolbar", { name: "Editing tools" });
    const box = await tools.boundingBox();
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBe(844);
    await page.getByRole("button", { name: "Preview" }).tap();
    await page.getByRole("region", { name: "Preview of read.md" }).getByRole("heading", { name: "Title" }).waitFor();
    expect(await area(page).isVisible()).toBe(false);
    // The tools would change a text that nobody sees.
    expect(await tools.isVisible()).toBe(false);
    await page.getByRole("button", { name: "Preview" }).tap();
    await area(page).tap();
    await page.keyboard.press("Tab");
    await status(page, "Unsaved changes");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    expect(await area(page).and(page.locator(":focus")).count()).toBe(0);
    await tools.getByRole("button", { name: "Undo" }).tap();
    await status(page, "No changes");
  });
});
