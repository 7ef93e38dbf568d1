// Selecting files: by mouse, by keys and by touch.
import { expect, test } from "bun:test";
import type { Account } from "../support/client.ts";
import { expectStatus } from "../support/expect.ts";
import { eventually, expectFocus, expectSelected, longPress, row, tile } from "./files-helpers.ts";
import { describeWeb } from "./support/browser.ts";
import { closeMenu } from "./support/focus.ts";

const NAMES = ["alpha.txt", "beta.txt", "gamma.txt", "delta.txt", "epsilon.txt", "zeta.txt"].sort();

describeWeb("selecting files", (web) => {
  async function withFiles(): Promise<Account> {
    const account = await web.account();
    await account.client.folderId("Box");
    await Promise.all(NAMES.map((name) => account.client.stored(name, { name })));
    return account;
  }

  test("by mouse: one, add, range, and a rectangle", async () => {
    const page = await web.open({ as: await withFiles() });
    await row(page, "alpha.txt").click();
    await expectSelected(page, 1);
    await row(page, "delta.txt").click({ modifiers: ["Control"] });
    await expectSelected(page, 2);
    await row(page, "gamma.txt").click({ modifiers: ["Shift"] });
    // From the last selected entry: delta, epsilon, gamma.
    await expectSelected(page, 3);
    expect(await row(page, "epsilon.txt").getAttribute("aria-selected")).toBe("true");
    await row(page, "epsilon.txt").locator("[data-part=check]").click();
    await expectSelected(page, 2);
    await web.lookAt(page, "files-selected");
    await page.getByRole("button", { name: "Clear selection" }).click();
    await expectSelected(page, 0);

    const from = await row(page, "zeta.txt").boundingBox();
    const to = await row(page, "gamma.txt").boundingBox();
    if (from === null || to === null) throw new Error("rows have no place");
    await page.mouse.move(from.x + 40, from.y + from.height + 30);
    await page.mouse.down();
    await page.mouse.move(from.x + 120, from.y + 10, { steps: 4 });
    await page.mouse.move(to.x + 160, to.y + to.height / 2, { steps: 4 });
    await page.mouse.up();
    await expectSelected(page, 2);
    expect(await row(page, "gamma.txt").getAttribute("aria-selected")).toBe("true");
  });

  test('"all" means what exists when the action runs, not what the page has loaded', async () => {
    const account = await web.account();
    const { client } = account;
    const ids: string[] = [];
    for (let at = 100; at < 250; at++) ids.push(await client.storedId("x", { name: `f${at}.txt` }));
    const page = await web.open({ as: account });
    await row(page, "f100.txt").click();
    await page.keyboard.press("End");
    await row(page, "f249.txt").waitFor();
    await page.keyboard.press("Control+a");
    await expectSelected(page, 150);
    await page.keyboard.press("Control+ArrowUp");
    await page.keyboard.press("Space");
    await expectSelected(page, 149);
    // Some are removed, a whole page of the list among them, others are added before and after, and the page is not
    // notified.
    expectStatus(await client.post("/api/files/trash", { fileIds: ids.slice(0, 70) }), 200);
    for (let at = 0; at < 15; at++) await client.stored("y", { name: `${at % 2 === 0 ? "a" : "z"}${at}.txt` });
    await page.keyboard.press("Delete");
    await page.getByText("94 items moved to trash.").waitFor();
    // Exceptions are stored by id, not by position.
    expect(await client.names()).toEqual(["f248.txt"]);

    await expectFocus(page, "f248.txt");
    for (let at = 100; at < 220; at++) await client.stored("z", { name: `n${at}.txt` });
    await page.keyboard.press("Control+a");
    await page.keyboard.press("Delete");
    await page.getByText("121 items moved to trash.").waitFor();
    expect(await client.names()).toEqual([]);
  });

  test("by keyboard alone: into the list, along it, ranges, all, and into and out of a folder", async () => {
    const page = await web.open({ as: await withFiles() });
    await row(page, "Box").waitFor();
    await page.locator('[data-position="0"]').focus();
    await page.keyboard.press("ArrowDown");
    await expectFocus(page, "alpha.txt");
    await expectSelected(page, 1);
    await page.keyboard.press("Shift+End");
    await expectSelected(page, NAMES.length);
    await expectFocus(page, "zeta.txt");
    await page.keyboard.press("Escape");
    await expectSelected(page, 0);
    await page.keyboard.press("Control+a");
    await expectSelected(page, NAMES.length + 1);
    await page.keyboard.press("Control+ArrowUp");
    await expectFocus(page, NAMES[NAMES.length - 2] ?? "");
    await page.keyboard.press("Space");
    await expectSelected(page, NAMES.length);
    // Typing goes to a name.
    await page.keyboard.type("ga");
    await expectFocus(page, "gamma.txt");
    await expectSelected(page, 1);

    await page.keyboard.press("Home");
    await expectFocus(page, "Box");
    await page.keyboard.press("Enter");
    await page.getByText("This folder is empty").waitFor();
    await page.keyboard.press("Backspace");
    await expectFocus(page, "Box");
  });

  test("tiles have rows and columns", async () => {
    const page = await web.open({ as: await withFiles() });
    await page.getByRole("button", { name: "Tiles" }).click();
    await tile(page, "Box").click();
    await page.keyboard.press("ArrowRight");
    await expectFocus(page, "alpha.txt");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    await expectFocus(page, "alpha.txt");
    await page.keyboard.press("Shift+ArrowRight");
    await expectSelected(page, 2);
    await web.lookAt(page, "files-tiles");
    // Stored on this device.
    await page.reload();
    await tile(page, "Box").waitFor();
  });

  test("by touch: a long press starts, taps continue, and without a selection a tap opens", async () => {
    const page = await web.open({ as: await withFiles(), size: "phone" });
    await row(page, "alpha.txt").waitFor();
    await longPress(page, row(page, "alpha.txt"), () => expectSelected(page, 1));
    await row(page, "gamma.txt").tap();
    await expectSelected(page, 2);
    expect(await page.getByRole("menu").count()).toBe(0);
    await web.lookAt(page, "files-touch");
    await row(page, "gamma.txt").tap();
    await row(page, "alpha.txt").tap();
    await expectSelected(page, 0);
    await row(page, "Box").getByRole("button", { name: "More actions for Box" }).tap();
    await page.getByRole("menuitem", { name: "Rename" }).waitFor();
    await closeMenu(page);
    await expectSelected(page, 0);
    await row(page, "Box").tap();
    await page.getByText("This folder is empty").waitFor();
    expect(new URL(page.url()).pathname).toBe("/files/Box");
  });

  test("a press on the lowest visible row counts: the list does not scroll under the finger", async () => {
    const account = await web.account();
    for (let at = 10; at < 40; at++) await account.client.stored("text", { name: `f${at}.txt` });
    const page = await web.open({ as: account, size: "phone" });
    await row(page, "f10.txt").waitFor();
    const lowest = await page.evaluate(() => {
      const bottom = document.querySelector('[role="grid"]')?.getBoundingClientRect().bottom ?? 0;
      const rows = [...document.querySelectorAll("[data-position]")];
      const visible = rows.filter((candidate) => candidate.getBoundingClientRect().bottom <= bottom);
      return visible.at(-1)?.querySelector("[title]")?.getAttribute("title") ?? "";
    });
    await page.getByText(lowest, { exact: true }).tap();
    await page.getByRole("dialog").getByRole("heading", { name: lowest }).waitFor();
  });

  test("screen readers get positions and the number of selected entries", async () => {
    const page = await web.open({ as: await withFiles() });
    const grid = page.getByRole("grid", { name: "Contents of Files" });
    await row(page, "zeta.txt").click();
    expect(await grid.getAttribute("aria-rowcount")).toBe(String(NAMES.length + 2));
    expect(await row(page, "zeta.txt").getAttribute("aria-rowindex")).toBe(String(NAMES.length + 2));
    await eventually(async () => (await page.locator("#announcements").innerText()).trim(), "1 selected");
    // One tab stop for all rows.
    expect(await grid.locator('[data-position][tabindex="0"]').count()).toBe(1);
  });
});
