// The sign-in form as tests fill it.
import type { Locator, Page } from "playwright-core";
import type { Account } from "../../support/client.ts";

/** The field for the password, of a page or a part of it that has one. */
export function password(within: Page | Locator): Locator {
  return within.getByLabel("Password", { exact: true });
}

/** Fills the form and sends it; what follows is the caller's to wait for. */
export async function signInBy(within: Page | Locator, account: Pick<Account, "email" | "password">): Promise<void> {
  await within.getByLabel("Email").fill(account.email);
  await password(within).fill(account.password);
  await within.getByRole("button", { name: "Sign in", exact: true }).click();
}
