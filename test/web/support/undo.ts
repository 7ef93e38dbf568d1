// The Undo button of messages. A list often shows a change before its message appears, while an earlier message still
// offers to undo something else: the button to press is the one beside the text.
import type { Locator, Page } from "playwright-core";

/** The message with exactly this text. Two with the same text fail the test: dismiss the first one before. */
export function message(page: Page, text: string): Locator {
  return page.getByRole("region", { name: "Notifications" }).getByText(text, { exact: true }).locator("..");
}

/** Waits for the message and presses its Undo. */
export async function undo(page: Page, text: string): Promise<void> {
  await message(page, text).getByRole("button", { name: "Undo" }).click();
}

/** Waits for the message and closes it. */
export async function dismiss(page: Page, text: string): Promise<void> {
  await message(page, text).getByRole("button", { name: "Dismiss" }).click();
}
