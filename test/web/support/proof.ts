// The dialog in which the person confirms their identity.
import type { Locator, Page } from "playwright-core";

/** The dialog, whether it is open or not. */
export function proofDialog(page: Page): Locator {
  return page.getByRole("dialog", { name: "Confirm it's you" });
}

/** Confirms with the password and, if the account requires one, a code. The request continues then. */
export async function prove(page: Page, password: string, code?: string): Promise<void> {
  const dialog = proofDialog(page);
  await dialog.getByLabel("Your password").fill(password);
  if (code !== undefined) await dialog.getByLabel("Code").fill(code);
  await dialog.getByRole("button", { name: "Confirm" }).click();
  await dialog.waitFor({ state: "detached" });
}
