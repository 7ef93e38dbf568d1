// The pages for moving in: imports from archives and from servers, their progress and report, and those of all accounts.
import { afterAll, expect, test } from "bun:test";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { tinyPng } from "../support/images.ts";
import { FakeImmich, IMMICH_KEY } from "../support/immich-server.ts";
import { scriptedServer } from "../support/import-sources.ts";
import { temporaryDirectory } from "../support/server.ts";
import { photoWithDescription, takeoutZip, type TakeoutFile } from "../support/takeout.ts";
import { describeWeb } from "./support/browser.ts";
import { withFiles } from "./support/upload-files.ts";

const importsFolder = await temporaryDirectory();
afterAll(() => rm(importsFolder, { recursive: true, force: true }));

const env = { LARDER_OUTBOUND_ALLOW: "127.0.0.0/8", LARDER_IMPORTS_FOLDER: importsFolder };
const other = await scriptedServer();

/** An archive with a photo of each color. */
function archive(colors: readonly number[], more: readonly TakeoutFile[] = []): Buffer {
  const photos = colors.flatMap((color) =>
    photoWithDescription(tinyPng(2, 2, [color, 0, 0]), { title: `${color}.png`, taken: "2019-07-01T10:00:00Z" }),
  );
  return takeoutZip([...photos, ...more]);
}

const ALBUM_PAGE: readonly TakeoutFile[] = [{ path: "Takeout/Keep/a.html", content: "x" }];

/** Waits until the newest import is in a state. */
async function untilState(page: Page, kind: string, state: string): Promise<void> {
  await page
    .getByRole("region", { name: `Import from ${kind}` })
    .getByText(state, { exact: true })
    .waitFor();
}

