// The sign-in form as tests fill it in.
import type { Locator, Page } from "playwright-core";
import type { Account } from "../../support/client.ts";

/** The password field of a page or a part of it. */
export function password(within: Page | Locator): Locator {
  return within.getByLabel("Password", { exact: true });
}

/** Fills in the form and submits it. The caller waits for what follows. */
export async function signInBy(within: Page | Locator, account: Pick<Account, "email" | "password">): Promise<void> {
  await within.getByLabel("Email").fill(account.email);
  await password(within).fill(account.password);
  await within.getByRole("button", { name: "Sign in", exact: true }).click();
}
