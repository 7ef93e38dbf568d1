// Sign-in methods that need a server of their own: OIDC, links by email, rate limits, passkeys.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { freshEmail } from "../support/client.ts";
import { MailServer } from "../support/mail-server.ts";
import { TestProvider } from "../support/oidc-provider.ts";
import { describeWeb } from "./support/browser.ts";
import { proofDialog } from "./support/proof.ts";
import { password, signInBy } from "./support/sign-in.ts";

const provider = new TestProvider("http://127.0.0.1");
const oidcEnv: Record<string, string> = {};
const mails = new MailServer();
const mailEnv: Record<string, string> = {};
beforeAll(async () => {
  await Promise.all([provider.start(), mails.start()]);
  Object.assign(oidcEnv, provider.env, {
    LARDER_PUBLIC_URL: "",
    LARDER_OIDC_AUTO_CREATE: "on",
    LARDER_OIDC_NAME: "Our house",
  });
  Object.assign(mailEnv, {
    LARDER_MAIL_HOST: "127.0.0.1",
    LARDER_MAIL_PORT: String(mails.port),
    LARDER_MAIL_SECURE: "none",
    LARDER_MAIL_FROM: "Larder <larder@example.test>",
    LARDER_PUBLIC_URL: "http://files.example.test",
  });
});
afterAll(() => Promise.all([provider.stop(), mails.stop()]));

/** Fills in the provider's forms: the person, then consent. */
async function signInAtProvider(page: Page, person: string): Promise<void> {
  await page.locator("input[name=login]").fill(person);
  await page.locator("input[name=password]").fill("any");
  await page.locator("button[type=submit]").click();
  await page.getByRole("button", { name: "Continue" }).click();
}

describeWeb(
  "sign-in with an OIDC provider",
  (web) => {
    test("returns signed in, at the requested page", async () => {
      await web.account();
      provider.people.set("ada", { email: freshEmail(), email_verified: true, name: "Ada Example" });
      const page = await web.open({ path: "/trash" });
      await page.getByRole("link", { name: "Sign in with Our house" }).waitFor();
      await web.lookAt(page, "sign-in-oidc");
      await page.getByRole("link", { name: "Sign in with Our house" }).click();
      await signInAtProvider(page, "ada");
      await page.waitForURL(/127\.0\.0\.1:\d+\/trash$/);
      await page.getByRole("button", { name: /Account: Ada Example/ }).waitFor();
    });

    test("is linked to an account with its password, and unlinked again", async () => {
      const account = await web.account();
      provider.people.set("grace", { email: freshEmail(), email_verified: true, name: "Grace" });
      const page = await web.open({ as: account, path: "/settings/security" });
      await page.getByRole("button", { name: "Link Our house" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Continue" }).click();
      await proofDialog(page).getByLabel("Your password").fill(account.password);
      await page.keyboard.press("Enter");
      await signInAtProvider(page, "grace");
      await page.waitForURL(/\/settings\/security$/);
      await page.getByRole("button", { name: "Unlink" }).waitFor();
      await web.lookAt(page, "settings-identities");

      const other = await web.open({ path: "/sign-in" });
      await other.getByRole("link", { name: "Sign in with Our house" }).click();
      await signInAtProvider(other, "grace");
      await other.waitForURL(/\/home$/);
      await other.getByRole("button", { name: /Account: Test User/ }).waitFor();

      await page.getByRole("button", { name: "Unlink" }).click();
      // The session is still confirmed.
      await page.getByRole("dialog").getByRole("button", { name: "Unlink" }).click();
      await page.getByRole("button", { name: "Link Our house" }).waitFor();
      const left = await account.client.get("/api/auth/oidc/link");
      expect(left.list("data.identities")).toEqual([]);
    });
  },
  { env: oidcEnv },
);

describeWeb(
  "a forgotten password",
  (web) => {
    test("is replaced with the emailed link, on a page that works without script", async () => {
      const account = await web.account();
      const page = await web.open({ path: "/sign-in" });
      await page.getByLabel("Email").fill(account.email);
      await page.getByRole("button", { name: "Forgot your password?" }).click();
      expect(await page.getByLabel("Email").inputValue()).toBe(account.email);
      await web.lookAt(page, "sign-in-forgot");
      await page.getByRole("button", { name: "Send link" }).click();
      await page.getByText("we sent it an email with a link").waitFor();
      const mail = await mails.waitForMail(account.email);
      const path = /\/reset-password\?token=[\w-]+/.exec(mail.parsed.text ?? "")?.[0] ?? "";

      const reset = await web.open({ path, context: { javaScriptEnabled: false } });
      await reset.getByLabel("New password").fill("another set of words");
      await reset.getByRole("button", { name: "Change password" }).click();
      await reset.getByRole("heading", { name: "Password changed" }).waitFor();

      await page.getByRole("button", { name: "Back to sign-in" }).click();
      await signInBy(page, { email: account.email, password: "another set of words" });
      await page.waitForURL(/\/home$/);
    });

    test("the page behind the link looks right: open, done and expired", async () => {
      const account = await web.account();
      await web.server().visitor.post("/api/auth/password/forgot", { email: account.email });
      const mail = await mails.waitForMail(account.email);
      const page = await web.open({ path: /\/reset-password\?token=[\w-]+/.exec(mail.parsed.text ?? "")?.[0] ?? "" });
      await page.getByLabel("New password").waitFor();
      await web.lookAt(page, "reset-password");
      const address = page.url();
      await page.getByLabel("New password").fill("another set of words");
      await page.keyboard.press("Enter");
      await page.getByRole("link", { name: "Go to sign-in" }).waitFor();
      await web.lookAt(page, "reset-password-done");
      await page.goto(address);
      await page.getByRole("heading", { name: "This link does not work" }).waitFor();
      await web.lookAt(page, "reset-password-gone");
    });
  },
  { env: mailEnv },
);

describeWeb(
  "too many sign-ins",
  (web) => {
    test("shows how long to wait, and can't be submitted until then", async () => {
      const account = await web.account();
      const page = await web.open({ path: "/sign-in" });
      await page.getByLabel("Email").fill(account.email);
      const submit = page.getByRole("button", { name: "Sign in", exact: true });
      const countdown = page.getByText(/You can try again in/).first();
      const wrong = { email: account.email, password: "not the password" };
      let status = 0;
      // Once is enough, unless the machine is so slow that the rate limit window has passed.
      for (let round = 0; round < 5 && status !== 429; round++) {
        await Promise.all(Array.from({ length: 20 }, () => web.server().visitor.post("/api/auth/signin", wrong)));
        await password(page).fill(`not the password ${round}`);
        const response = page.waitForResponse(/\/api\/auth\/signin$/);
        await submit.click();
        status = (await response).status();
      }
      await countdown.waitFor();
      expect(await submit.isDisabled()).toBe(true);
      await web.lookAt(page, "sign-in-wait");
    });
  },
  { env: { LARDER_RATE_LIMITS: "on" } },
);

describeWeb("passkeys", (web) => {
  test("are offered if the address allows them", async () => {
    await web.account();
    const page = await web.open({ path: "/sign-in", host: "localhost" });
    await page.getByRole("button", { name: "Sign in with a passkey" }).waitFor();
    await web.lookAt(page, "sign-in-passkey");
    const other = await web.open({ path: "/sign-in" });
    await other.getByRole("button", { name: "Sign in", exact: true }).waitFor();
    expect(await other.getByRole("button", { name: "Sign in with a passkey" }).count()).toBe(0);
  });
});
