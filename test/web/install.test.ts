// The service worker: opens the application without the server, receives shared files, and never mixes versions.
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { describeWeb } from "./support/browser.ts";
import { checksumOf, stored, untilTraySays } from "./support/upload-files.ts";

/** Waits until the worker controls the page. */
async function waitForWorker(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready;
    if (navigator.serviceWorker.controller !== null) return;
    await new Promise((taken) => navigator.serviceWorker.addEventListener("controllerchange", taken, { once: true }));
  });
}

/** How many shared files are stored in the browser. */
async function countShared(page: Page): Promise<number> {
  return page.evaluate(async () => {
    const opening = indexedDB.open("larder-shared");
    const database = await new Promise<IDBDatabase>((resolve, reject) => {
      opening.onsuccess = () => resolve(opening.result);
      opening.onerror = () => reject(opening.error ?? new Error("no database"));
    });
    const counting = database.transaction("files").objectStore("files").count();
    const waiting = await new Promise<number>((resolve, reject) => {
      counting.onsuccess = () => resolve(counting.result);
      counting.onerror = () => reject(counting.error ?? new Error("no count"));
    });
    database.close();
    return waiting;
  });
}

/** Addresses in the worker's caches, by cache. */
async function cachedFiles(page: Page): Promise<Record<string, string[]>> {
  return page.evaluate(async () => {
    const found: Record<string, string[]> = {};
    for (const name of await caches.keys()) {
      const cache = await caches.open(name);
      found[name] = (await cache.keys()).map(({ url }) => new URL(url).pathname);
    }
    return found;
  });
}

describeWeb("the installed application", (web) => {
  test("opens without the server, and shows a message", async () => {
    const page = await web.open({ as: await web.account(), hasWorker: true });
    await waitForWorker(page);
    web.expectProblems(page, /OfflineError/);
    await page.context().setOffline(true);
    await page.goto(page.url());
    await page.locator("#app:not(:has(.start-frame))").waitFor();
    await page
      .getByText(/Can.t reach the server/)
      .first()
      .waitFor();
    await page.getByRole("heading", { level: 1, name: "No connection" }).waitFor();
    await web.lookAt(page, "installed-offline");
    await page.context().setOffline(false);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { level: 1, name: "Files" }).waitFor();
  });

  test("caches the application, and no API response", async () => {
    const account = await web.account();
    await account.client.stored("secret content", { name: "secret.txt" });
    const page = await web.open({ as: account, hasWorker: true });
    await waitForWorker(page);
    await page.getByText("secret").first().waitFor();
    const caches = await cachedFiles(page);
    const [name = "", ...others] = Object.keys(caches);
    expect(name).toMatch(/^larder-[0-9a-f]{12}$/);
    expect(others).toEqual([]);
    const addresses = caches[name] ?? [];
    expect(addresses).toContain("/app-document");
    expect(addresses.length).toBeGreaterThan(5);
    expect(addresses.filter((address) => address !== "/app-document" && !address.startsWith("/assets/"))).toEqual([]);
  });

  test("receives what another app shares, and the page uploads it where the person chooses", async () => {
    const account = await web.account();
    await account.client.post("/api/files/folders", { name: "From the phone", path: "/" });
    const page = await web.open({ as: account, hasWorker: true });
    await waitForWorker(page);
    // As Android does it: a form sent to the address in the manifest.
    await Promise.all([
      page.waitForURL(/\/files\?shared=1/),
      page.evaluate(async () => {
        const manifest = await (
          await fetch(document.querySelector<HTMLLinkElement>("link[rel=manifest]")?.href ?? "")
        ).json();
        const form = document.createElement("form");
        Object.assign(form, { method: "post", action: manifest.share_target.action, enctype: "multipart/form-data" });
        const input = Object.assign(document.createElement("input"), { type: "file", name: "files", multiple: true });
        const files = new DataTransfer();
        files.items.add(new File(["from another app"], "shared.txt", { type: "text/plain" }));
        input.files = files.files;
        form.append(input);
        document.body.append(form);
        form.submit();
      }),
    ]);
    const dialog = page.getByRole("dialog", { name: "Upload 1 file from another app" });
    await dialog.getByText("shared.txt").waitFor();
    // The files stay if the page is reloaded before the person has decided.
    await page.goto(new URL("/files?shared=1", page.url()).href);
    await dialog.getByRole("option", { name: "From the phone" }).waitFor({ state: "attached" });
    await dialog.getByLabel("Folder").selectOption({ label: "From the phone" });
    await dialog.getByRole("button", { name: "Upload", exact: true }).click();
    await untilTraySays(page, "1 file uploaded");
    expect(await stored(account, "/From the phone")).toEqual({
      "shared.txt": checksumOf(Buffer.from("from another app")),
    });
    // They are not offered again: the browser has deleted them.
    while ((await countShared(page)) > 0) await Bun.sleep(50);
  });

  test("deletes older versions from the cache, except the previous one", async () => {
    const page = await web.open({ as: await web.account(), path: "/manifest.webmanifest", hasWorker: true });
    await page.evaluate(async () => {
      for (const name of ["larder-aaaaaaaaaaaa", "larder-bbbbbbbbbbbb", "another-program"]) {
        const cache = await caches.open(name);
        await cache.put("/app-document", new Response("the document of an older version"));
      }
    });
    await page.goto(new URL("/files", page.url()).href);
    await waitForWorker(page);
    await page.evaluate(() => navigator.serviceWorker.ready);
    const names = Object.keys(await cachedFiles(page));
    expect(names).toEqual(["larder-bbbbbbbbbbbb", "another-program", expect.stringMatching(/^larder-[0-9a-f]{12}$/)]);
    // Without the server the newest version opens, although the previous one is cached too.
    web.expectProblems(page, /OfflineError/);
    await page.context().setOffline(true);
    await page.goto(page.url());
    await page
      .getByText(/Can.t reach the server/)
      .first()
      .waitFor();
  });
});