describeWeb(
  "imports",
  (web) => {
    test("from archives are started after an upload, and show what was imported and what was not", async () => {
      const account = await web.account("Anna Archive");
      const page = await web.open({ as: account, path: "/photos" });
      await page.getByRole("link", { name: "Import from another service" }).click();
      await page.getByText("There are no archives yet.").waitFor();
      await web.lookAt(page, "import-none");
      await page.getByRole("button", { name: "Start import" }).press("Enter");
      await page.getByText("Upload or select the archives.").waitFor();
      const archives = {
        "takeout-20260101T000000Z-001.zip": archive([1, 2], ALBUM_PAGE),
        "takeout-20260101T000000Z-003.zip": archive([2, 3]),
      };
      await withFiles(archives, async (folder) => {
        const chooser = page.waitForEvent("filechooser");
        await page.getByRole("button", { name: "Upload archives" }).click();
        await (await chooser).setFiles(Object.keys(archives).map((name) => join(folder, name)));
        await page.getByText(/^2 archives selected/).waitFor();
      });
      await page.getByText("A part is missing: takeout-20260101T000000Z-002.zip").waitFor();
      await web.lookAt(page, "import-archives");
      await page.getByRole("button", { name: "Start import" }).press("Enter");
      await untilState(page, "Google Takeout", "Finished");
      const report = page.getByRole("group", { name: "Result" });
      await report.getByText(/^3 files, /).waitFor();
      await report.getByRole("button", { name: "Show list" }).press("Enter");
      const list = report.getByRole("list", { name: "What was not imported" });
      await list.getByText("takeout-20260101T000000Z-002.zip").waitFor();
      await list.getByText("Keep", { exact: true }).waitFor();
      await web.lookAt(page, "import-finished");
      const downloading = page.waitForEvent("download");
      await report.getByRole("button", { name: "Download list" }).click();
      const download = await downloading;
      expect(download.suggestedFilename()).toBe("not-imported.csv");
      const csv = await readFile(await download.path(), "utf8");
      expect(csv).toStartWith('\u{FEFF}"Name","Reason","Message"\r\n');
      expect(csv).toContain('\r\n"Keep","Not supported","');
      await report.getByRole("link", { name: "Open folder" }).click();
      await page.waitForURL(/\/files\/Photos$/);
    });

    test("from a server show errors at their fields, and continue with another password", async () => {
      const account = await web.account("Nora Next");
      other.respond(() => ({ status: 401, body: "no" }));
      const page = await web.open({ as: account, path: "/settings/import" });
      await page.getByRole("radio", { name: /^Nextcloud/ }).check();
      await page.getByRole("button", { name: "Start import" }).click();
      await page.getByText("Enter the user name.").waitFor();
      await page.getByLabel("Server address").fill("192.168.1.1");
      await page.getByLabel("User name or email").fill("nora");
      await page.getByLabel("App password").fill("wrong");
      await web.lookAt(page, "import-nextcloud");
      await page.getByRole("button", { name: "Start import" }).click();
      await page
        .getByRole("alert")
        .getByText(/is not allowed/)
        .waitFor();
      expect(await page.getByLabel("Server address").getAttribute("aria-invalid")).toBe("true");
      await page.getByLabel("Server address").fill(other.url);
      await page.getByLabel("App password").press("Enter");
      await untilState(page, "Nextcloud or ownCloud", "Failed");
      await web.lookAt(page, "import-failed");
      await page.getByRole("button", { name: "Continue", exact: true }).click();
      const dialog = page.getByRole("dialog", { name: "Continue the import" });
      await dialog.getByLabel("App password").fill("wrong again");
      await web.lookAt(page, "import-continue");
      await dialog.getByRole("button", { name: "Continue", exact: true }).click();
      await dialog.waitFor({ state: "detached" });
      await untilState(page, "Nextcloud or ownCloud", "Failed");
      await page.getByRole("button", { name: "Cancel import" }).click();
      await page.getByRole("alertdialog").getByRole("button", { name: "Cancel import" }).click();
      await untilState(page, "Nextcloud or ownCloud", "Canceled");
    });

    test("are paused and continued, and an administrator sees all of them", async () => {
      const account = await web.account("Ida Immich");
      const assets = ["a", "b"].map((name) => ({
        id: `5a7b1c22-0000-4000-8000-00000000000${name}`,
        fileName: `${name}.jpg`,
        content: `photo ${name}`,
      }));
      const immich = new FakeImmich({ assets });
      let isBlocked = true;
      other.respond((request) => {
        const isDelayed = isBlocked && request.path.includes("00000000000b/original");
        return isDelayed ? { status: 503, headers: { "retry-after": "120" } } : immich.respond(request);
      });
      const page = await web.open({ as: account, path: "/settings/import" });
      await page.getByRole("radio", { name: /^Immich/ }).check();
      await page.getByLabel("Server address").fill(other.url);
      await page.getByLabel("API key").fill(IMMICH_KEY);
      await page.getByRole("button", { name: "Start import" }).click();
      await page.getByText("1 of 2 files").waitFor();
      await web.lookAt(page, "import-running");
      const admin = await web.server().addUser(["--admin"]);
      const adminPage = await web.open({ as: admin, path: "/admin/imports" });
      await adminPage.getByRole("row", { name: /Ida Immich.*Running/ }).waitFor();
      await web.lookAt(adminPage, "admin-imports");
      await page.getByRole("button", { name: "Pause" }).click();
      await untilState(page, "Immich", "Paused");
      isBlocked = false;
      await page.getByRole("button", { name: "Continue", exact: true }).click();
      await untilState(page, "Immich", "Finished");
      // A run that continues counts what it imported before it was paused.
      await page
        .getByRole("group", { name: "Result" })
        .getByText(/^2 files/)
        .waitFor();

      await mkdir(join(importsFolder, "ida"), { recursive: true });
      await writeFile(join(importsFolder, "ida", "takeout-1.zip"), archive([4]));
      await adminPage.getByRole("button", { name: "Import from a folder" }).click();
      const dialog = adminPage.getByRole("dialog", { name: "Import from a folder of the server" });
      await dialog.getByRole("combobox", { name: "Account, by name or email" }).pressSequentially("Ida");
      await dialog.getByRole("option", { name: /^Ida Immich/ }).click();
      await dialog.getByLabel("Path").fill("missing");
      const start = dialog.getByRole("button", { name: "Import from a folder" });
      await start.click();
      await dialog.getByText(/is not in the folder for imports/).waitFor();
      await web.lookAt(adminPage, "admin-import-start");
      await dialog.getByLabel("Path").fill("ida");
      await dialog.getByRole("checkbox", { name: "Import deleted files again" }).check();
      const sent = adminPage.waitForRequest((request) => request.method() === "POST");
      await start.click();
      expect((await sent).postDataJSON()).toMatchObject({ path: "ida", restoreDeleted: true });
      await dialog.waitFor({ state: "detached" });
      await adminPage.getByRole("row", { name: /Google Takeout ida.*Ida Immich.*Finished/ }).waitFor();
      await page.reload();
      await untilState(page, "Google Takeout", "Finished");
      const earlier = page.getByRole("region", { name: "Earlier imports" });
      await earlier.getByRole("button", { name: /^Details of the import of http/ }).press("Enter");
      await earlier.getByRole("group", { name: "Result" }).waitFor();
      await web.lookAt(page, "import-earlier");
    });
  },
  { env },
);

describeWeb("imports without a folder on the server", (web) => {
  test("say which setting is missing, and read-only accounts whom to ask", async () => {
    const admin = await web.server().addUser(["--admin"]);
    const page = await web.open({ as: admin, path: "/admin/imports" });
    await page.getByText(/set “importsFolder”/).waitFor();
    expect(await page.getByRole("button", { name: "Import from a folder" }).count()).toBe(0);
    await web.lookAt(page, "admin-imports-none");
    const viewer = await web.server().addUser(["--role", "viewer"]);
    const own = await web.open({ as: viewer, path: "/settings/import" });
    await own.getByText("Your account is read-only.").waitFor();
  });
});
