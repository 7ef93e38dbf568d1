// The dialog in which the person confirms their identity; the request continues afterwards.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { freshEmail } from "../support/client.ts";
import { TestProvider } from "../support/oidc-provider.ts";
import { enableTwoFactor, generateWrongCode } from "../support/two-factor.ts";
import { describeWeb } from "./support/browser.ts";
import { closeByKey } from "./support/focus.ts";
import { addAuthenticator } from "./support/passkeys.ts";
import { proofDialog, prove } from "./support/proof.ts";

const provider = new TestProvider("http://127.0.0.1");
const env: Record<string, string> = {};
beforeAll(async () => {
  await provider.start();
  Object.assign(env, provider.env, {
    LARDER_PUBLIC_URL: "",
    LARDER_OIDC_AUTO_CREATE: "on",
    LARDER_OIDC_NAME: "Our house",
  });
});
afterAll(() => provider.stop());

describeWeb(
  "the identity confirmation dialog",
  (web) => {
    test("keeps the input, shows errors, continues, and asks once", async () => {
      const account = await web.account();
      const page = await web.open({ as: account, path: "/settings/api-keys" });
      const make = async (name: string) => {
        await page.getByRole("button", { name: "Create API key" }).click();
        await page.getByRole("dialog").getByLabel("Name").fill(name);
        await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
      };
      await make("First script");
      const dialog = proofDialog(page);
      const password = dialog.getByLabel("Your password");
      await dialog.locator("input[type=password]:focus").waitFor();
      await password.fill("not the password");
      await page.keyboard.press("Enter");
      await dialog.getByText("Wrong password. Try again.").waitFor();
      expect(await password.getAttribute("aria-invalid")).toBe("true");
      await web.lookAt(page, "proof-password");
      await closeByKey(page, dialog);
      await page.getByText("Nothing was changed").waitFor();
      expect(await page.getByLabel("Name").inputValue()).toBe("First script");

      await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
      await prove(page, account.password);
      await page.getByLabel("API key", { exact: true }).waitFor();
      await page.getByRole("dialog").getByRole("button", { name: "Done" }).click();
      await make("Second script");
      await page.getByLabel("API key", { exact: true }).waitFor();
      expect(await dialog.count()).toBe(0);
      await page.getByRole("dialog").getByRole("button", { name: "Done" }).click();
      const keys = await account.client.get("/api/users/api-keys");
      expect(keys.strings("data.apiKeys", "name")).toEqual(["Second script", "First script"]);
    });

    test("asks for the code if the account has two-factor authentication", async () => {
      const account = await web.account();
      const page = await web.open({ as: account, path: "/settings" });
      const { secret, codes } = await enableTwoFactor(account);
      await page.getByLabel("Email address").fill(`new-${account.email}`);
      await page.getByRole("button", { name: "Change email" }).click();
      const dialog = proofDialog(page);
      await dialog.getByLabel("Your password").fill(account.password);
      expect(await dialog.getByRole("button", { name: "Confirm" }).isDisabled()).toBe(true);
      await dialog.getByLabel("Code").fill(generateWrongCode(secret));
      await page.keyboard.press("Enter");
      await dialog.locator("[aria-invalid=true][autocomplete=one-time-code]").waitFor();
      await web.lookAt(page, "proof-code");
      await prove(page, account.password, codes[0]);
      await page.getByText("Email changed.").waitFor();
    });

    test("accepts a passkey instead of the password", async () => {
      const account = await web.account();
      const page = await web.open({ as: account, path: "/settings/security", host: "localhost" });
      const authenticator = await addAuthenticator(page);
      await page.getByRole("button", { name: "Add a passkey" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Continue" }).click();
      await prove(page, account.password);
      await page.getByText("Passkey added.").waitFor();
      const other = await web.open({ as: account, path: "/settings/security", host: "localhost" });
      await addAuthenticator(other, await authenticator.credential());
      await other.getByRole("button", { name: "Set up" }).click();
      await proofDialog(other).getByRole("button", { name: "Use a passkey" }).waitFor();
      await web.lookAt(other, "proof-passkey");
      await proofDialog(other).getByRole("button", { name: "Use a passkey" }).click();
      await other.getByLabel("6-digit code").waitFor();
    });

    test("sends people without a password to the provider, in another window, and continues", async () => {
      // An account must exist: otherwise the page would explain the setup.
      await web.account();
      provider.people.set("ada", { email: freshEmail(), email_verified: true, name: "Ada Example" });
      const page = await web.open({ path: "/settings/api-keys" });
      await page.getByRole("link", { name: "Sign in with Our house" }).click();
      const signIn = async (at: typeof page) => {
        await at.locator("input[name=login]").fill("ada");
        await at.locator("input[name=password]").fill("any");
        await at.locator("button[type=submit]").click();
        await at.getByRole("button", { name: "Continue" }).click();
      };
      await signIn(page);
      await page.getByRole("button", { name: "Create API key" }).click();
      await page.getByRole("dialog").getByLabel("Name").fill("Script of Ada");
      await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
      const dialog = proofDialog(page);
      await dialog.getByRole("button", { name: "Sign in with Our house" }).waitFor();
      expect(await dialog.getByLabel("Your password").count()).toBe(0);
      await web.lookAt(page, "proof-provider");
      const [opened] = await Promise.all([
        page.waitForEvent("popup"),
        dialog.getByRole("button", { name: "Sign in with Our house" }).click(),
      ]);
      await dialog.getByText("Sign in again in the other window").waitFor();
      // The provider asks again, although the person is signed in there.
      await opened.locator("input[name=login]").waitFor();
      await signIn(opened);
      await opened.getByRole("heading", { name: "Confirmed" }).waitFor();
      await page.getByLabel("API key", { exact: true }).waitFor();
      await page.getByRole("dialog").getByRole("button", { name: "Done" }).click();
    });
  },
  { env },
);
