// The preview overlay.
import type { Locator, Page } from "playwright-core";

/** The overlay itself. */
export function overlay(page: Page): Locator {
  return page.getByRole("dialog").filter({ has: page.getByRole("button", { name: "Close preview" }) });
}

/** Opens a file of the list as a person does: with a double click. */
export async function openPreview(page: Page, name: string): Promise<void> {
  await page.getByRole("main").getByText(name, { exact: true }).first().dblclick();
  await overlay(page).waitFor();
}

/** Waits until an overlay has the focus, which it takes one frame after it is rendered. Keys need that. */
export async function untilFocused(page: Page, dialog = page.getByRole("dialog")): Promise<void> {
  await dialog.and(page.locator(":focus")).waitFor();
}

/** Waits until this file is shown, at this position. */
export async function showing(page: Page, name: string, position: string): Promise<void> {
  await overlay(page).getByRole("heading", { name, exact: true }).waitFor();
  await overlay(page).getByText(position, { exact: true }).waitFor();
}
