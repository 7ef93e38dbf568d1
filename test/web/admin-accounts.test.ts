// Administration of accounts: users, invitations, and who may see any of it.
import { beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type Account, freshEmail } from "../support/client.ts";
import { freshDeviceId, registerDevice } from "../support/mobile.ts";
import { describeWeb } from "./support/browser.ts";
import { closeByKey, untilMenuFocused } from "./support/focus.ts";
import { prove } from "./support/proof.ts";

/** Opens the menu of an account and chooses an entry. */
async function choose(page: Page, name: string, action: string): Promise<void> {
  await page.getByRole("button", { name: `Actions for ${name}` }).click();
  await page.getByRole("menuitem", { name: action, exact: true }).click();
}

/** Waits until the row of an account contains a text. */
async function rowSays(page: Page, name: string, words: string): Promise<void> {
  await page.getByRole("row", { name }).getByText(words, { exact: true }).first().waitFor();
}

describeWeb(
  "the administration of accounts",
  (web) => {
    let admin: Account;
    beforeAll(async () => {
      admin = await web.server().addUser(["--admin", "--name", "Root"]);
    });

    test("is for administrators only", async () => {
      const page = await web.open({ as: await web.account(), path: "/admin/users" });
      await page.getByText("Administrators only").waitFor();
      expect(await page.getByRole("link", { name: "Administration" }).count()).toBe(0);
      await web.lookAt(page, "admin-refused");
    });

    test("finds, sorts and filters users, with an address that can be bookmarked", async () => {
      const [ada, grace] = [await web.account("Ada Finder"), await web.account("Grace Finder")];
      await admin.client.request("PATCH", `/api/admin/users/${grace.id}`, { json: { disabled: true } });
      const page = await web.open({ as: admin });
      await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Administration" }).click();
      await page.getByRole("link", { name: "Users", exact: true }).click();
      await page.getByRole("searchbox", { name: "Search by name or email" }).pressSequentially("finder");
      await page.getByRole("rowheader", { name: "Ada Finder" }).waitFor();
      await page.getByRole("rowheader", { name: "Root" }).waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Name", exact: true }).click();
      // The second press reverses the order.
      await page.locator('th[aria-sort="ascending"]', { hasText: "Name" }).waitFor();
      await page.getByRole("button", { name: "Name", exact: true }).click();
      await page.waitForURL("**sort=name&order=desc**");
      await page.locator('th[aria-sort="descending"]').waitFor();
      await page.waitForFunction(() => document.querySelector("tbody th")?.textContent?.includes("Grace"));
      await web.lookAt(page, "admin-users");
      await page.getByLabel("Status").selectOption("Disabled");
      await page.getByRole("rowheader", { name: "Ada Finder" }).waitFor({ state: "detached" });
      await page.reload();
      await page.getByRole("rowheader", { name: grace.email }).waitFor();
      expect(await page.getByRole("rowheader", { name: ada.email }).count()).toBe(0);
    });

    test("creates an account with a password, or with a link for its owner", async () => {
      const page = await web.open({ as: admin, path: "/admin/users" });
      const [first, second] = [freshEmail(), freshEmail()];
      await page.getByRole("button", { name: "Add user" }).click();
      const dialog = page.getByRole("dialog", { name: "Add user" });
      await dialog.getByLabel("Email").fill(admin.email);
      await web.lookAt(page, "admin-new-user");
      await dialog.getByRole("button", { name: "Add user" }).click();
      await dialog.getByRole("alert").getByText("email", { exact: false }).waitFor();
      await dialog.getByLabel("Email").fill(first);
      await dialog.getByLabel("Password (optional)").fill("correct horse battery");
      await dialog.getByRole("button", { name: "Add user" }).click();
      await dialog.waitFor({ state: "detached" });
      const signedIn = await admin.client.post("/api/auth/signin", { email: first, password: "correct horse battery" });
      expect(signedIn.status).toBe(200);

      await page.getByRole("button", { name: "Add user" }).click();
      await dialog.getByLabel("Email").fill(second);
      await dialog.getByLabel("Role").selectOption("Viewer");
      await dialog.getByRole("button", { name: "Add user" }).click();
      const link = page.getByRole("dialog", { name: `Welcome link for ${second}` });
      expect(await link.getByLabel("Link").inputValue()).toContain("/welcome?token=");
      await web.lookAt(page, "admin-password-link");
      await link.getByRole("button", { name: "Done" }).click();
      await link.waitFor({ state: "detached" });
      const found = await admin.client.get(`/api/admin/users?search=${encodeURIComponent(second)}`);
      expect(found.strings("data.users", "role")).toEqual(["viewer"]);
    });

    test("changes role, plan and quota by keyboard", async () => {
      const account = await web.account("Edith Edited");
      const page = await web.open({ as: admin, path: "/admin/users?find=Edith" });
      await page.getByRole("button", { name: "Actions for Edith Edited" }).press("Enter");
      await untilMenuFocused(page);
      await page.getByRole("menuitem", { name: "Edit" }).press("Enter");
      const dialog = page.getByRole("dialog", { name: "Edit Edith Edited" });
      await dialog.getByLabel("Role").selectOption("Administrator");
      await dialog.getByLabel("Plan", { exact: true }).selectOption("Pro");
      await dialog.getByRole("radio", { name: "Custom" }).check();
      await dialog.getByLabel("Quota (GB)").fill("2.5");
      await web.lookAt(page, "admin-edit-user");
      await dialog.getByLabel("Quota (GB)").press("Enter");
      await prove(page, admin.password);
      await dialog.waitFor({ state: "detached" });
      const now = await admin.client.get(`/api/admin/users/${account.id}`);
      expect(now.at("data.role")).toBe("admin");
      expect(now.at("data.plan")).toBe("pro");
      expect(now.at("data.quota")).toBe(2.5 * 1024 ** 3);
      await rowSays(page, "Edith Edited", "Administrator");
    });

    test("changes an account's email; shares to that address appear after the user confirms it", async () => {
      const account = await web.account("Ellen Elsewhere");
      const email = freshEmail();
      const file = await admin.client.storedId("waits");
      expect((await admin.client.post(`/api/files/${file}/shares`, { user: email })).status).toBe(201);
      const page = await web.open({ as: admin, path: "/admin/users?find=Elsewhere" });
      await choose(page, "Ellen Elsewhere", "Edit");
      const dialog = page.getByRole("dialog", { name: "Edit Ellen Elsewhere" });
      const ownsEmail = dialog.getByLabel("The new email belongs to this user", { exact: false });
      expect(await ownsEmail.count()).toBe(0);
      await dialog.getByLabel("Email", { exact: true }).fill(email);
      await ownsEmail.check();
      await web.lookAt(page, "admin-edit-email");
      await dialog.getByRole("button", { name: "Save" }).click();
      await prove(page, admin.password);
      await dialog.waitFor({ state: "detached" });
      expect((await account.client.get("/api/shares/received")).list("data.shares")).toHaveLength(1);
    });

    test("sets passwords, ends sessions, disables and enables", async () => {
      const account = await web.account("Sam Stopped");
      const page = await web.open({ as: admin, path: "/admin/users?find=Stopped" });
      await choose(page, "Sam Stopped", "Set password");
      const password = page.getByRole("dialog", { name: "Set password for Sam Stopped" });
      await password.getByLabel("Password", { exact: true }).fill("another long password");
      await password.getByRole("button", { name: "Save" }).click();
      // Asked only once: the confirmation is valid for ten minutes.
      await prove(page, admin.password);
      await password.waitFor({ state: "detached" });
      expect((await account.client.get("/api/files")).status).toBe(401);
      const signIn = () =>
        admin.client.post("/api/auth/signin", { email: account.email, password: "another long password" });
      expect((await signIn()).status).toBe(200);
      const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
      const data = { email: account.email, password: "another long password" };
      expect((await admin.client.post("/api/auth/signin", data, { "user-agent": browser })).status).toBe(200);

      await choose(page, "Sam Stopped", "Sessions and devices");
      const sessions = page.getByRole("dialog", { name: "Where Sam Stopped is signed in" });
      // Once showed the whole header of the browser.
      await sessions.getByText("Firefox on Linux, 127.0.0.1", { exact: true }).waitFor();
      await web.lookAt(page, "admin-sessions");
      await sessions.getByRole("button", { name: "Sign out everywhere" }).click();
      await sessions.getByText("Not signed in anywhere.").waitFor();
      await closeByKey(page, sessions);

      await choose(page, "Sam Stopped", "Disable");
      await page.getByRole("alertdialog").getByRole("button", { name: "Disable" }).click();
      await rowSays(page, "Sam Stopped", "Disabled");
      expect((await signIn()).status).toBe(403);
      await choose(page, "Sam Stopped", "Enable");
      await rowSays(page, "Sam Stopped", "Enabled");
      expect((await signIn()).status).toBe(200);

      await choose(page, "Sam Stopped", "Create password link");
      const link = page.getByRole("dialog", { name: "Password link for Sam Stopped" });
      expect(await link.getByLabel("Link").inputValue()).toContain("/reset-password?token=");
    });

    test("removes a device of another account after a confirmation", async () => {
      const account = await web.account("Paula Phone");
      const phone = await registerDevice(web.server(), account, freshDeviceId(), { model: "Pixel of Paula" });
      const page = await web.open({ as: admin, path: "/admin/users?find=Paula" });
      await choose(page, "Paula Phone", "Sessions and devices");
      const dialog = page.getByRole("dialog", { name: "Where Paula Phone is signed in" });
      await dialog.getByRole("button", { name: "Remove Pixel of Paula" }).click();
      await prove(page, admin.password);
      await dialog.getByText("No devices.").waitFor();
      expect((await phone.client.get("/api/files")).status).toBe(401);
    });

    test("ends an app password of another account", async () => {
      const account = await web.account("Wanda Webdav");
      const body = { name: "Desktop of Wanda", currentPassword: account.password };
      await account.client.post("/api/users/app-passwords", { ...body, access: "read" });
      const page = await web.open({ as: admin, path: "/admin/users?find=Wanda" });
      await choose(page, "Wanda Webdav", "Sessions and devices");
      const dialog = page.getByRole("dialog", { name: "Where Wanda Webdav is signed in" });
      await dialog.getByText("read-only, never used").waitFor();
      await dialog.getByRole("button", { name: "End app password Desktop of Wanda" }).click();
      await page.getByRole("alertdialog").getByRole("button", { name: "End access" }).click();
      await prove(page, admin.password);
      await dialog.getByText("No app passwords.").waitFor();
      expect((await account.client.get("/api/users/app-passwords")).list("data.appPasswords")).toEqual([]);
    });

    test("leaves the administrator's own sign-in to the settings", async () => {
      const page = await web.open({ as: admin, path: "/admin/users?find=Root" });
      await page.getByRole("button", { name: "Actions for Root" }).click();
      for (const name of ["Set password", "Create password link", "Sessions and devices", "Disable", "Delete"]) {
        const item = page.getByRole("menuitem", { name, exact: true });
        expect([name, await item.getAttribute("aria-disabled")]).toEqual([name, "true"]);
      }
      await page.getByRole("menuitem", { name: "Edit", exact: true }).click();
      const dialog = page.getByRole("dialog", { name: "Edit Root" });
      await dialog.getByText("in your settings").waitFor();
      expect(await dialog.getByLabel("Email").count()).toBe(0);
      expect(await dialog.getByLabel("Role").count()).toBe(0);
    });

    test("deletes an account only after its email was typed", async () => {
      const account = await web.account("Dora Deleted");
      const page = await web.open({ as: admin, path: "/admin/users?find=Dora" });
      await choose(page, "Dora Deleted", "Delete");
      const dialog = page.getByRole("dialog", { name: "Delete Dora Deleted permanently?" });
      const button = dialog.getByRole("button", { name: "Delete", exact: true });
      await dialog.getByLabel(`Type ${account.email} to confirm`).fill("somebody else");
      expect(await button.isDisabled()).toBe(true);
      await web.lookAt(page, "admin-delete-user");
      await dialog.getByLabel(`Type ${account.email} to confirm`).fill(account.email);
      await button.click();
      await prove(page, admin.password);
      await dialog.waitFor({ state: "detached" });
      await page.getByText("No matching users").waitFor();
      expect((await admin.client.get(`/api/admin/users/${account.id}`)).status).toBe(404);
    });

    test("creates and revokes an invitation", async () => {
      const page = await web.open({ as: admin, path: "/admin/invites" });
      await page.getByText("No invitations yet").waitFor();
      await web.lookAt(page, "admin-invites-empty");
      await page.getByRole("button", { name: "Invite user" }).click();
      const dialog = page.getByRole("dialog", { name: "Invite user" });
      await dialog.getByLabel("Email (optional)").fill("guest@example.org");
      await dialog.getByLabel("Expires").selectOption("In 30 days");
      await web.lookAt(page, "admin-invite");
      await dialog.getByRole("button", { name: "Invite" }).click();
      const ready = page.getByRole("dialog", { name: "Invitation created" });
      expect(await ready.getByLabel("Link").inputValue()).toContain("/invite?token=");
      await ready.getByRole("button", { name: "Done" }).click();
      await rowSays(page, "guest@example.org", "Open");
      await web.lookAt(page, "admin-invites");
      await page.getByRole("button", { name: "Revoke" }).click();
      await page.getByRole("alertdialog").getByRole("button", { name: "Revoke" }).click();
      await page.getByText("No invitations yet").waitFor();
    });
  },
  { hasAccounts: false },
);
