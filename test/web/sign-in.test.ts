import { expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { generateCode, enableTwoFactor, generateWrongCode } from "../support/two-factor.ts";
import { describeWeb } from "./support/browser.ts";
import { password, signInBy } from "./support/sign-in.ts";

describeWeb("the sign-in page", (web) => {
  test("signs in with email and password, and goes to the requested page", async () => {
    const account = await web.account("Ada King");
    const page = await web.open({ path: "/settings/sessions" });
    await page.waitForURL(/\/sign-in\?next=/);
    await page.getByLabel("Email").fill(account.email);
    await web.lookAt(page, "sign-in");
    await password(page).fill(account.password);
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/settings\/sessions$/);
    await page.getByText("This browser").waitFor();
  });

  test("shows what is missing or wrong, and keeps the input", async () => {
    const account = await web.account();
    const page = await web.open({ path: "/sign-in" });
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByText("Enter your email address.").waitFor();
    await page.getByLabel("Email").fill(account.email);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByText("Enter your password.").waitFor();
    await password(page).fill("not the password");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page
      .getByRole("alert")
      .filter({ hasText: /password/i })
      .first()
      .waitFor();
    await web.lookAt(page, "sign-in-refused");
    expect(await page.getByLabel("Email").inputValue()).toBe(account.email);
    await signInBy(page, account);
    await page.waitForURL(/\/home$/);
  });

  test("on phones, the password field has most of the width", async () => {
    const page = await web.open({ path: "/sign-in", size: "phone" });
    const width = async (of: Locator) => (await of.boundingBox())?.width ?? 0;
    // The button next to it was as wide as a button of a form.
    expect(await width(password(page))).toBeGreaterThan(0.6 * (await width(page.getByLabel("Email"))));
  });

  test("goes to no external address after the sign-in", async () => {
    const account = await web.account();
    for (const next of ["//evil.example/x", "https://evil.example/", "/\\evil.example", "javascript:alert(1)"]) {
      const page = await web.open({ path: `/sign-in?next=${encodeURIComponent(next)}` });
      await signInBy(page, account);
      await page.waitForURL(/\/home$/);
      expect(new URL(page.url()).hostname).toBe("127.0.0.1");
      await page.context().close();
    }
  });

  test("people who are signed in already continue at once", async () => {
    const page = await web.open({ as: await web.account(), path: "/sign-in?next=/trash" });
    await page.waitForURL(/\/trash$/);
  });

  test("asks for the code of the authenticator app, and accepts a recovery code instead", async () => {
    const account = await web.account();
    const { secret, codes } = await enableTwoFactor(account);
    const page = await web.open({ path: "/sign-in" });
    await signInBy(page, account);
    await page.getByRole("heading", { name: "Two-factor authentication" }).waitFor();
    await web.lookAt(page, "sign-in-code");
    await page.getByLabel("Code").fill(generateWrongCode(secret));
    await page.keyboard.press("Enter");
    await page.getByRole("alert").first().waitFor();
    await page.getByLabel("Code").fill(generateCode(secret));
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/home$/);

    const other = await web.open({ path: "/sign-in" });
    await signInBy(other, account);
    await other.getByRole("button", { name: "Use a recovery code" }).click();
    await other.getByLabel("Recovery code").fill(codes[0] ?? "");
    await other.keyboard.press("Enter");
    await other.waitForURL(/\/home$/);
  });

  test("a disabled account gets a message", async () => {
    const account = await web.account();
    const { code } = await web.server().larder(["user", "set", account.email, "--disable"]);
    expect(code).toBe(0);
    const page = await web.open({ path: "/sign-in" });
    await signInBy(page, account);
    await page.getByRole("alert").filter({ hasText: "disabled" }).waitFor();
  });

  test("without email, it says who can help with a forgotten password", async () => {
    await web.account();
    const page = await web.open({ path: "/sign-in" });
    await page.getByText("Ask your administrator for a reset link.").waitFor();
  });

  test("a session that ends elsewhere is asked for over the page, which stays as it is", async () => {
    const account = await web.account("Ada King");
    const page = await web.open({ as: account, path: "/settings/profile" });
    const name = page.getByLabel("Your name");
    await name.fill("Ada Lovelace");
    const listed = await account.client.get("/api/users/sessions");
    for (const id of listed.strings("data.sessions", "id")) {
      await account.client.delete(`/api/users/sessions/${id}`);
    }
    await page.getByRole("button", { name: "Save" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Your session has ended").waitFor();
    await web.lookAt(page, "sign-in-again");
    await password(dialog).fill(account.password);
    await page.keyboard.press("Enter");
    await page.getByText("Saved.").waitFor();
    expect(await name.inputValue()).toBe("Ada Lovelace");
    await dialog.waitFor({ state: "detached" });
  });
});
