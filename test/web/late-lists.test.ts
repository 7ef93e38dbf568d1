// A folder that was opened from a list takes the focus when its list is loaded. On a slow line, the person may be at
// something else by then.
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { row } from "./files-helpers.ts";
import { describeWeb } from "./support/browser.ts";
import { closeMenu, untilFocused, untilMenuFocused } from "./support/focus.ts";

describeWeb("a list that loads late", (web) => {
  test("leaves the focus in the field in which the person types", async () => {
    const { page, load } = await openSlowFolder();
    await page.keyboard.press("/");
    await page.keyboard.type("re");
    await load();
    await page.keyboard.type("port");
    expect(await page.getByRole("combobox", { name: "Search files and folders" }).inputValue()).toBe("report");
  });

  test("leaves the focus in an open menu", async () => {
    const { page, load } = await openSlowFolder();
    await page.getByRole("button", { name: "New", exact: true }).click();
    await untilMenuFocused(page);
    await load();
    await page.keyboard.press("ArrowDown");
    await page.locator('[role="menuitem"]:focus').waitFor();
    await closeMenu(page);
  });

  test("takes the focus if the person has done nothing else", async () => {
    const { page, load } = await openSlowFolder();
    await load();
    await row(page, "a.txt").and(page.locator(":focus")).waitFor();
  });

  test("leaves the focus in a dialog when others fill the empty folder below it", async () => {
    const account = await web.account();
    await account.client.folderId("Box");
    const page = await web.open({ as: account });
    await row(page, "Box").dblclick();
    await page.getByText("This folder is empty").waitFor();
    await page.keyboard.press("Shift+N");
    const dialog = page.getByRole("dialog", { name: "New folder" });
    await untilFocused(page, dialog);
    await page.keyboard.type("Holi");
    await account.client.stored("theirs", { name: "a.txt", fields: { folder: "/Box" } });
    await page.evaluate(() => window.dispatchEvent(new Event("visibilitychange")));
    await page.locator("[data-position]").waitFor();
    await page.keyboard.type("days");
    expect(await dialog.getByLabel("Folder name").inputValue()).toBe("Holidays");
  });

  /** A folder with one file, opened from the list above it; `load` lets its list arrive. */
  async function openSlowFolder(): Promise<{ page: Page; load: () => Promise<void> }> {
    const account = await web.account();
    await account.client.folderId("Box");
    await account.client.stored("text", { name: "a.txt", fields: { folder: "/Box" } });
    const page = await web.open({ as: account });
    await row(page, "Box").waitFor();
    const gate = Promise.withResolvers<void>();
    await page.route(/\/api\/files\?.*folder=%2FBox/, async (route) => {
      await gate.promise;
      await route.continue();
    });
    await row(page, "Box").dblclick();
    await page.getByRole("heading", { level: 1, name: "Box" }).waitFor();
    const load = async () => {
      gate.resolve();
      await page.locator("[data-position]").waitFor();
    };
    return { page, load };
  }
});
