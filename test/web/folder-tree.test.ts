import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { row } from "./files-helpers.ts";
import { describeWeb } from "./support/browser.ts";
import { undo } from "./support/undo.ts";

const treeOf = (page: Page) => page.getByRole("tree", { name: "Folders" });
const item = (page: Page, name: string) => treeOf(page).getByRole("treeitem", { name, exact: true });
const title = (page: Page, name: string) => page.getByRole("heading", { level: 1, name }).waitFor();

/** Moves the pointer: only then the tree is loaded. */
async function use(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.mouse.move(600, 300);
  await page.mouse.move(610, 310);
}

async function names(page: Page): Promise<string[]> {
  return treeOf(page)
    .getByRole("treeitem")
    .evaluateAll((items) => items.map((one) => one.textContent ?? ""));
}

describeWeb("the folder tree in the sidebar", (web) => {
  test("opens folders, follows the current one, and remembers what is open", async () => {
    const account = await web.account();
    for (const [name, path] of [
      ["2024", "/Photos"],
      ["2025", "/Photos"],
      ["Sea", "/Photos/2024"],
      ["Music", "/"],
    ] as const) {
      await account.client.folderId(name, path);
    }
    const page = await web.open({ as: account, path: "/files" });
    await use(page);
    await item(page, "Photos").waitFor();
    await web.lookAt(page, "folder-tree");
    await item(page, "Photos").locator("[data-part=toggle]").click();
    await item(page, "2024").click();
    await title(page, "2024");
    expect(await item(page, "2024").getAttribute("aria-selected")).toBe("true");
    await row(page, "Sea").dblclick();
    await title(page, "Sea");
    await item(page, "Sea").waitFor();
    await page.reload();
    await use(page);
    await item(page, "Sea").waitFor();
    await page.goBack();
    await page.goBack();
    await title(page, "Files");
    expect(await names(page)).toEqual(["Music", "Photos", "2024", "Sea", "2025"]);
    // Others change folders: the tree follows.
    await page.keyboard.press("Shift+N");
    await page.getByLabel("Folder name").fill("Books");
    await page.keyboard.press("Enter");
    await item(page, "Books").waitFor();
    await page.getByRole("button", { name: "Folders" }).click();
    await treeOf(page).waitFor({ state: "detached" });
    await page.reload();
    await use(page);
    await row(page, "Books").waitFor();
    expect(await treeOf(page).count()).toBe(0);
  });

  test("can be used by keyboard", async () => {
    const account = await web.account();
    await account.client.folderId("2024", "/Photos");
    for (const name of ["Alpha", "Beta", "Zeta"]) await account.client.folderId(name);
    const page = await web.open({ as: account, path: "/files" });
    await use(page);
    await item(page, "Alpha").focus();
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    for (const [key, expected] of [
      ["ArrowDown", "Beta"],
      ["End", "Zeta"],
      ["Home", "Alpha"],
      ["p", "Photos"],
    ] as const) {
      await page.keyboard.press(key);
      expect(await focused()).toBe(expected);
    }
    await page.keyboard.press("ArrowRight");
    await item(page, "2024").waitFor();
    await page.keyboard.press("ArrowRight");
    expect(await focused()).toBe("2024");
    await page.keyboard.press("Enter");
    await title(page, "2024");
    await item(page, "2024").focus();
    await page.keyboard.press("ArrowLeft");
    expect(await focused()).toBe("Photos");
    await page.keyboard.press("ArrowLeft");
    await item(page, "2024").waitFor({ state: "detached" });
  });

  test("takes dragged entries: moves them, copies them with Ctrl, and opens folders on the way", async () => {
    const account = await web.account();
    await account.client.folderId("Inner", "/Box");
    for (const name of ["a.txt", "b.txt"]) await account.client.storedId(name, { name });
    const page = await web.open({ as: account, path: "/files" });
    await use(page);
    await item(page, "Box").waitFor();
    await row(page, "a.txt").dragTo(item(page, "Box"));
    await undo(page, "1 item moved to Box.");
    await row(page, "a.txt").waitFor();

    const from = await row(page, "b.txt").boundingBox();
    const to = await item(page, "Box").boundingBox();
    if (from === null || to === null) throw new Error("nothing to drag");
    await page.mouse.move(from.x + 60, from.y + 10);
    await page.mouse.down();
    // The second move reaches the folder as the first event over it.
    await page.mouse.move(to.x + 60, to.y + 10, { steps: 5 });
    await page.mouse.move(to.x + 62, to.y + 12);
    await item(page, "Inner").waitFor();
    const inner = await item(page, "Inner").boundingBox();
    if (inner === null) throw new Error("the folder did not open");
    await page.keyboard.down("Control");
    await page.mouse.move(inner.x + 60, inner.y + 10, { steps: 5 });
    await page.mouse.move(inner.x + 62, inner.y + 12);
    await page.mouse.up();
    await page.keyboard.up("Control");
    await page.getByText("1 item copied to Inner.").waitFor();
    expect((await account.client.get("/api/files?folder=/Box/Inner")).strings("data.files", "name")).toEqual(["b.txt"]);
    await row(page, "b.txt").waitFor();
  });

  test("takes files from the desktop", async () => {
    const account = await web.account();
    await account.client.folderId("Box");
    const page = await web.open({ as: account, path: "/files" });
    await use(page);
    await item(page, "Box").waitFor();
    const transfer = await page.evaluateHandle(() => {
      const data = new DataTransfer();
      data.items.add(new File(["from the desktop"], "desktop.txt", { type: "text/plain" }));
      return data;
    });
    for (const type of ["dragenter", "dragover", "drop"]) {
      await item(page, "Box").dispatchEvent(type, { dataTransfer: transfer });
    }
    await item(page, "Box").click();
    await row(page, "desktop.txt").waitFor();
    expect(await account.client.names("/")).toEqual(["Box"]);
  });

  test("shows the current one of 300 folders, and renders only the visible ones", async () => {
    const account = await web.account();
    await Promise.all(Array.from({ length: 300 }, (_, n) => account.client.folderId(`f${1000 + n}`, "/Many")));
    const page = await web.open({ as: account, path: "/files/Many/f1250" });
    await use(page);
    await item(page, "f1250").waitFor();
    expect(await item(page, "f1250").getAttribute("aria-setsize")).toBe("300");
    expect((await names(page)).length).toBeLessThan(80);
    await item(page, "f1250").focus();
    await page.keyboard.press("End");
    await page.waitForFunction(() => document.activeElement?.textContent === "f1299");
  });
});
