import { expect, test } from "bun:test";
import { Client } from "../support/client.ts";
import { freshDeviceId, registerDevice } from "../support/mobile.ts";
import { describeWeb } from "./support/browser.ts";
import { closeByKey } from "./support/focus.ts";
import { proofDialog, prove } from "./support/proof.ts";
import { signInBy } from "./support/sign-in.ts";

describeWeb("the account settings", (web) => {
  test("name and email are changed; the email only with the password", async () => {
    const account = await web.account("Ada King");
    const taken = await web.account();
    const page = await web.open({ as: account, path: "/settings" });
    await page.waitForURL(/\/settings\/profile$/);
    // The name of the largest plan in the API says nothing to a household.
    await page.getByText("Complete", { exact: true }).waitFor();
    expect(await page.getByText("enterprise").count()).toBe(0);
    await page.getByLabel("Your name").fill("Ada Lovelace");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    await page.getByRole("button", { name: /Account: Ada Lovelace/ }).waitFor();
    await page.getByLabel("Email address").fill(taken.email);
    await page.getByRole("button", { name: "Change email" }).click();
    await prove(page, account.password);
    await page.locator("[aria-invalid=true][type=email]").waitFor();
    await web.lookAt(page, "settings-profile");
    await page.getByLabel("Email address").fill(`new-${account.email}`);
    await page.keyboard.press("Enter");
    await page.getByText("Email changed.").waitFor();
    const profile = await account.client.get("/api/users/profile");
    expect(profile.at("data")).toMatchObject({ name: "Ada Lovelace", email: `new-${account.email}` });
  });

  test("the sections are reached by the list, on phones by a menu", async () => {
    const account = await web.account();
    const page = await web.open({ as: account, path: "/settings/usage" });
    await page.getByRole("heading", { name: "Usage", level: 1, exact: true }).waitFor();
    const list = page.getByRole("navigation", { name: "Settings" });
    await list.getByRole("link", { name: "Appearance" }).waitFor();
    expect(await list.getByRole("link").allInnerTexts()).toEqual([
      "Profile",
      "Security",
      "Sessions",
      "Connect devices",
      "API keys",
      "Notifications",
      "Import",
      "Usage",
      "Appearance",
      "Account",
    ]);
    await list.getByRole("link", { name: "Appearance" }).click();
    await page.getByRole("heading", { name: "Appearance", level: 1 }).waitFor();
    expect(await list.getByRole("link", { name: "Appearance" }).getAttribute("aria-current")).toBe("page");
    const phone = await web.open({ as: account, path: "/settings/usage", size: "phone" });
    await phone.getByRole("button", { name: "All settings" }).click();
    await phone.getByRole("menuitem", { name: "Notifications" }).click();
    await phone.getByRole("heading", { name: "Notifications", level: 1 }).waitFor();
  });

  test("lists sessions, ends one, and all others", async () => {
    const account = await web.account();
    const signedIn = { email: account.email, password: account.password };
    const others = await Promise.all([
      web.server().visitor.post("/api/auth/signin", signedIn),
      web.server().visitor.post("/api/auth/signin", signedIn),
    ]);
    const page = await web.open({ as: account, path: "/settings/sessions" });
    const list = page.getByRole("list", { name: "Where you're signed in" });
    await list.getByRole("listitem").nth(3).waitFor();
    await web.lookAt(page, "settings-sessions");
    await list
      .getByRole("button", { name: /^Sign out ./ })
      .first()
      .click();
    await list.getByRole("listitem").nth(3).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Sign out everywhere else" }).click();
    const question = page.getByRole("alertdialog");
    await question.getByText("2 other sessions will be signed out.").waitFor();
    await question.getByRole("button", { name: "Sign out everywhere else" }).click();
    await list.getByRole("listitem").nth(1).waitFor({ state: "detached" });
    for (const other of others) {
      expect((await new Client(web.server(), other.string("token")).get("/api/auth/session")).status).toBe(401);
    }
    await list.getByText("This browser").waitFor();
    await list.getByRole("button", { name: "Sign out", exact: true }).click();
    await page.waitForURL(/\/sign-in$/);
    expect((await page.context().cookies()).map(({ name }) => name)).not.toContain("larder_session");
  });

  test("signs a lost phone out", async () => {
    const account = await web.account();
    const phone = await registerDevice(web.server(), account, freshDeviceId(), { model: "Pixel of Ada" });
    const page = await web.open({ as: account, path: "/settings/devices" });
    await page.getByText("Device settings").click();
    await page.getByText("Upload new photos automatically").waitFor();
    await web.lookAt(page, "settings-devices");
    const undo = page.getByRole("link", { name: /Pixel of Ada/ });
    expect(await undo.getAttribute("href")).toContain(`device=${encodeURIComponent(phone.deviceId)}`);
    await page.getByRole("button", { name: "Sign out Pixel of Ada?" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Sign out" }).click();
    await page.getByText("No devices yet").waitFor();
    await web.lookAt(page, "settings-devices-none");
    expect((await phone.client.get("/api/mobile/devices")).status).toBe(401);
  });

  test("creates an API key with the chosen scopes, shows it once, and deletes it", async () => {
    const account = await web.account();
    const page = await web.open({ as: account, path: "/settings/api-keys" });
    await page.getByText("No API keys yet").waitFor();
    await page.getByRole("button", { name: "Create API key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Backup script");
    expect(await dialog.getByLabel("Administration").count()).toBe(0);
    await dialog.getByLabel("Change files").uncheck();
    await dialog.getByLabel("Expires").selectOption("In 30 days");
    await web.lookAt(page, "settings-api-key-new");
    await dialog.getByRole("button", { name: "Create key" }).click();
    await prove(page, account.password);
    const key = await dialog.getByLabel("API key", { exact: true }).inputValue();
    await web.lookAt(page, "settings-api-key-made");
    const script = new Client(web.server(), key);
    expect((await script.get("/api/files")).status).toBe(200);
    expect((await script.post("/api/files/folders", { path: "/x" })).status).toBe(403);
    await dialog.getByRole("button", { name: "Done" }).click();
    await page.getByRole("list", { name: "API keys" }).getByText("Read files").waitFor();
    await dialog.waitFor({ state: "detached" });
    expect(await page.content()).not.toContain(key);
    await web.lookAt(page, "settings-api-keys");
    await page.getByRole("button", { name: /Delete API key/ }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("No API keys yet").waitFor();
    expect((await script.get("/api/files")).status).toBe(401);
  });

  test("chooses notifications and quiet hours", async () => {
    const account = await web.account();
    const page = await web.open({ as: account, path: "/settings/notifications" });
    await page.getByRole("switch", { name: "Uploads" }).focus();
    await page.keyboard.press("Space");
    await page.getByRole("switch", { name: "Uploads", checked: false }).waitFor();
    await page.getByRole("switch", { name: "Use quiet hours" }).check();
    expect(await page.getByLabel("Time zone").inputValue()).toBe("Europe/Berlin");
    await page.getByLabel("From").fill("21:30");
    await page.getByLabel("Until").fill("06:15");
    await page.getByLabel("Time zone").selectOption("America/New_York");
    await web.lookAt(page, "settings-notifications");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    const { json } = await account.client.get("/api/users/settings");
    expect(json).toMatchObject({
      data: {
        notifications: {
          uploads: false,
          shares: true,
          quietHours: { enabled: true, start: "21:30", end: "06:15", timezone: "America/New_York" },
        },
      },
    });
  });

  test("shows the usage", async () => {
    const account = await web.account();
    await account.client.upload("a".repeat(5000), { name: "letter.txt", type: "text/plain" });
    await account.client.upload("b".repeat(90_000), { name: "song.mp3", type: "audio/mpeg" });
    const page = await web.open({ as: account, path: "/settings/usage" });
    await page.getByText("92.8 KB").first().waitFor();
    await page.getByRole("table", { name: "Rate limits" }).getByText("Uploads").waitFor();
    await web.lookAt(page, "settings-usage");
  });

  test("chooses theme and list view of this browser, and how many versions are stored", async () => {
    const account = await web.account();
    const page = await web.open({ as: account, path: "/settings/appearance" });
    await page.getByRole("radio", { name: "Dark" }).check();
    expect(await page.locator("html").getAttribute("data-theme")).toBe("dark");
    await page.getByLabel("Show files as").selectOption("Tiles");
    await page.reload();
    await page.getByRole("radio", { name: "Dark", checked: true }).waitFor();
    expect(await page.getByLabel("Show files as").inputValue()).toBe("tiles");
    expect(await page.locator("html").getAttribute("data-theme")).toBe("dark");
    await page.getByRole("radio", { name: "System" }).check();
    await page.getByLabel("Versions to keep per file").fill("0");
    await page.getByText("Enter a whole number from 1 to 100.").waitFor();
    await page.getByLabel("Versions to keep per file").fill("3");
    await page.keyboard.press("Enter");
    await page.getByText("Saved.").waitFor();
    await web.lookAt(page, "settings-appearance");
    expect((await account.client.get("/api/users/settings")).at("data.versioning.keep")).toBe(3);
  });

  test("deletes the account with everything, only with its email and password", async () => {
    // Without any account the sign-in page would explain the setup.
    await web.account();
    const account = await web.account();
    const page = await web.open({ as: account, path: "/settings/account" });
    await page.getByText("Export your files").waitFor();
    await web.lookAt(page, "settings-account");
    const open = page.getByRole("button", { name: "Delete account" });
    const dialog = page.getByRole("dialog");
    await open.focus();
    await page.keyboard.press("Enter");
    await dialog.locator("input:focus").waitFor();
    await closeByKey(page, dialog);
    await page.locator("button:focus", { hasText: "Delete account" }).waitFor();
    await open.click();
    const confirmation = dialog.getByLabel(`Type ${account.email} to confirm`);
    await confirmation.fill("somebody else");
    expect(await dialog.getByRole("button", { name: "Delete everything" }).isDisabled()).toBe(true);
    await web.lookAt(page, "settings-account-delete");
    await confirmation.fill(account.email);
    await page.keyboard.press("Enter");
    await proofDialog(page).getByLabel("Your password").fill(account.password);
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/sign-in$/);
    await signInBy(page, account);
    await page.getByRole("alert").waitFor();
  });
});
