// The columns of lists: which are shown, how wide they are, and what is remembered.
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { eventually, expectSelected, names, row } from "./files-helpers.ts";
import { describeWeb, SIZES } from "./support/browser.ts";
import { closeMenu, untilKeysWork } from "./support/focus.ts";
import { lookAt } from "./support/look.ts";

/** The headers of the columns, without the one of the buttons. */
async function headers(page: Page): Promise<string[]> {
  return page
    .getByRole("columnheader")
    .evaluateAll((cells) => cells.slice(0, -1).map((cell) => cell.textContent?.trim() ?? ""));
}

/** The width of an element in CSS pixels. */
async function widthOf(page: Page, selector: string): Promise<number> {
  return page
    .locator(selector)
    .first()
    .evaluate((element) => element.getBoundingClientRect().width);
}

describeWeb("the columns of a list", (web) => {
  test("show the file's own date, and are chosen by people", async () => {
    const account = await web.account();
    const fields = { fileModifiedAt: "2019-03-04T12:00:00Z" };
    await account.client.stored("old", { name: "b old.docx", fields });
    await account.client.stored("new", { name: "a new.txt" });
    const page = await web.open({ as: account });
    await row(page, "b old.docx").getByText("4 Mar 2019").waitFor();
    expect(await headers(page)).toEqual(["Name", "Modified", "Size"]);
    await page.getByRole("columnheader", { name: "Modified" }).getByRole("button").click();
    await eventually(() => names(page), ["b old.docx", "a new.txt"]);

    await page.getByRole("button", { name: "Columns" }).click();
    await page.getByRole("menuitemcheckbox", { name: "Type" }).click();
    await page.getByRole("menuitemcheckbox", { name: "Uploaded" }).click();
    await page.getByRole("menuitemcheckbox", { name: "Size" }).click();
    // Phones show no columns, so the menu would close there.
    await lookAt(page, "columns-menu", { desktop: SIZES.desktop });
    await closeMenu(page);
    await eventually(() => headers(page), ["Name", "Type", "Modified", "Uploaded"]);
    await row(page, "b old.docx").getByText("Word document").waitFor();
    await page.reload();
    await eventually(() => headers(page), ["Name", "Type", "Modified", "Uploaded"]);
    await page.getByRole("row", { name: "Name" }).click({ button: "right" });
    await page.getByRole("menuitem", { name: "Reset columns" }).click();
    await eventually(() => headers(page), ["Name", "Modified", "Size"]);
  });

  test("are hidden without any value, and shown as soon as there is one", async () => {
    const account = await web.account();
    await account.client.stored("1", { name: "a.txt" });
    const page = await web.open({ as: account });
    await row(page, "a.txt").waitFor();
    expect(await headers(page)).toEqual(["Name", "Modified", "Size"]);
    await row(page, "a.txt").click({ button: "right" });
    await page.getByRole("menuitem", { name: "Edit tags…" }).click();
    await page.getByLabel("Add tags").fill("green");
    await page.keyboard.press("Enter");
    await eventually(() => headers(page), ["Name", "Tags", "Modified", "Size"]);
    await row(page, "a.txt").getByText("green").waitFor();
  });

  test("are resized by dragging and by keys, and leave the names their room", async () => {
    const account = await web.account();
    await account.client.stored("1", { name: "a.txt", fields: { tags: "green" } });
    const page = await web.open({ as: account });
    const separator = page.getByRole("separator", { name: "Width of Modified" });
    const header = page.getByRole("columnheader", { name: "Modified" });
    const width = async () => Math.round((await header.boundingBox())?.width ?? 0);
    const before = await width();
    const box = await separator.boundingBox();
    if (box === null) throw new Error("there is no separator");
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 - 60, box.y + 5, { steps: 4 });
    await page.mouse.up();
    await eventually(width, before + 60);
    await separator.focus();
    await page.keyboard.press("ArrowRight");
    await eventually(width, before + 52);
    expect(await separator.getAttribute("aria-valuenow")).toBe("11.8");
    await page.reload();
    await eventually(width, before + 52);

    // As wide as possible: the names keep 12 rem for themselves.
    await separator.focus();
    await page.keyboard.press("End");
    await eventually(async () => Math.round(await widthOf(page, "[data-position] > :first-child > :last-child")), 192);
  });

  test("disappear in a fixed order before the names get narrow", async () => {
    const account = await web.account();
    await account.client.stored("1", { name: "a.txt", fields: { tags: "green" } });
    const page = await web.open({ as: account, path: "/files" });
    await eventually(() => headers(page), ["Name", "Tags", "Modified", "Size"]);
    await row(page, "a.txt").click();
    await page.keyboard.press("i");
    await page.getByRole("region", { name: "Details of a.txt" }).waitFor();
    await eventually(() => headers(page), ["Name"]);
    await row(page, "a.txt")
      .getByText(/1 byte · /)
      .waitFor();
    await page.setViewportSize({ width: 1366, height: 900 });
    await eventually(() => headers(page), ["Name", "Modified", "Size"]);
    expect(await widthOf(page, "[data-position] > :first-child > :last-child")).toBeGreaterThanOrEqual(192);
  });

  test("sort naturally by name, also when the order is reversed", async () => {
    const account = await web.account();
    for (const name of ["note 10.txt", "note 2.txt", "Note 1.txt"]) await account.client.stored(name, { name });
    const page = await web.open({ as: account });
    await eventually(() => names(page), ["Note 1.txt", "note 2.txt", "note 10.txt"]);
    // By keyboard: the keys of a header are not those of the list.
    await page.getByRole("columnheader", { name: "Name" }).getByRole("button").focus();
    await page.keyboard.press("Enter");
    await eventually(() => names(page), ["note 10.txt", "note 2.txt", "Note 1.txt"]);
  });

  test("sort searches by the address, and the trash as last chosen", async () => {
    const account = await web.account();
    const ids: string[] = [];
    for (const name of ["note 2.txt", "note 10.txt", "note 1.txt"]) {
      ids.push(await account.client.storedId(name, { name }));
    }
    const page = await web.open({ as: account, path: "/search?q=note" });
    await page.getByText("3 results · Sorted by: Relevance").waitFor();
    await page.getByRole("columnheader", { name: "Name" }).getByRole("button").click();
    await eventually(() => names(page), ["note 1.txt", "note 2.txt", "note 10.txt"]);
    expect(new URL(page.url()).searchParams.get("sort")).toBe("natural");
    await page.reload();
    await eventually(() => names(page), ["note 1.txt", "note 2.txt", "note 10.txt"]);

    await account.client.post("/api/files/trash", { fileIds: ids });
    await page.goto("/trash");
    await page.getByRole("columnheader", { name: "Name" }).getByRole("button").click();
    await eventually(() => names(page), ["note 1.txt", "note 2.txt", "note 10.txt"]);
    await page.reload();
    await eventually(() => names(page), ["note 1.txt", "note 2.txt", "note 10.txt"]);
  });

  test("takes keys before the first click, and has a menu on its empty space", async () => {
    const account = await web.account();
    for (const name of ["a.txt", "b.txt"]) await account.client.stored(name, { name });
    const page = await web.open({ as: account });
    await row(page, "b.txt").waitFor();
    await untilKeysWork(page);
    await page.keyboard.press("Control+a");
    await expectSelected(page, 2);
    await page.keyboard.press("Escape");
    await expectSelected(page, 0);
    await page.getByRole("grid").click({ button: "right", position: { x: 300, y: 400 } });
    await page.getByRole("menuitem", { name: "New folder" }).waitFor();
    await web.lookAt(page, "files-background-menu");
    await page.getByRole("menuitem", { name: "Select all" }).click();
    await expectSelected(page, 2);
  });
});
