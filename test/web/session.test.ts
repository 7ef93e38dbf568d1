// The session of a page: the sign-in before it, its end in the middle, its renewal, and several tabs of one profile.
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { Account } from "../support/client.ts";
import { describeWeb } from "./support/browser.ts";

/** Ends all sessions of an account without notifying the page. */
async function endSessions(account: Account): Promise<void> {
  await account.client.post("/api/auth/signout", { everywhere: true });
}

/** Makes the page send a request, by a search. */
async function search(page: Page, words: string): Promise<void> {
  const field = page.getByRole("combobox", { name: "Search files and folders" });
  await field.fill(words);
  await field.press("Enter");
}

async function signInAgain(page: Page, account: Account): Promise<void> {
  const dialog = page.getByRole("dialog", { name: "Sign in again" });
  await dialog.getByLabel("Password", { exact: true }).fill(account.password);
  await dialog.getByRole("button", { name: "Sign in", exact: true }).click();
}

describeWeb("the session of a page", (web) => {
  test("sends signed-out people to the sign-in page, and back afterwards", async () => {
    const account = await web.account();
    const page = await web.open({ path: "/trash?sort=name" });
    await page.waitForURL("**/sign-in?**");
    expect(new URL(page.url()).searchParams.get("next")).toBe("/trash?sort=name");
    await page.getByLabel("Email").fill(account.email);
    await page.getByLabel("Password", { exact: true }).fill(account.password);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.waitForURL("**/trash?sort=name");
    await page.getByRole("heading", { level: 1, name: "Trash" }).waitFor();
  });

  test("asks to sign in again over the page, and continues the request", async () => {
    const account = await web.account();
    const page = await web.open({ as: account, path: "/trash" });
    await page.getByRole("heading", { level: 1, name: "Trash" }).waitFor();
    await page.evaluate(() => Reflect.set(window, "isSamePage", true));
    await endSessions(account);
    await search(page, "budget");
    await page.getByRole("dialog", { name: "Sign in again" }).waitFor();
    await web.lookAt(page, "session-ended");
    await signInAgain(page, account);
    await page.getByRole("dialog", { name: "Sign in again" }).waitFor({ state: "detached" });
    await page.waitForURL("**/search?q=budget**");
    // The waiting request was answered on the same page, which was never reloaded.
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect(await page.evaluate(() => Reflect.get(window, "isSamePage"))).toBe(true);
  });

  test("asks to sign in again also if the session ends while the page is idle", async () => {
    const account = await web.account();
    const page = await web.open({ as: account, path: "/trash" });
    await page.getByRole("heading", { level: 1, name: "Trash" }).waitFor();
    const ended = {
      status: 401,
      json: {
        success: false,
        error: { code: "UNAUTHORIZED", message: "Sign in again.", details: { reason: "expired_token" } },
      },
    };
    // The session is still reported, but the profile is not.
    const refused = /\/api\/(?:users\/profile|files\/search)/;
    await page.route(refused, (route) => route.fulfill(ended));
    await search(page, "budget");
    await page.getByRole("dialog", { name: "Sign in again" }).waitFor();
    await page.unroute(refused);
    await signInAgain(page, account);
    await page.getByRole("dialog", { name: "Sign in again" }).waitFor({ state: "detached" });
    await page.getByText("No results").waitFor();
  });

  test("notices a sign-in in another tab", async () => {
    const account = await web.account();
    const page = await web.open({ as: account, path: "/trash" });
    await page.getByRole("heading", { level: 1, name: "Trash" }).waitFor();
    await endSessions(account);
    await search(page, "budget");
    await page.getByRole("dialog", { name: "Sign in again" }).waitFor();
    const other = await web.openTab(page, "/sign-in");
    await other.getByLabel("Email").fill(account.email);
    await other.getByLabel("Password", { exact: true }).fill(account.password);
    await other.getByRole("button", { name: "Sign in", exact: true }).click();
    await other.waitForURL("**/home");
    await page.getByRole("dialog", { name: "Sign in again" }).waitFor({ state: "detached" });
  });

  test("signs out in all tabs", async () => {
    const account = await web.account("Ada");
    const page = await web.open({ as: account, path: "/trash" });
    const other = await web.openTab(page, "/history");
    await other.getByRole("heading", { level: 1, name: "History" }).waitFor();
    await page.getByRole("button", { name: "Account: Ada" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.waitForURL("**/sign-in**");
    await other.waitForURL("**/sign-in?next=%2Fhistory");
  });
});

describeWeb(
  "a short session",
  (web) => {
    test("is renewed before it expires", async () => {
      const page = await web.open({ as: await web.account(), path: "/trash", hasOwnClock: true });
      await page.getByRole("heading", { level: 1, name: "Trash" }).waitFor();
      const renewed = page.waitForResponse((response) => response.url().endsWith("/api/auth/refresh"));
      // Half of the minute that the session lasts.
      await page.clock.fastForward(31_000);
      expect((await renewed).status()).toBe(200);
      // The cookie has changed, and the page continues with the new one.
      const checked = page.waitForResponse((response) => response.url().includes("/api/auth/session"));
      expect((await checked).status()).toBe(200);
      expect(await page.getByRole("dialog").count()).toBe(0);
    });
  },
  { env: { LARDER_TOKEN_LIFETIME: "1m" } },
);
