import { expect, test } from "bun:test";
import { join } from "node:path";
import { describeWeb } from "./support/browser.ts";
import { Line } from "./support/line.ts";
import { bytesOf, checksumOf, chooseFiles, stored, tray, untilTraySays, withFiles } from "./support/upload-files.ts";

const MIB = 1024 * 1024;

describeWeb("uploads", (web) => {
  test("chosen files are uploaded completely, announced, and appear in the list", async () => {
    const account = await web.account();
    const page = await web.open({ as: account });
    const files = {
      "letter.txt": Buffer.from("Dear all"),
      "empty.dat": Buffer.alloc(0),
      "large.bin": bytesOf(9 * MIB),
    };
    await withFiles(files, async (folder) => {
      await chooseFiles(
        page,
        Object.keys(files).map((name) => join(folder, name)),
      );
      await untilTraySays(page, "3 files uploaded");
    });
    const expected = Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, checksumOf(bytes)]));
    expect(await stored(account)).toEqual(expected);
    await page.getByRole("main").getByText("letter.txt").first().waitFor();
    await page.locator("#announcements", { hasText: "3 files uploaded" }).waitFor({ state: "attached" });
    await web.lookAt(page, "uploads-done");
    await tray(page).getByRole("link", { name: "Show letter.txt in its folder" }).waitFor();
    await tray(page).getByRole("button", { name: "Clear finished" }).click();
    await tray(page).waitFor({ state: "detached" });
  });

  test("a chosen folder is uploaded with everything below it", async () => {
    const account = await web.account();
    const page = await web.open({ as: account });
    await withFiles({ "trip/a.txt": Buffer.from("a"), "trip/day 1/ü.txt": Buffer.from("b") }, async (folder) => {
      await chooseFiles(page, join(folder, "trip"), "Upload folder");
      await untilTraySays(page, "2 files uploaded");
    });
    expect(await stored(account, "/trip")).toEqual({ "a.txt": checksumOf(Buffer.from("a")), "day 1": "folder" });
    expect(await stored(account, "/trip/day 1")).toEqual({ "ü.txt": checksumOf(Buffer.from("b")) });
  });

  test("hundreds of small files are uploaded together, and the tray renders only what is visible", async () => {
    const account = await web.account();
    const page = await web.open({ as: account });
    const names = Array.from({ length: 300 }, (_, index) => `note ${String(index).padStart(3, "0")}.txt`);
    await withFiles(Object.fromEntries(names.map((name) => [name, Buffer.from(name)])), async (folder) => {
      await chooseFiles(
        page,
        names.map((name) => join(folder, name)),
      );
      await untilTraySays(page, "300 files uploaded");
    });
    const usage = await account.client.get("/api/users/usage");
    expect(usage.number("data.storage.files")).toBe(300);
    expect(await tray(page).getByRole("listitem").count()).toBeLessThan(60);
  });

  test("uploads that need a person are above the finished ones, and stay under the pointer when they are finished", async () => {
    const account = await web.account();
    const page = await web.open({ as: account });
    await page.route("**/api/tus", (route) => {
      const { "upload-metadata": metadata = "" } = route.request().headers();
      return metadata.includes(`filename ${btoa("z.txt")}`)
        ? route.fulfill({ status: 403, contentType: "text/html", body: "<html>No</html>" })
        : route.continue();
    });
    const names = [...Array.from({ length: 40 }, (_, index) => `note ${index}.txt`), "z.txt"];
    await withFiles(Object.fromEntries(names.map((name) => [name, Buffer.from(name)])), async (folder) => {
      await chooseFiles(
        page,
        names.map((name) => join(folder, name)),
      );
      await untilTraySays(page, "1 upload needs attention");
      const first = tray(page).getByRole("listitem").first();
      await first.getByText("A proxy in front of the server rejected this upload (403).").waitFor();
      await web.lookAt(page, "uploads-attention");
      await page.unroute("**/api/tus");
      await first.getByRole("button", { name: "Retry z.txt" }).click();
      await untilTraySays(page, "41 files uploaded");
      await first.getByText("z.txt", { exact: true }).waitFor();
      await page.mouse.move(5, 5);
      await first.getByText("note 0.txt", { exact: true }).waitFor();
    });
  });

  test("a paused upload stops, resumes, and can be cancelled", async () => {
    const account = await web.account();
    await using line = await Line.open(() => web.server().port);
    const page = await web.open({ as: account });
    await page.goto(`${line.origin}/files`);
    const bytes = bytesOf(20 * MIB, 7);
    await withFiles({ "film.bin": bytes, "other.bin": bytesOf(12 * MIB, 8) }, async (folder) => {
      line.stallAfter(4 * MIB);
      await chooseFiles(page, join(folder, "film.bin"));
      await line.untilStalled();
      await web.lookAt(page, "uploads-sending");
      await tray(page).getByRole("button", { name: "Pause film.bin" }).click();
      await untilTraySays(page, "Uploads paused");
      expect(await stored(account)).toEqual({});
      line.release();
      await tray(page).getByRole("button", { name: "Resume film.bin" }).click();
      await untilTraySays(page, "1 file uploaded");
      expect(await stored(account)).toEqual({ "film.bin": checksumOf(bytes) });

      line.stallAfter(4 * MIB);
      await chooseFiles(page, join(folder, "other.bin"));
      await line.untilStalled();
      const forgotten = page.waitForResponse((response) => response.request().method() === "DELETE");
      await tray(page).getByRole("button", { name: "Cancel all" }).click();
      await page.getByRole("alertdialog").getByRole("button", { name: "Cancel all" }).click();
      await tray(page).waitFor({ state: "detached" });
      expect((await forgotten).status()).toBe(204);
    });
  });

  test("on a slow connection the list loads, and the tray shows the speed and the remaining time", async () => {
    const account = await web.account();
    await account.client.post("/api/files/folders", { name: "Far away", path: "/" });
    await account.client.stored("near", { name: "letter.txt", fields: { folder: "/Far away" } });
    const page = await web.open({ as: account });
    const session = await page.context().newCDPSession(page);
    await session.send("Network.enable");
    const slow = { offline: false, latency: 300, downloadThroughput: 50_000, uploadThroughput: 400_000 };
    await session.send("Network.emulateNetworkConditions", slow);
    await page.getByRole("main").getByText("Far away").first().dblclick();
    await page.getByRole("main").getByText("letter").first().waitFor();
    const bytes = bytesOf(16 * MIB, 11);
    await withFiles({ "film.bin": bytes }, async (folder) => {
      await chooseFiles(page, join(folder, "film.bin"));
      await tray(page)
        .getByText(/^[\d.,]+ [KM]?B\/s$/)
        .waitFor();
      await tray(page)
        .getByText(/ left$/)
        .waitFor();
      await web.lookAt(page, "uploads-slow");
      await session.send("Network.emulateNetworkConditions", { ...slow, latency: 0, uploadThroughput: -1 });
      await untilTraySays(page, "1 file uploaded");
    });
    expect((await stored(account, "/Far away"))["film.bin"]).toBe(checksumOf(bytes));
  });

  test("a name conflict is asked about once, and the choice may apply to all", async () => {
    const account = await web.account();
    for (const name of ["a.txt", "b.txt", "c.txt"]) await account.client.upload(`old ${name}`, { name });
    const page = await web.open({ as: account });
    const files = { "a.txt": Buffer.from("new a"), "b.txt": Buffer.from("new b"), "c.txt": Buffer.from("new c") };
    await withFiles(files, async (folder) => {
      const choose = () =>
        chooseFiles(
          page,
          Object.keys(files).map((name) => join(folder, name)),
        );
      const dialog = page.getByRole("dialog", { name: "This name is already taken" });
      await choose();
      await dialog.waitFor();
      await web.lookAt(page, "uploads-conflict");
      await dialog.getByLabel("Save as a new version").check();
      await dialog.getByLabel("Apply to all conflicts in this upload").check();
      await dialog.getByRole("button", { name: "Continue" }).click();
      await untilTraySays(page, "3 files uploaded");
      expect(await stored(account)).toEqual(
        Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, checksumOf(bytes)])),
      );

      await tray(page).getByRole("button", { name: "Clear finished" }).click();
      await choose();
      await dialog.getByLabel("Apply to all conflicts in this upload").check();
      await dialog.getByRole("button", { name: "Continue" }).click();
      await untilTraySays(page, "3 files uploaded");
      expect(Object.keys(await stored(account)).sort()).toEqual([
        "a (1).txt",
        "a.txt",
        "b (1).txt",
        "b.txt",
        "c (1).txt",
        "c.txt",
      ]);

      await tray(page).getByRole("button", { name: "Clear finished" }).click();
      await choose();
      await dialog.getByLabel("Skip").check();
      await dialog.getByLabel("Apply to all conflicts in this upload").check();
      await dialog.getByRole("button", { name: "Continue" }).click();
      await tray(page).getByText("Skipped. The existing file was kept.").nth(2).waitFor();
      expect(Object.keys(await stored(account))).toHaveLength(6);
    });
  });

  test("the cause of a rejected upload is shown, be it the quota or a proxy", async () => {
    const account = await web.server().addUser(["--quota", "1MB"]);
    const page = await web.open({ as: account });
    await withFiles({ "much.bin": bytesOf(2 * MIB), "page.txt": Buffer.from("x") }, async (folder) => {
      await chooseFiles(page, join(folder, "much.bin"));
      await untilTraySays(page, "1 upload needs attention");
      await tray(page)
        .getByText(/This needs 2 MB, but only .* is left/)
        .waitFor();
      await web.lookAt(page, "uploads-refused");
      await tray(page).getByRole("button", { name: "Cancel much.bin" }).click();

      await page.route("**/api/tus", (route) =>
        route.fulfill({
          status: 413,
          contentType: "text/html",
          body: "<html>413 Request Entity Too Large nginx</html>",
        }),
      );
      await chooseFiles(page, join(folder, "page.txt"));
      await tray(page).getByText("A proxy in front of the server rejects even small parts of a file (413)").waitFor();
      await page.unroute("**/api/tus");
      await tray(page).getByRole("button", { name: "Retry page.txt" }).click();
      await untilTraySays(page, "1 file uploaded");
    });
    expect(Object.keys(await stored(account))).toEqual(["page.txt"]);
  });
});
