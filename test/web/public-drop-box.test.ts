import { expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { checksumOf, type Client, randomContent } from "../support/client.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { appendTus, tusVersion } from "../support/tus.ts";
import { describeWeb } from "./support/browser.ts";

async function dropBox(client: Client, settings: object = {}) {
  const folder = await client.folderId("box");
  const made = await client.post(`/api/files/folders/${folder}/shares`, { permissions: "upload", ...settings });
  expectStatus(made, 201);
  return { id: made.string("data.id"), token: made.string("data.token") };
}

const choose = (page: Page) => page.locator('input[type="file"]:not([webkitdirectory])');
const textFile = (name: string, text: string) => ({ name, mimeType: "text/plain", buffer: Buffer.from(text) });

/** The requests of a page that create uploads. */
function beginnings(page: Page): string[] {
  const made: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST" && request.url().endsWith("/tus")) made.push(request.url());
  });
  return made;
}

/**
 * Blocks all bytes of the page until the test releases them.
 * @returns the address of the upload that requested first
 */
function cutBytes(page: Page) {
  const requested = Promise.withResolvers<string>();
  let isCut = true;
  const ready = page.route("**/api/public/*/tus/*", (route, request) => {
    if (!isCut || request.method() !== "PATCH") return route.fallback();
    requested.resolve(new URL(request.url()).pathname);
    return route.abort("connectionfailed");
  });
  const heal = () => {
    isCut = false;
  };
  return { ready, requested: requested.promise, heal };
}

