// Messages of the frame: the server has a new version, or shared files were lost.
import { expect, test } from "bun:test";
import { describeWeb } from "./support/browser.ts";

describeWeb("the frame", (web) => {
  test("offers a new version of the pages, and loads it", async () => {
    const page = await web.open({ as: await web.account() });
    await page.getByRole("heading", { level: 1 }).waitFor();
    const banner = page.getByText("A new version of Larder is available.");
    expect(await banner.count()).toBe(0);
    // Simulates an update of the server: its document has another version than the open one.
    await page.route("**/app-document", async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace(/data-version="[^"]+"/, 'data-version="0123456789ab"');
      await route.fulfill({ response: response, body });
    });
    // A person who returns to the tab later is notified.
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
    await banner.waitFor();
    await web.lookAt(page, "new-version");
    await page.unroute("**/files");
    const loaded = page.waitForEvent("load");
    await page.getByRole("status").getByRole("button", { name: "Reload" }).press("Enter");
    await loaded;
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect(await banner.count()).toBe(0);
  });

  test("shows a message if files that another app shared were lost", async () => {
    const page = await web.open({ as: await web.account() });
    await page.getByRole("heading", { level: 1 }).waitFor();
    // As Android sends it, in a browser whose service worker doesn't run.
    await Promise.all([
      page.waitForURL("**/files?shared=missed"),
      page.evaluate(() => {
        const form = document.createElement("form");
        Object.assign(form, { method: "post", action: "/share-target", enctype: "multipart/form-data" });
        const input = Object.assign(document.createElement("input"), { type: "file", name: "files" });
        const files = new DataTransfer();
        files.items.add(new File(["from another app"], "shared.txt", { type: "text/plain" }));
        input.files = files.files;
        form.append(input);
        document.body.append(form);
        form.submit();
      }),
    ]);
    const dialog = page.getByRole("dialog", { name: "Shared files not received" });
    await dialog.getByText("Share the files again").waitFor();
    await web.lookAt(page, "share-missed");
    await dialog.getByRole("button", { name: "Close" }).last().click();
    await dialog.waitFor({ state: "detached" });
    await page.waitForURL(/\/files$/);
  });

  test("shows it even if the person navigated before its script was loaded", async () => {
    const page = await web.open({ as: await web.account(), path: "/trash" });
    const hasNavigated = Promise.withResolvers<void>();
    await page.route("**/assets/**/upload-tray-*.js", async (route) => {
      await hasNavigated.promise;
      await route.continue();
    });
    const requested = page.waitForRequest("**/assets/**/upload-tray-*.js");
    await page.goto(new URL("/files?shared=missed", page.url()).href);
    await requested;
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Trash" }).click();
    await page.waitForURL("**/trash");
    hasNavigated.resolve();
    await page.getByRole("dialog", { name: "Shared files not received" }).waitFor();
  });
});
