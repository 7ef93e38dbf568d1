// Connecting other programs: app passwords, and the locks of files.
import { expect, test } from "bun:test";
import type { Account } from "../support/client.ts";
import { describeWeb, type Web } from "./support/browser.ts";
import { prove } from "./support/proof.ts";

/** A request as a program sends it, with a user name and an app password. */
function asProgram(web: Web, path: string, username: string, password: string, init: RequestInit = {}) {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Basic ${btoa(`${username}:${password}`)}`);
  return fetch(`${web.server().url}${path}`, { ...init, headers });
}

/** An app password made by the API. */
async function makePassword(account: Account, name: string): Promise<string> {
  const body = { name, currentPassword: account.password };
  return (await account.client.post("/api/users/app-passwords", body)).string("data.password");
}

describeWeb("connecting programs", (web) => {
  test("shows the address for each program, and makes an app password that is shown once", async () => {
    const account = await web.account();
    const page = await web.open({ as: account, path: "/settings/connect" });
    await page.getByText("No app passwords yet").waitFor();
    await web.lookAt(page, "connect-none");
    expect(await page.getByLabel("Server address").inputValue()).toBe(web.server().url);
    await page.getByRole("tab", { name: "Computer" }).click();
    await page.getByRole("radio", { name: /Windows Explorer/ }).check();
    expect(await page.getByLabel("Address", { exact: true }).inputValue()).toBe(`${web.server().url}/dav/`);
    await page.getByRole("tab", { name: "Program" }).click();
    expect(await page.getByRole("textbox", { name: "Command" }).inputValue()).toContain(
      `/remote.php/dav/files/${encodeURIComponent(account.email)}/`,
    );
    await page.getByRole("tab", { name: "Phone" }).click();

    await account.client.post("/api/files/folders", { name: "Camera", path: "/" });
    await page.getByRole("button", { name: "Create app password" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Phone of Ada");
    await dialog.getByLabel("Read-only").check();
    await dialog.getByLabel("Only one folder").check();
    expect(await dialog.getByRole("button", { name: "Create" }).isDisabled()).toBe(true);
    await dialog.getByRole("treeitem", { name: "Camera" }).click();
    await web.lookAt(page, "connect-new");
    await dialog.getByRole("button", { name: "Create" }).click();
    await prove(page, account.password);
    const password = await dialog.getByLabel("App password", { exact: true }).inputValue();
    expect(await dialog.getByLabel("User name", { exact: true }).inputValue()).toBe(account.email);
    await dialog
      .getByRole("img", { name: /QR code/ })
      .locator("path:not([d=''])")
      .waitFor();
    await web.lookAt(page, "connect-created");
    await dialog.getByRole("button", { name: "Done" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await page.content()).not.toContain(password);

    expect((await asProgram(web, "/dav/", account.email, password)).status).toBe(200);
    expect((await account.client.get("/api/users/devices")).list("data.devices")).toEqual([]);
    await page.reload();
    const list = page.getByRole("list", { name: "App passwords" });
    await list.getByText("Read-only, only /Camera").waitFor();
    await list.getByText(/Last used .* from 127\.0\.0\.1/).waitFor();
    await web.lookAt(page, "connect-list");
    await list.getByRole("button", { name: "End app password “Phone of Ada”" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "End access" }).click();
    await page.getByText("No app passwords yet").waitFor();
    expect((await asProgram(web, "/dav/", account.email, password)).status).toBe(401);
  });

  test("a viewer makes read-only app passwords", async () => {
    const account = await web.account();
    await web.server().change(account.id, { role: "viewer" });
    const page = await web.open({ as: account, path: "/settings/connect" });
    await page.getByRole("button", { name: "Create app password" }).click();
    const dialog = page.getByRole("dialog");
    expect(await dialog.getByLabel("Read-only").isChecked()).toBe(true);
    expect(await dialog.getByLabel("Read-only").isDisabled()).toBe(true);
    await dialog.getByRole("button", { name: "Create" }).click();
    await prove(page, account.password);
    await dialog.getByRole("button", { name: "Done" }).click();
    await page.getByRole("list", { name: "App passwords" }).getByText("Read-only, all files").waitFor();
  });

  test("a locked file says where to end the lock", async () => {
    const account = await web.account();
    const password = await makePassword(account, "Word processor");
    await asProgram(web, "/dav/letter.txt", account.email, password, { method: "PUT", body: "Dear Bea" });
    const locked = await asProgram(web, "/dav/letter.txt", account.email, password, {
      method: "LOCK",
      body: '<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>',
    });
    expect(locked.status).toBe(200);
    const page = await web.open({ as: account });
    web.expectProblems(page, /409/);
    await page.getByRole("main").getByText("letter.txt", { exact: true }).click();
    await page.keyboard.press("Delete");
    await page.getByText(/end the lock in Settings, under Devices/).waitFor();

    await page.goto(`${web.server().url}/settings/devices`);
    await page.getByRole("list", { name: "Devices" }).getByText("Word processor").waitFor();
    const locks = page.getByRole("list", { name: "Files locked by programs" });
    await locks.getByText("letter.txt").waitFor();
    await web.lookAt(page, "devices-locks");
    await locks.getByRole("button", { name: "End lock of letter.txt" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "End lock" }).click();
    await page.getByText("No file is locked.").waitFor();
  });
});
