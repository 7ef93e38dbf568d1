// The focus of overlays. A menu, dialog, or preview takes it one frame after it is rendered; until then, keys go to the page
// below, where for example Escape clears the selection, and the overlay stays open.
import type { Locator, Page } from "playwright-core";

/** Waits until an overlay, or something in it, has the focus. Keys need that. */
export async function untilFocused(page: Page, within = page.getByRole("dialog")): Promise<void> {
  await within.and(page.locator(":focus-within")).waitFor();
}

/** Waits until the open menu has the focus. */
export async function untilMenuFocused(page: Page): Promise<void> {
  await untilFocused(page, page.getByRole("menu"));
}

/** Closes an overlay by Escape once it has the focus. */
export async function closeByKey(page: Page, overlay: Locator): Promise<void> {
  await untilFocused(page, overlay);
  await page.keyboard.press("Escape");
  await overlay.waitFor({ state: "detached" });
}

/** Closes the open menu by Escape once it has the focus. */
export async function closeMenu(page: Page): Promise<void> {
  await closeByKey(page, page.getByRole("menu"));
}

/** Waits until the page that was just rendered handles keys: it adds its handlers after it is painted. */
export async function untilKeysWork(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((isIdle) => requestIdleCallback(isIdle)));
}
