// A folder of 10,000 files: only visible pages are loaded, and it is selected and moved as a whole.
import { afterAll, expect, test } from "bun:test";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Account } from "../support/client.ts";
import { temporaryDirectory } from "../support/server.ts";
import { eventually, expectFocus, expectSelected, row } from "./files-helpers.ts";
import { describeWeb } from "./support/browser.ts";
import { message, undo } from "./support/undo.ts";

const FILES = 10_000;
/** Ten thousand actions, each durable, on a busy machine. */
const LONG_MS = 240_000;

describeWeb("a folder of 10,000 files", (web) => {
  const folders: string[] = [];
  afterAll(async () => {
    await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
  });

  async function withManyFiles(): Promise<Account> {
    const account = await web.account();
    const folder = await temporaryDirectory();
    folders.push(folder);
    await mkdir(join(folder, "many"));
    for (let index = 0; index < FILES; index += 1) {
      await writeFile(join(folder, "many", nameOf(index)), `content of ${index % 50}`);
    }
    const imported = await web.server().larder(["import", folder, "--user", account.email]);
    if (imported.code !== 0) throw new Error(`import failed: ${imported.stdout}${imported.stderr}`);
    return account;
  }

  test(
    "is shown at once, scrolled to its end, selected as a whole, trashed and restored",
    async () => {
      const account = await withManyFiles();
      const page = await web.open({ as: account, path: "/files/many" });
      const grid = page.getByRole("grid", { name: "Contents of many" });
      await row(page, nameOf(0)).click();
      expect(await grid.getAttribute("aria-rowcount")).toBe(String(FILES + 1));

      // The scroll bar has its final size from the start; in the middle only visible pages are loaded.
      const requestedPages: string[] = [];
      page.on("request", (request) => {
        if (request.url().includes("/api/files?"))
          requestedPages.push(new URL(request.url()).searchParams.get("page") ?? "");
      });
      await grid.evaluate((list) => {
        list.scrollTop = (list.scrollHeight - list.clientHeight) / 2;
      });
      await row(page, nameOf(FILES / 2)).waitFor();
      expect(new Set(requestedPages).size).toBeLessThan(6);
      await web.lookAt(page, "files-10000");

      await row(page, nameOf(FILES / 2)).click();
      await page.keyboard.press("End");
      await expectFocus(page, nameOf(FILES - 1));
      await page.keyboard.press("Home");
      await expectFocus(page, nameOf(0));
      expect(await page.locator("[data-position]").count()).toBeLessThan(80);

      // Keys that are pressed faster than the list scrolls lose neither the position nor the focus.
      const endsWithin = await grid.evaluate(async (list) => {
        for (let presses = 0; presses < 5; presses += 1) {
          const press = new KeyboardEvent("keydown", { key: "PageDown", bubbles: true, cancelable: true });
          document.activeElement?.dispatchEvent(press);
          await Promise.resolve();
        }
        return list.contains(document.activeElement);
      });
      expect(endsWithin).toBe(true);
      await page.keyboard.press("Home");
      await expectFocus(page, nameOf(0));

      // A range over pages that were never visible.
      for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press("PageDown");
      await page.keyboard.press("Shift+End");
      const selected = page.getByRole("toolbar").getByText(/ selected$/);
      await eventually(async () => Number((await selected.innerText()).replaceAll(/\D/g, "")) > FILES - 100, true);

      await page.keyboard.press("Control+a");
      await expectSelected(page, FILES);
      await page.keyboard.press("Delete");
      await page.getByText("10,000 items moved to trash.").waitFor({ timeout: LONG_MS });
      // A message stays as long as the pointer is on it.
      await message(page, "10,000 items moved to trash.").hover();
      await page.getByText("This folder is empty").waitFor();
      expect((await account.client.get("/api/files/trash")).number("data.pagination.total")).toBe(FILES);

      await undo(page, "10,000 items moved to trash.");
      await page.getByText("10,000 items restored.").waitFor({ timeout: LONG_MS });
      await row(page, nameOf(0)).waitFor();
      const listed = await account.client.get("/api/files?folder=/many");
      expect(listed.number("data.pagination.total")).toBe(FILES);
    },
    3 * LONG_MS,
  );
});

function nameOf(index: number): string {
  return `file ${String(index).padStart(5, "0")}.txt`;
}
