// Connecting other programs: app passwords, the page on which a login is allowed, and the locks of files.
import { expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { encode } from "uqr";
import type { Account } from "../support/client.ts";
import { describeWeb, type Web } from "./support/browser.ts";
import { prove } from "./support/proof.ts";
import { signInBy } from "./support/sign-in.ts";

/** A request as a program sends it, with a user name and an app password. */
function asProgram(web: Web, path: string, username: string, password: string, init: RequestInit = {}) {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Basic ${btoa(`${username}:${password}`)}`);
  return fetch(`${web.server().url}${path}`, { ...init, headers });
}

/** Checks that the picture is a QR code of this text. */
async function expectQrCode(picture: Locator, value: string): Promise<void> {
  const dark = encode(value, { ecc: "M", border: 2 }).data.map((row) => row.map((isDark) => (isDark ? "#" : " ")));
  const path = await picture.locator("path:not([d=''])").getAttribute("d");
  const drawn = dark.map((row) => row.map(() => " "));
  for (const [, x, y] of (path ?? "").matchAll(/M(\d+) (\d+)h1v1h-1z/g)) {
    const row = drawn[Number(y)];
    if (row !== undefined) row[Number(x)] = "#";
  }
  expect(drawn).toEqual(dark);
}

/** An app password made by the API. */
async function makePassword(account: Account, name: string): Promise<string> {
  const body = { name, currentPassword: account.password };
  return (await account.client.post("/api/users/app-passwords", body)).string("data.password");
}

/** Starts a login as a Nextcloud client does. */
async function startLogin(web: Web): Promise<{ path: string; poll: () => Promise<Response> }> {
  const response = await fetch(`${web.server().url}/index.php/login/v2`, {
    method: "POST",
    headers: { "user-agent": "Mozilla/5.0 (Linux) mirall/3.7.3 (Nextcloud)" },
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the form of login flow v2
  const { login, poll } = (await response.json()) as { login: string; poll: { token: string; endpoint: string } };
  return {
    path: new URL(login).pathname,
    poll: () =>
      fetch(`${web.server().url}${new URL(poll.endpoint).pathname}`, {
        method: "POST",
        body: new URLSearchParams({ token: poll.token }),
      }),
  };
}

/** Opens a tab. Its panel is alone once the former one is removed, one frame later. */
async function openTab(page: Page, name: string): Promise<void> {
  await page.getByRole("tab", { name }).click();
  await page.waitForFunction(() => document.querySelectorAll('[role="tabpanel"]').length === 1);
}

describeWeb("connecting programs", (web) => {
  test("shows the address for each program, and makes an app password that is shown once", async () => {
    const account = await web.account();
    const page = await web.open({ as: account, path: "/settings/connect" });
    await page.getByText("No app passwords yet").waitFor();
    await web.lookAt(page, "connect-none");
    expect(await page.getByLabel("Server address").inputValue()).toBe(web.server().url);
    await openTab(page, "Computer");
    await page.getByRole("radio", { name: /Windows Explorer/ }).check();
    expect(await page.getByLabel("Address", { exact: true }).inputValue()).toBe(`${web.server().url}/dav/`);
    await openTab(page, "Program");
    expect(await page.getByLabel("Address", { exact: true }).inputValue()).toContain(
      `/remote.php/dav/files/${encodeURIComponent(account.email)}/`,
    );
    await openTab(page, "Phone");

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
    await expectQrCode(
      dialog.getByRole("img", { name: /QR code/ }),
      `nc://login/server:${web.server().url}&user:${encodeURIComponent(account.email)}&password:${password}`,
    );
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

  test("a program that asked is allowed after sign-in and proof, and another is denied", async () => {
    const [account, another] = [await web.account(), await web.account()];
    const login = await startLogin(web);
    const page = await web.open({ as: another, path: login.path });
    await page.getByText(another.email).waitFor();
    await page.getByRole("button", { name: "Use another account" }).click();
    await signInBy(page, account);
    await page.getByText(account.email).waitFor();
    await page.getByText("Only continue if you started this yourself.").waitFor();
    await page.getByText("127.0.0.1").waitFor();
    await web.lookAt(page, "connect-allow");
    expect((await login.poll()).status).toBe(404);
    await page.getByLabel("Name").fill("Ada's laptop");
    await page.getByRole("button", { name: "Allow access" }).click();
    await prove(page, account.password);
    await page.getByRole("heading", { name: "You can return to the program" }).waitFor();
    await web.lookAt(page, "connect-allowed");
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the form of login flow v2
    const { loginName, appPassword } = (await (await login.poll()).json()) as Record<string, string>;
    const opened = await asProgram(web, "/dav/", loginName ?? "", appPassword ?? "");
    expect(opened.status).toBe(200);

    const second = await startLogin(web);
    const other = await web.openTab(page, second.path);
    await other.getByRole("button", { name: "Deny" }).click();
    await other.getByText("The program can't open your files.").waitFor();
    expect((await second.poll()).status).toBe(404);

    web.expectProblems(page, /404/);
    await page.goto(`${web.server().url}${login.path}`);
    await page.getByText("It has expired, or somebody used it already.").waitFor();
    await web.lookAt(page, "connect-gone");
  });

  test("a program of the older login flow is opened with its app password", async () => {
    const account = await web.account();
    const started = await fetch(`${web.server().url}/index.php/login/flow`, {
      headers: { "ocs-apirequest": "true", "user-agent": "Mozilla/5.0 (Android) Nextcloud-android/3.29.0" },
      redirect: "manual",
    });
    const page = await web.open({ as: account, path: new URL(started.headers.get("location") ?? "").pathname });
    web.expectProblems(page, /nc:/);
    await page.getByText("“Nextcloud app on Android” asks for access to your files.").waitFor();
    await page.getByRole("button", { name: "Allow access" }).click();
    await prove(page, account.password);
    const link = await page.getByRole("link", { name: "Return to the program" }).getAttribute("href");
    const [, server, user, password] = /^nc:\/\/login\/server:(.*)&user:(.*)&password:(.*)$/.exec(link ?? "") ?? [];
    expect([server, user]).toEqual([web.server().url, encodeURIComponent(account.email)]);
    expect((await asProgram(web, "/dav/", account.email, decodeURIComponent(password ?? ""))).status).toBe(200);
  });

  test("a viewer makes read-only app passwords", async () => {
    const account = await web.account();
    await web.server().change(account.id, { role: "viewer" });
    const page = await web.open({ as: account, path: "/settings/connect" });
    await openTab(page, "Program");
    await page.getByRole("button", { name: "Create app password" }).click();
    const dialog = page.getByRole("dialog");
    expect(await dialog.getByLabel("Read-only").isChecked()).toBe(true);
    expect(await dialog.getByLabel("Read-only").isDisabled()).toBe(true);
    await dialog.getByRole("button", { name: "Create" }).click();
    await prove(page, account.password);
    const password = await dialog.getByLabel("App password", { exact: true }).inputValue();
    const address = `${web.server().url}/remote.php/dav/files/${encodeURIComponent(account.email)}/`;
    expect(await dialog.getByLabel("Command").inputValue()).toBe(
      `rclone config create larder webdav url=${address} vendor=nextcloud user=${account.email} pass=${password} --obscure`,
    );
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

/** The addresses of a server below a path, as other devices reach it. */
const [BASE_PATH, PUBLIC_URL] = ["/larder", "http://files.example.org/larder"];

describeWeb(
  "a server with a public address below a path",
  (web) => {
    test("shows that address, and stops a program that deletes many files until the person approves", async () => {
      const account = await web.account();
      const name = "S".repeat(100);
      const password = await makePassword(account, name);
      const send = (method: string, index: number, by = password) =>
        asProgram(web, `${BASE_PATH}/dav/file-${index}.txt`, account.email, by, {
          method,
          ...(method === "PUT" && { body: `${index} by ${by}` }),
        });
      for (let index = 0; index < 8; index += 1) await send("PUT", index);
      let deleted = await send("DELETE", 0);
      for (let index = 1; index < 8; index += 1) deleted = await send("DELETE", index);
      expect(deleted.status).toBe(403);
      const [, link = ""] = / open (\S+)<\/s:message>/.exec(await deleted.text()) ?? [];
      expect(link).toStartWith(`${PUBLIC_URL}/`);

      const page = await web.open({ path: link.slice(PUBLIC_URL.length) });
      await signInBy(page, account);
      await page.getByText(/was stopped because it deleted/).waitFor();
      await web.lookAt(page, "devices-stopped");
      const isCut = await page
        .getByRole("list", { name: "Devices" })
        .evaluate((list) => list.scrollWidth > list.clientWidth);
      expect(isCut).toBe(false);
      await page.getByRole("link", { name: "Review the changes" }).click();
      await page.getByText(`${name} was stopped because it deleted`).waitFor();
      await web.lookAt(page, "holds-program");
      await page.getByRole("button", { name: /^Approve/ }).click();
      await page.getByRole("alertdialog").getByRole("button", { name: "Approve" }).click();
      await page.getByText("The program continues when it tries again.").waitFor();
      await page.getByText("Nothing to approve").waitFor();
      expect((await send("DELETE", 7)).status).toBe(204);
      await page.goBack();
      await page.getByRole("list", { name: "Devices" }).getByText(name).waitFor();
      expect(await page.getByText(/was stopped because it deleted/).isVisible()).toBe(false);

      // Another one is not wanted.
      const unwanted = await makePassword(account, "Encryptor");
      for (let index = 0; index < 8; index += 1) await send("PUT", index);
      for (let index = 0; index < 8; index += 1) await send("PUT", index, unwanted);
      await page.goto(`${web.server().url}${BASE_PATH}/history?tab=holds`);
      await page.getByText(/^Encryptor was stopped/).waitFor();
      expect(await page.getByRole("button", { name: "Reject" }).isVisible()).toBe(false);
      await page.getByRole("button", { name: "End access" }).click();
      await page.getByRole("alertdialog").getByRole("button", { name: "End access" }).click();
      await page.getByText("Nothing to approve").waitFor();
      expect((await send("PUT", 0, unwanted)).status).toBe(401);

      await page.goto(`${web.server().url}${BASE_PATH}/settings/connect`);
      await page.getByText(/so the password is sent unencrypted/).waitFor();
      expect(await page.getByLabel("Server address").inputValue()).toBe(PUBLIC_URL);
      await openTab(page, "Computer");
      await page.getByRole("radio", { name: /GNOME/ }).check();
      expect(await page.getByLabel("Address", { exact: true }).inputValue()).toBe(
        "dav://files.example.org/larder/dav/",
      );
      await web.lookAt(page, "connect-public");

      await page.goto(`${web.server().url}${BASE_PATH}/settings/devices`);
      await page.getByRole("link", { name: `Undo changes by ${name}` }).click();
      const chosen = page.getByLabel("Device").locator("option:checked");
      expect(await chosen.textContent()).toStartWith(name);
    });
  },
  {
    env: {
      LARDER_BASE_PATH: BASE_PATH,
      LARDER_PUBLIC_URL: PUBLIC_URL,
      LARDER_MASS_CHANGE_FILES: "3",
      LARDER_MASS_CHANGE_PERCENT: "10",
    },
  },
);
