import { expect, test } from "bun:test";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describeWeb } from "./support/browser.ts";
import { Line } from "./support/line.ts";
import { signInBy } from "./support/sign-in.ts";
import { bytesOf, checksumOf, chooseFiles, stored, tray, untilTraySays, withFiles } from "./support/upload-files.ts";

const MIB = 1024 * 1024;
const SIZE = 20 * MIB;
const STALLED_AFTER = 4 * MIB;

describeWeb("interrupted uploads", (web) => {
  /** A page that reaches the server through a controlled connection, with an upload stalled in the middle. */
  async function inTheMiddle(seed: number, use: (scene: Scene) => Promise<void>): Promise<void> {
    const account = await web.account();
    await using line = await Line.open(() => web.server().port);
    const page = await web.open({ as: account });
    await page.goto(`${line.origin}/files`);
    const bytes = bytesOf(SIZE, seed);
    await withFiles({ "film.bin": bytes }, async (folder) => {
      const path = join(folder, "film.bin");
      line.stallAfter(STALLED_AFTER);
      await chooseFiles(page, path);
      await line.untilStalled();
      await use({ page, line, path, account, checksum: checksumOf(bytes) });
      await untilTraySays(page, "1 file uploaded");
      expect(await stored(account)).toEqual({ "film.bin": checksumOf(bytes) });
    });
  }

  test("an upload resumes automatically when the network is back", async () => {
    await inTheMiddle(1, async ({ page, line }) => {
      const resumed = page.waitForResponse((response) => response.request().method() === "HEAD");
      line.cut();
      await tray(page).getByText("Waiting for the network").waitFor();
      await web.lookAt(page, "uploads-waiting");
      line.mend();
      line.release();
      expect((await resumed).status()).toBe(200);
    });
  });

  test("an upload survives kill -9 of the server", async () => {
    await inTheMiddle(2, async ({ page, line }) => {
      await web.server().kill9();
      await tray(page)
        .getByText(/Waiting for the network|isn't responding/)
        .waitFor();
      line.release();
      await web.server().restart();
    });
  });

  test("an upload resumes after a reload, when the same file is chosen again, from the server's offset", async () => {
    await inTheMiddle(3, async ({ page, line, path }) => {
      await untilRemembered(page);
      await page.reload();
      await tray(page).getByText("Select the file again to resume the upload.").waitFor();
      await web.lookAt(page, "uploads-choose-again");
      line.release();
      await withFiles({ "film.bin": bytesOf(SIZE, 99) }, async (folder) => {
        await chooseAgain(page, join(folder, "film.bin"));
        await page.getByText("None of these files match.").waitFor();
      });
      const resumed = page.waitForResponse((response) => response.request().method() === "HEAD");
      await chooseAgain(page, path);
      expect(Number((await resumed).headers()["upload-offset"])).toBeGreaterThanOrEqual(0);
    });
  });

  test("the page asks before it is closed during an upload, and not afterwards", async () => {
    const account = await web.account();
    await using line = await Line.open(() => web.server().port);
    const page = await web.open({ as: account });
    await page.goto(`${line.origin}/files`);
    const bytes = bytesOf(SIZE, 6);
    await withFiles({ "film.bin": bytes }, async (folder) => {
      line.stallAfter(STALLED_AFTER);
      await chooseFiles(page, join(folder, "film.bin"));
      await line.untilStalled();
      await tray(page).getByRole("button", { name: "Pause film.bin" }).waitFor();
      const dialogs: string[] = [];
      page.on("dialog", (dialog) => {
        dialogs.push(dialog.type());
        void dialog.dismiss();
      });
      const asking = page.waitForEvent("dialog");
      await page.close({ runBeforeUnload: true });
      await asking;
      line.release();
      await untilTraySays(page, "1 file uploaded");
      expect(await stored(account)).toEqual({ "film.bin": checksumOf(bytes) });
      const closed = page.waitForEvent("close");
      await page.close({ runBeforeUnload: true });
      await closed;
      expect(dialogs).toEqual(["beforeunload"]);
    });
  });

  test("an upload that was rejected at its end with the response lost gets the reason, and leaves nothing behind", async () => {
    await inTheMiddle(7, async ({ page, line, account }) => {
      // Somebody takes the name after the page was informed that it is free.
      await account.client.upload("somebody else's", { name: "film.bin" });
      const forgotten = page.waitForResponse((response) => response.request().method() === "DELETE");
      line.loseResponses();
      line.release();
      await tray(page).getByText("Waiting for the network").waitFor();
      line.mend();
      const dialog = page.getByRole("dialog", { name: "This name is already taken" });
      await dialog.waitFor();
      expect((await forgotten).status()).toBe(204);
      await dialog.getByLabel("Save as a new version").check();
      await dialog.getByRole("button", { name: "Continue" }).click();
    });
  });

  test("small waiting files resume after a reload automatically", async () => {
    const account = await web.account();
    await using line = await Line.open(() => web.server().port);
    const page = await web.open({ as: account });
    await page.goto(`${line.origin}/files`);
    const names = Array.from({ length: 12 }, (_, index) => `photo ${index}.bin`);
    const files = Object.fromEntries(names.map((name, index) => [name, bytesOf(600 * 1024, index)]));
    await withFiles(files, async (folder) => {
      // A third of a file: nothing gets through.
      line.stallAfter(200 * 1024);
      await chooseFiles(
        page,
        names.map((name) => join(folder, name)),
      );
      await line.untilStalled();
      await untilSaved(page, names.length);
    });
    await page.reload();
    line.release();
    await untilTraySays(page, "12 files uploaded");
    expect(Object.keys(await stored(account)).sort()).toEqual([...names].sort());
  });

  test("a file with a handle resumes after a reload without asking", async () => {
    const account = await web.account();
    await using line = await Line.open(() => web.server().port);
    const page = await web.open({ as: account });
    await page.addInitScript(offerHandles);
    await page.goto(`${line.origin}/files`);
    line.stallAfter(STALLED_AFTER);
    await page.getByRole("button", { name: "New", exact: true }).first().click();
    await page.getByRole("menuitem", { name: "Upload files" }).click();
    await line.untilStalled();
    await untilRemembered(page);
    await page.reload();
    line.release();
    await untilTraySays(page, "1 file uploaded");
    expect(await stored(account)).toEqual({ "own.bin": checksumOf(Buffer.alloc(SIZE, 7)) });
  });

  test("an upload waits for the sign-in when the session ends in the middle, and then continues", async () => {
    await inTheMiddle(4, async ({ page, line, account }) => {
      const sessions = await account.client.get("/api/auth/session");
      expect(sessions.status).toBe(200);
      await page.context().clearCookies();
      line.cut();
      line.mend();
      line.release();
      const dialog = page.getByRole("dialog").filter({ hasText: /sign in/i });
      await dialog.waitFor();
      // Behind the dialog, where roles are hidden.
      await page.getByText("Sign in again to resume the upload.").waitFor();
      await signInBy(page, account);
      await dialog.waitFor({ state: "detached" });
    });
  });

  test("an upload belongs to one tab, and another takes it over when that tab is closed", async () => {
    const account = await web.account();
    await using line = await Line.open(() => web.server().port);
    const page = await web.open({ as: account });
    await page.goto(`${line.origin}/files`);
    const other = await page.context().newPage();
    await other.goto(`${line.origin}/files`);
    await other.getByRole("heading", { level: 1, name: "Files" }).waitFor();
    const bytes = bytesOf(2 * MIB, 5);
    await withFiles({ "shared.bin": bytes }, async (folder) => {
      line.stallAfter(MIB);
      await chooseFiles(page, join(folder, "shared.bin"));
      await line.untilStalled();
      await untilSaved(page, 1);
      expect(await tray(other).count()).toBe(0);
      await page.close();
      line.release();
      await untilTraySays(other, "1 file uploaded");
    });
    expect(await stored(account)).toEqual({ "shared.bin": checksumOf(bytes) });
  });
});

interface Scene {
  readonly page: Page;
  readonly line: Line;
  readonly path: string;
  readonly account: Awaited<ReturnType<Parameters<Parameters<typeof describeWeb>[1]>[0]["account"]>>;
  readonly checksum: string;
}

async function chooseAgain(page: Page, path: string): Promise<void> {
  const chooser = page.waitForEvent("filechooser");
  await tray(page).getByRole("button", { name: "Select files again" }).click();
  await (await chooser).setFiles(path);
}

/** Waits until the browser has stored the upload's URL: the page saves it next to the sending. */
async function untilRemembered(page: Page): Promise<void> {
  // Not with waitForFunction: see below.
  while (!(await isRemembered(page))) await Bun.sleep(50);
}

async function isRemembered(page: Page): Promise<boolean> {
  return page.evaluate(async () => {
    const opening = indexedDB.open("larder-uploads");
    const database = await new Promise<IDBDatabase>((resolve, reject) => {
      opening.onsuccess = () => resolve(opening.result);
      opening.onerror = () => reject(opening.error ?? new Error("no database"));
    });
    const reading = database.transaction("uploads").objectStore("uploads").getAll();
    const saved = await new Promise<unknown[]>((resolve, reject) => {
      reading.onsuccess = () => resolve(reading.result);
      reading.onerror = () => reject(reading.error ?? new Error("nothing can be read"));
    });
    database.close();
    return saved.some((one) => typeof Object(Object(one).upload).url === "string");
  });
}

/** Waits until the browser has stored this many files. */
async function untilSaved(page: Page, count: number): Promise<void> {
  // Not with waitForFunction, which takes a promise for a true value.
  while ((await countSaved(page)) !== count) await Bun.sleep(50);
}

async function countSaved(page: Page): Promise<number> {
  return page.evaluate(async () => {
    const opening = indexedDB.open("larder-uploads");
    const database = await new Promise<IDBDatabase>((resolve, reject) => {
      opening.onsuccess = () => resolve(opening.result);
      opening.onerror = () => reject(opening.error ?? new Error("no database"));
    });
    const counting = database.transaction("files").objectStore("files").count();
    const saved = await new Promise<number>((resolve, reject) => {
      counting.onsuccess = () => resolve(counting.result);
      counting.onerror = () => reject(counting.error ?? new Error("no count"));
    });
    database.close();
    return saved;
  });
}

/**
 * Runs in the page: a file picker that returns a file of the browser's own file system, which may be read again at any
 * time.
 */
function offerHandles(): void {
  const showOpenFilePicker = async (): Promise<FileSystemFileHandle[]> => {
    const root = await navigator.storage.getDirectory();
    const handle = await root.getFileHandle("own.bin", { create: true });
    const writer = await handle.createWritable();
    await writer.write(new Uint8Array(20 * 1024 * 1024).fill(7));
    await writer.close();
    return [handle];
  };
  Object.defineProperty(window, "showOpenFilePicker", { value: showOpenFilePicker });
}