describeWeb("the drop box page", (web) => {
  test("accepts many files at once, shows their progress, and keeps the sender's name", async () => {
    const { client } = await web.account();
    const { token } = await dropBox(client, { label: "Homework of 3b" });
    const page = await web.open({ path: `/s/${token}` });
    await page.getByRole("heading", { level: 1, name: "Homework of 3b" }).waitFor();
    await page.getByRole("button", { name: "Choose files" }).waitFor();
    await web.lookAt(page, "drop-box");
    await page.getByLabel("Your name").fill("Ana");
    await choose(page).setInputFiles([
      textFile("one.txt", "one"),
      textFile("two.txt", "two"),
      textFile("empty.txt", ""),
    ]);
    await page.getByRole("status").getByText("3 files uploaded. Thank you.").waitFor();
    await web.lookAt(page, "drop-box-done");
    expect((await client.names("/box")).toSorted()).toEqual(["empty.txt", "one.txt", "two.txt"]);
    const list = await client.get("/api/files?folder=/box&sort=name");
    expect(list.at("data.files.1")).toMatchObject({ checksum: checksumOf("one"), metadata: { sender: "Ana" } });
  });

  test("accepts a folder with everything below it", async () => {
    const { client } = await web.account();
    const { token } = await dropBox(client);
    const folder = await mkdtemp(join(tmpdir(), "larder-drop-"));
    try {
      await writeFile(join(folder, "inside.txt"), "inside");
      const page = await web.open({ path: `/s/${token}`, size: "phone" });
      await page.getByRole("button", { name: "Choose folder" }).waitFor();
      await page.locator("input[webkitdirectory]").setInputFiles(folder);
      await page.getByRole("status").getByText("1 file uploaded. Thank you.").waitFor();
      const list = await client.get("/api/files?folder=/box&recursive=true");
      expect(JSON.stringify(list.at("data.files"))).toContain("inside.txt");
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  test("accepts dropped files", async () => {
    const { client } = await web.account();
    const { token } = await dropBox(client);
    const page = await web.open({ path: `/s/${token}` });
    await page.getByText("Drop files or folders here.").waitFor();
    const transfer = await page.evaluateHandle(() => {
      const data = new DataTransfer();
      data.items.add(new File(["dropped"], "dropped.txt", { type: "text/plain" }));
      return data;
    });
    await page.dispatchEvent(".drop", "drop", { dataTransfer: transfer });
    await page.getByRole("status").getByText("1 file uploaded. Thank you.").waitFor();
    expect(await client.names("/box")).toEqual(["dropped.txt"]);
  });

  test("pauses and resumes; a lost connection recovers automatically", async () => {
    const { client } = await web.account();
    const { token } = await dropBox(client);
    const page = await web.open({ path: `/s/${token}` });
    await page.getByRole("button", { name: "Choose files" }).waitFor();
    // No request reaches the server until the test says so.
    let isCut = true;
    await page.route("**/api/public/**", (route) => (isCut ? route.abort("connectionfailed") : route.continue()));
    await choose(page).setInputFiles([textFile("later.txt", "later")]);
    const row = page.getByRole("listitem").filter({ hasText: "later.txt" });
    await row.getByText("0 bytes of 5 bytes").waitFor();
    await row.getByRole("button", { name: "Pause: later.txt" }).click();
    await row.getByText("Paused at 0 bytes of 5 bytes").waitFor();
    await web.lookAt(page, "drop-box-paused");
    isCut = false;
    await page.getByRole("button", { name: "Resume all" }).click();
    await page.getByRole("status").getByText("1 file uploaded. Thank you.").waitFor();
    expect(await client.names("/box")).toEqual(["later.txt"]);
  });

  test("sends a file only once that was paused and resumed before it was read", async () => {
    const { client } = await web.account();
    const { token } = await dropBox(client);
    const page = await web.open({ path: `/s/${token}` });
    await page.getByRole("button", { name: "Choose files" }).waitFor();
    const made = beginnings(page);
    // The disk responds when the test says so.
    await page.evaluate(() => {
      const gate = Promise.withResolvers<void>();
      Reflect.set(window, "release", gate.resolve);
      Blob.prototype.arrayBuffer = async function (this: Blob) {
        await gate.promise;
        return new Response(this).arrayBuffer();
      };
    });
    await choose(page).setInputFiles([textFile("once.txt", "once")]);
    const row = page.getByRole("listitem").filter({ hasText: "once.txt" });
    await row.getByRole("button", { name: "Pause: once.txt" }).click();
    await row.getByText("Paused at 0 bytes of 4 bytes").waitFor();
    await page.getByRole("button", { name: "Resume all" }).click();
    await row.getByRole("button", { name: "Pause: once.txt" }).waitFor();
    await page.evaluate(() => (Reflect.get(window, "release") as () => void)());
    await page.getByRole("status").getByText("1 file uploaded. Thank you.").waitFor();
    await page.waitForLoadState("networkidle");
    expect(made.length).toBe(1);
    expect(await client.names("/box")).toEqual(["once.txt"]);
  });

  test("accepts files if the browser does not let the page store anything", async () => {
    const { client } = await web.account();
    const { token } = await dropBox(client);
    const page = await web.open({ path: `/s/${token}` });
    await page.getByRole("button", { name: "Choose files" }).waitFor();
    await page.evaluate(() => {
      const deny = () => {
        throw new DOMException("refused", "QuotaExceededError");
      };
      Object.assign(Storage.prototype, { key: deny, getItem: deny, setItem: deny, removeItem: deny });
      localStorage["something"] = "there";
    });
    // Larger than what is sent with the first request, so that it is stored for resuming.
    const buffer = Buffer.alloc(2 * 1024 * 1024, "x");
    await choose(page).setInputFiles([{ name: "large.txt", mimeType: "text/plain", buffer }]);
    await page.getByRole("status").getByText("1 file uploaded. Thank you.").waitFor();
    expect(await client.names("/box")).toEqual(["large.txt"]);
  });

  test("shows why files are rejected, and asks for the password again after the grant expires", async () => {
    const { client } = await web.account();
    const { id, token } = await dropBox(client, { password: "open sesame", maxUploadBytes: 1000 });
    const page = await web.open({ path: `/s/${token}` });
    await page.getByLabel("Password").fill("open sesame");
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByRole("button", { name: "Choose files" }).waitFor();
    await choose(page).setInputFiles([textFile("large.txt", "x".repeat(1001))]);
    const large = page.getByRole("listitem").filter({ hasText: "large.txt" });
    await large.getByText("too large for this drop box").waitFor();
    await large.getByRole("button", { name: "Remove large.txt" }).click();
    await large.waitFor({ state: "detached" });
    // Any change of the share invalidates its grants.
    expectStatus(await client.patch(`/api/shares/${id}`, { label: "Changed" }), 200);
    await choose(page).setInputFiles([textFile("small.txt", "small")]);
    const again = page.getByLabel("Enter the link's password again");
    await again.fill("wrong");
    await page.getByRole("button", { name: "Continue", exact: true }).click();
    await page.getByText("The password is wrong.").waitFor();
    await web.lookAt(page, "drop-box-locked");
    await again.fill("open sesame");
    await page.getByRole("button", { name: "Continue", exact: true }).click();
    await page.getByRole("status").getByText("1 file uploaded. Thank you.").waitFor();
    expect(await client.names("/box")).toEqual(["small.txt"]);
  });

  // The library forgets an upload when resuming is rejected, and would send everything again.
  test("resumes when the password is given again", async () => {
    const { client } = await web.account();
    const { id, token } = await dropBox(client, { password: "open sesame" });
    const page = await web.open({ path: `/s/${token}` });
    await page.getByLabel("Password").fill("open sesame");
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByRole("button", { name: "Choose files" }).waitFor();
    const made = beginnings(page);
    const sent = cutBytes(page);
    await sent.ready;
    const buffer = Buffer.from(randomContent(3 * 1024 * 1024));
    await choose(page).setInputFiles([{ name: "film.bin", mimeType: "application/octet-stream", buffer }]);
    const path = await sent.requested;
    const unlocked = await web.server().visitor.post(`/api/public/${token}/unlock`, { password: "open sesame" });
    const grant = { "x-share-grant": unlocked.string("data.grant") };
    const arrivedBytes = 2 * 1024 * 1024;
    expectStatus(await appendTus(web.server().visitor, path, 0, buffer.subarray(0, arrivedBytes), grant), 204);
    // Any change of the share invalidates its grants.
    expectStatus(await client.patch(`/api/shares/${id}`, { label: "Changed" }), 200);
    const row = page.getByRole("listitem").filter({ hasText: "film.bin" });
    await row.getByText("Waiting for the link's password.").waitFor();
    sent.heal();
    const offset = page.waitForRequest((request) => request.method() === "PATCH");
    await page.getByLabel("Enter the link's password again").fill("open sesame");
    await page.getByRole("button", { name: "Continue", exact: true }).click();
    expect((await offset).headers()["upload-offset"]).toBe(String(arrivedBytes));
    await page.getByRole("status").getByText("1 file uploaded. Thank you.").waitFor();
    expect(made.length).toBe(1);
    const list = await client.get("/api/files?folder=/box");
    expect(list.at("data.files.0")).toMatchObject({ name: "film.bin", checksum: checksumOf(buffer) });
  });

  test("resumes after a proxy temporarily lost its server", async () => {
    const { client } = await web.account();
    const { token } = await dropBox(client);
    const page = await web.open({ path: `/s/${token}` });
    await page.getByRole("button", { name: "Choose files" }).waitFor();
    const made = beginnings(page);
    const sent = cutBytes(page);
    await sent.ready;
    let isAway = false;
    web.expectProblems(page, /^response: 502 /);
    await page.route("**/api/public/*/tus/*", (route, request) => {
      if (!isAway || request.method() === "PATCH") return route.fallback();
      isAway = false;
      sent.heal();
      return route.fulfill({ status: 502, body: "Bad Gateway" });
    });
    const buffer = Buffer.from(randomContent(2 * 1024 * 1024));
    await choose(page).setInputFiles([{ name: "film.bin", mimeType: "application/octet-stream", buffer }]);
    await sent.requested;
    isAway = true;
    await page.getByRole("status").getByText("1 file uploaded. Thank you.").waitFor();
    expect(isAway).toBe(false);
    expect(made.length).toBe(1);
    expect(await client.names("/box")).toEqual(["film.bin"]);
  });

  test("starts over if the server no longer has the upload", async () => {
    const { client } = await web.account();
    const { token } = await dropBox(client);
    const page = await web.open({ path: `/s/${token}` });
    await page.getByRole("button", { name: "Choose files" }).waitFor();
    const made = beginnings(page);
    const sent = cutBytes(page);
    await sent.ready;
    const buffer = Buffer.from(randomContent(2 * 1024 * 1024));
    await choose(page).setInputFiles([{ name: "film.bin", mimeType: "application/octet-stream", buffer }]);
    const path = await sent.requested;
    expectStatus(await web.server().visitor.request("DELETE", path, { headers: tusVersion }), 204);
    sent.heal();
    await page.getByRole("status").getByText("1 file uploaded. Thank you.").waitFor();
    expect(made.length).toBe(2);
    expect(await client.names("/box")).toEqual(["film.bin"]);
  });

  // A browser aborts the request as if the connection were lost, which used to be retried for two hours.
  test("reports that a file changed on the device during the upload, and accepts it when chosen again", async () => {
    const { client } = await web.account();
    const { token } = await dropBox(client);
    const folder = await mkdtemp(join(tmpdir(), "larder-drop-"));
    try {
      const file = join(folder, "draft.bin");
      await writeFile(file, randomContent(2 * 1024 * 1024));
      const page = await web.open({ path: `/s/${token}` });
      await page.getByRole("button", { name: "Choose files" }).waitFor();
      const sent = cutBytes(page);
      await sent.ready;
      await choose(page).setInputFiles(file);
      await sent.requested;
      const changed = randomContent(2 * 1024 * 1024 + 1);
      await writeFile(file, changed);
      sent.heal();
      const row = page.getByRole("listitem").filter({ hasText: "draft.bin" });
      await row.getByText("It may have been changed, moved, or deleted on your device").waitFor();
      await web.lookAt(page, "drop-box-changed");
      // After another retry, the message is shown again.
      await row.getByRole("button", { name: "Retry: draft.bin" }).click();
      await row.getByText("It may have been changed, moved, or deleted on your device").waitFor();
      await choose(page).setInputFiles(file);
      await row.getByText("Uploaded").waitFor();
      await page.getByRole("button", { name: "Remove draft.bin" }).first().click();
      await page.getByRole("status").getByText("1 file uploaded. Thank you.").waitFor();
      const list = await client.get("/api/files?folder=/box");
      expect(list.at("data.files.0")).toMatchObject({ name: "draft.bin", checksum: checksumOf(changed) });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  // Finished files used to take back the rows that they had freed, so that the others were never shown.
  test("shows active uploads if there are more files than rows", async () => {
    const { client } = await web.account();
    const { token } = await dropBox(client);
    const page = await web.open({ path: `/s/${token}` });
    await page.getByRole("button", { name: "Choose files" }).waitFor();
    // The server accepts all but the last at once.
    await page.route("**/api/public/**", async (route) => {
      const metadata = route.request().headers()["upload-metadata"] ?? "";
      if (metadata.includes(btoa("last.txt"))) return route.abort("connectionfailed");
      const headers = { "Tus-Resumable": "1.0.0", "Upload-Offset": "1", Location: `${route.request().url()}/taken` };
      return route.fulfill({ status: 201, headers });
    });
    const many = Array.from({ length: 220 }, (_, at) => textFile(`${at}.txt`, "x"));
    await choose(page).setInputFiles([...many, textFile("last.txt", "x")]);
    await page.getByRole("status").getByText("220 of 221 files uploaded.").waitFor();
    await page.getByRole("listitem").filter({ hasText: "last.txt" }).getByText("Retrying automatically…").waitFor();
    await page.getByRole("button", { name: "Pause all" }).click();
  });

  test("that is ended while files are chosen rejects them with a message", async () => {
    const { client } = await web.account();
    const { id, token } = await dropBox(client);
    const page = await web.open({ path: `/s/${token}` });
    await page.getByRole("button", { name: "Choose files" }).waitFor();
    expectStatus(await client.delete(`/api/shares/${id}`), 200);
    await choose(page).setInputFiles([textFile("late.txt", "late")]);
    await page.getByRole("listitem").getByText("This link was not found").waitFor();
    await page.getByRole("status").getByText("1 failed").waitFor();
  });

  test("works as a plain form without script", async () => {
    const { client } = await web.account();
    const { token } = await dropBox(client);
    const page = await web.open({ path: `/s/${token}`, context: { javaScriptEnabled: false }, size: "phone" });
    await page.getByLabel("Your name").fill("Ben");
    await page.getByLabel("File", { exact: true }).setInputFiles([textFile("plain.txt", "plain")]);
    await page.getByRole("button", { name: "Upload" }).click();
    await page.getByText("was uploaded").waitFor();
    expect(await client.names("/box")).toEqual(["plain.txt"]);
    await eventually("it is counted", async () => {
      const list = await client.get("/api/shares");
      return list.at("data.shares.0.uploads") === 1;
    });
  });
});
