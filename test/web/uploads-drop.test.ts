import { expect, test } from "bun:test";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describeWeb } from "./support/browser.ts";
import { checksumOf, stored, untilTraySays, withFiles } from "./support/upload-files.ts";

describeWeb("uploads by drop, paste and share", (web) => {
  test("dropped files and folders are uploaded with everything below them", async () => {
    const account = await web.account();
    const page = await web.open({ as: account });
    await page.getByText("This folder is empty").waitFor();
    const files = {
      "one.txt": Buffer.from("1"),
      "tree/two.txt": Buffer.from("2"),
      "tree/deep/three.txt": Buffer.from("3"),
    };
    await withFiles(files, async (folder) => {
      await drag(page, [join(folder, "one.txt"), join(folder, "tree")], "dragEnter", "dragOver");
      await page.getByText("Drop files and folders to upload them to Files").waitFor();
      await web.lookAt(page, "uploads-drop");
      await drag(page, [join(folder, "one.txt"), join(folder, "tree")], "drop");
      await untilTraySays(page, "3 files uploaded");
    });
    expect(await stored(account)).toEqual({ "one.txt": checksumOf(files["one.txt"]), tree: "folder" });
    expect(await stored(account, "/tree")).toEqual({ "two.txt": checksumOf(files["tree/two.txt"]), deep: "folder" });
    expect(await stored(account, "/tree/deep")).toEqual({ "three.txt": checksumOf(files["tree/deep/three.txt"]) });
  });

  test("empty folders are created, too", async () => {
    const account = await web.account();
    const page = await web.open({ as: account });
    await page.getByText("This folder is empty").waitFor();
    await withFiles({ "tree/a.txt": Buffer.from("a"), "tree/none/deeper/x": Buffer.from("x") }, async (folder) => {
      const { rm } = await import("node:fs/promises");
      await rm(join(folder, "tree/none/deeper/x"));
      await drag(page, [join(folder, "tree")], "dragEnter", "dragOver", "drop");
      await untilTraySays(page, "1 file uploaded");
    });
    // They are created next to the upload.
    while ((await account.client.get("/api/files?folder=/tree/none/deeper")).status !== 200) await Bun.sleep(50);
    expect(await stored(account, "/tree/none")).toEqual({ deeper: "folder" });
  });

  test("a pasted image is uploaded into the current folder, under its own name", async () => {
    const account = await web.account();
    await account.client.post("/api/files/folders", { name: "Notes", path: "/" });
    const page = await web.open({ as: account, path: "/files/Notes" });
    await page.getByText("This folder is empty").waitFor();
    // Repeated until it is accepted: the page listens only shortly after it is rendered.
    await page.waitForFunction(() => {
      const clipboardData = new DataTransfer();
      clipboardData.items.add(new File(["not really a picture"], "image.png", { type: "image/png" }));
      return !document.body.dispatchEvent(
        new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }),
      );
    });
    await untilTraySays(page, "1 file uploaded");
    const [name = ""] = Object.keys(await stored(account, "/Notes"));
    expect(name).toMatch(/^Pasted \d{4}-\d\d-\d\d \d\d-\d\d-\d\d\.png$/);
  });

  test("pasting into a field stays in the field, and a file that is dropped next to the list is ignored", async () => {
    const page = await web.open({ as: await web.account() });
    await page.getByText("This folder is empty").waitFor();
    /** Whether the page handles the event instead of the browser. */
    const isTaken = (where: string, type: "paste" | "dragover" | "drop"): Promise<boolean> =>
      page.evaluate(
        ([selector, name]) => {
          const data = new DataTransfer();
          data.items.add(new File(["a table as a picture"], "image.png", { type: "image/png" }));
          const how = { bubbles: true, cancelable: true };
          const event =
            name === "paste"
              ? new ClipboardEvent(name, { clipboardData: data, ...how })
              : new DragEvent(name, { dataTransfer: data, ...how });
          return document.querySelector(selector)?.dispatchEvent(event) === false;
        },
        [where, type] as const,
      );
    while (!(await isTaken("body", "paste"))) await Bun.sleep(50);
    await untilTraySays(page, "1 file uploaded");
    await page.evaluate(() => document.body.append(document.createElement("textarea")));
    expect(await isTaken("textarea", "paste")).toBe(false);
    expect(await isTaken("body", "dragover")).toBe(true);
    expect(await isTaken("body", "drop")).toBe(true);
    await untilTraySays(page, "1 file uploaded");
  });

  test("files that another app shared are uploaded into the folder that the person chooses", async () => {
    const account = await web.account();
    await account.client.post("/api/files/folders", { name: "From the phone", path: "/" });
    const page = await web.open({ as: account, path: "/files", size: "phone" });
    await page.evaluate(async () => {
      const opening = indexedDB.open("larder-shared", 1);
      opening.onupgradeneeded = () => opening.result.createObjectStore("files", { autoIncrement: true });
      await new Promise<void>((resolve, reject) => {
        opening.onerror = () => reject(opening.error ?? new Error("no database"));
        opening.onsuccess = () => {
          const transaction = opening.result.transaction("files", "readwrite");
          transaction.objectStore("files").add({ file: new File(["shared"], "ticket.txt"), receivedAtMs: Date.now() });
          transaction.oncomplete = () => {
            opening.result.close();
            resolve();
          };
        };
      });
    });
    await page.goto(`${new URL(page.url()).origin}/files?shared=1`);
    const dialog = page.getByRole("dialog", { name: "Upload 1 file from another app" });
    await dialog.getByRole("option", { name: "From the phone" }).waitFor({ state: "attached" });
    await web.lookAt(page, "uploads-shared");
    await dialog.getByLabel("Folder").selectOption({ label: "From the phone" });
    await dialog.getByRole("button", { name: "Upload", exact: true }).click();
    await untilTraySays(page, "1 file uploaded");
    expect(await stored(account, "/From the phone")).toEqual({ "ticket.txt": checksumOf(Buffer.from("shared")) });
  });
});

/** Drags files from disk over the middle of the page, as the desktop does. */
async function drag(page: Page, files: string[], ...types: ("dragEnter" | "dragOver" | "drop")[]): Promise<void> {
  const session = await page.context().newCDPSession(page);
  for (const type of types) {
    await session.send("Input.dispatchDragEvent", {
      type,
      x: 700,
      y: 450,
      data: { items: [], files, dragOperationsMask: 1 },
    });
  }
  await session.detach();
}
