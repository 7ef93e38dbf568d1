import { expect, test } from "bun:test";
import { Client } from "../support/client.ts";
import { generateCode, enableTwoFactor } from "../support/two-factor.ts";
import { describeWeb } from "./support/browser.ts";
import { addAuthenticator } from "./support/passkeys.ts";
import { prove } from "./support/proof.ts";
import { signInBy } from "./support/sign-in.ts";

const path = "/settings/security";

describeWeb("the security settings", (web) => {
  test("a new password ends all other sessions, and the old one stops working", async () => {
    const account = await web.account();
    const page = await web.open({ as: account, path });
    await page.getByLabel("New password").fill("another set of words");
    await web.lookAt(page, "settings-security");
    await page.getByRole("button", { name: "Change password" }).click();
    await prove(page, account.password);
    await page.getByText("All other sessions were signed out").waitFor();
    expect((await account.client.get("/api/users/profile")).status).toBe(401);

    const again = await web.open({ path: "/sign-in" });
    await signInBy(again, account);
    await again.getByRole("alert").waitFor();
    await signInBy(again, { email: account.email, password: "another set of words" });
    await again.waitForURL(/\/home$/);
  });

  test("sets up two-factor authentication with the key, shows recovery codes once, and turns it off", async () => {
    const account = await web.account();
    const page = await web.open({ as: account, path });
    await page.getByRole("button", { name: "Set up" }).click();
    await prove(page, account.password);
    await page
      .getByRole("img", { name: /QR code/ })
      .locator("path:not([d=''])")
      .waitFor();
    await web.lookAt(page, "settings-totp");
    const secret = await page.getByLabel("Key", { exact: true }).inputValue();
    await page.getByLabel("6-digit code").fill(generateCode(secret, 0));
    await page.getByRole("button", { name: "Turn on" }).click();

    await page.getByRole("heading", { name: "Recovery codes", exact: true }).waitFor();
    const codes = await page.getByRole("dialog").getByRole("listitem").allTextContents();
    expect(codes).toHaveLength(10);
    await web.lookAt(page, "settings-recovery-codes");
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "Recovery codes", exact: true }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download" }).click(),
    ]);
    expect(await Bun.file(await download.path()).text()).toContain(codes[0] ?? "no code");
    // The codes are printed from a frame of their own, which the content policy must allow.
    await Promise.all([page.waitForEvent("frameattached"), page.getByRole("button", { name: "Print" }).click()]);
    await page.getByLabel("I have saved these codes").check();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByText("10 recovery codes left").waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect((await account.client.get("/api/users/two-factor")).at("data.enabled")).toBe(true);

    await page.getByRole("button", { name: "Turn off" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Turn off" }).click();
    // The confirmation for the setup was without a code, so it is no longer valid.
    await prove(page, account.password, codes[1]);
    await page.getByText("Two-factor authentication is off.").waitFor();
    expect((await account.client.get("/api/users/two-factor")).at("data.enabled")).toBe(false);
  });

  test("creates new recovery codes that replace the old ones", async () => {
    const account = await web.account();
    const { secret, codes: former } = await enableTwoFactor(account);
    const page = await web.open({ path: "/sign-in?next=/settings/security" });
    await signInBy(page, account);
    await page.getByLabel("Code").fill(generateCode(secret));
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Create new recovery codes" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Create new recovery codes" }).click();
    await prove(page, account.password, former[0]);
    await page.getByRole("heading", { name: "Recovery codes", exact: true }).waitFor();
    const codes = await page.getByRole("dialog").getByRole("listitem").allTextContents();
    expect(codes).toHaveLength(10);
    expect(former).not.toContain(codes[0]);
    await page.getByLabel("I have saved these codes").check();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByText("10 recovery codes left").waitFor();
  });

  test("adds a passkey, which then signs in; renames it, and removes it", async () => {
    const account = await web.account();
    const page = await web.open({ as: account, path, host: "localhost" });
    const authenticator = await addAuthenticator(page);
    await page.getByRole("button", { name: "Add a passkey" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("My laptop");
    await web.lookAt(page, "settings-passkey-add");
    await page.keyboard.press("Enter");
    await prove(page, account.password);
    await page.getByRole("list", { name: "Passkeys" }).getByText("My laptop").waitFor();
    await page.getByRole("button", { name: "Rename My laptop" }).click();
    await dialog.getByLabel("Name").fill("The old laptop");
    await page.keyboard.press("Enter");
    await page.getByRole("list", { name: "Passkeys" }).getByText("The old laptop").waitFor();
    await web.lookAt(page, "settings-passkeys");

    const credential = await authenticator.credential();
    const other = await web.open({ path: "/sign-in", host: "localhost" });
    const second = await addAuthenticator(other, credential);
    await second.signIn();
    await other.waitForURL(/\/home$/);

    // A press of the button while the server verifies a suggested passkey once signed in twice.
    const isSeen = Promise.withResolvers<void>();
    // A page without a script. The sign-in page could use the passkey before it is opened again below.
    const third = await web.open({ path: "/health/live", host: "localhost" });
    await third.route("**/api/auth/passkey/verify", async (route) => {
      await isSeen.promise;
      await route.continue();
    });
    await addAuthenticator(third, await second.credential());
    const verification = third.waitForRequest("**/api/auth/passkey/verify");
    await third.goto("/sign-in");
    await verification;
    expect(await third.getByRole("button", { name: "Sign in with a passkey" }).isDisabled()).toBe(true);
    isSeen.resolve();
    await third.waitForURL(/\/home$/);

    await page.getByRole("button", { name: "Remove The old laptop" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Remove" }).click();
    await page.getByText("No passkeys yet.").waitFor();
    const left = await account.client.get("/api/users/passkeys");
    expect(left.list("data.passkeys")).toEqual([]);
  });

  test("shows a message if the browser creates no passkey", async () => {
    const account = await web.account();
    const page = await web.open({ as: account, path, host: "localhost" });
    await addAuthenticator(page, undefined, { isUserVerified: false });
    await page.getByRole("button", { name: "Add a passkey" }).click();
    const dialog = page.getByRole("dialog", { name: "Add a passkey" });
    await dialog.getByRole("button", { name: "Continue" }).click();
    await prove(page, account.password);
    await dialog.getByText("No passkey was created.").waitFor();
    expect((await new Client(web.server(), account.token).get("/api/users/passkeys")).list("data.passkeys")).toEqual(
      [],
    );
  });
});
