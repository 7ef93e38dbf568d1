// Helpers for tests of file lists.
import { expect } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { closeMenu } from "./support/focus.ts";

/** The row of an entry in the list. */
export function row(page: Page, name: string): Locator {
  return page.getByRole("row").filter({ has: page.getByTitle(name, { exact: true }) });
}

/** The tile of an entry. */
export function tile(page: Page, name: string): Locator {
  return page.getByRole("gridcell").filter({ has: page.getByTitle(name, { exact: true }) });
}

/** The labels in the menu of an entry of the list. */
export async function menuLabels(page: Page, name: string): Promise<string[]> {
  await row(page, name)
    .getByRole("button", { name: `More actions for ${name}` })
    .click();
  const items = page.getByRole("menuitem");
  await items.first().waitFor();
  const labels = await items.evaluateAll((all) => all.map((item) => item.querySelector("span")?.textContent ?? ""));
  await closeMenu(page);
  return labels;
}

/** Names of the rendered rows, from the top. */
export async function names(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>("[data-position]")]
      .sort((one, other) => Number(one.dataset["position"]) - Number(other.dataset["position"]))
      .map((row) => row.querySelector("[title]")?.getAttribute("title") ?? ""),
  );
}

/** Waits until exactly this many are selected. */
export async function expectSelected(page: Page, count: number): Promise<void> {
  const words = `${count.toLocaleString("en-GB")} selected`;
  if (count === 0)
    await page.getByRole("toolbar", { name: "Actions for the selection" }).waitFor({ state: "detached" });
  else await page.getByRole("toolbar").getByText(words, { exact: true }).waitFor();
}

/** Waits until the focus is on the row or tile of an entry. */
export async function expectFocus(page: Page, name: string): Promise<void> {
  await page.waitForFunction((expected) => {
    const focused = document.activeElement;
    return (
      focused?.matches("[data-position]") === true &&
      focused.querySelector(`[title="${CSS.escape(expected)}"]`) !== null
    );
  }, name);
}

/** A long press that lasts until `isSeen`. */
export async function longPress(page: Page, target: Locator, isSeen: () => Promise<void>): Promise<void> {
  const box = await target.boundingBox();
  if (box === null) throw new Error("there is nothing to press");
  const session = await page.context().newCDPSession(page);
  const point = { x: box.x + 60, y: box.y + box.height / 2 };
  await session.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [point] });
  await isSeen();
  await session.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
}

/** Waits until `ask` returns the expected value. */
export async function eventually<T>(ask: () => Promise<T>, expected: T): Promise<void> {
  const until = Date.now() + 60_000;
  let last = await ask();
  while (!Bun.deepEquals(last, expected) && Date.now() < until) {
    await Bun.sleep(100);
    last = await ask();
  }
  const found: unknown = last;
  expect(found).toEqual(expected);
}
