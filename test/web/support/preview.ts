// The preview overlay.
import type { Locator, Page } from "playwright-core";
import { untilFocused } from "./focus.ts";

/** The overlay itself. */
export function overlay(page: Page): Locator {
  return page.getByRole("dialog").filter({ has: page.getByRole("button", { name: "Close preview" }) });
}

/** Opens a file of the list as a person does: with a double click. The preview has the focus then. */
export async function openPreview(page: Page, name: string): Promise<void> {
  await page.getByRole("main").getByText(name, { exact: true }).first().dblclick();
  await untilFocused(page, overlay(page));
}

/** Waits until this file is shown, at this position. */
export async function showing(page: Page, name: string, position: string): Promise<void> {
  await overlay(page).getByRole("heading", { name, exact: true }).waitFor();
  await overlay(page).getByText(position, { exact: true }).waitFor();
}
