// The pages on a bad line, after an update of the server, and below a base path.
import { expect, test } from "bun:test";
import { describeWeb } from "./support/browser.ts";

describeWeb("a page on a bad line", (web) => {
  test("says that the server can't be reached, and goes on when it is back", async () => {
    const account = await web.account();
    const page = await web.open({ as: account });
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.context().setOffline(true);
    await page
      .getByText(/can.t be reached/)
      .first()
      .waitFor();
    await account.client.stored("x", { name: "meanwhile.txt" });
    await page.context().setOffline(false);
    await page.getByText("meanwhile").first().waitFor();
    await page
      .getByText(/can.t be reached/)
      .first()
      .waitFor({ state: "detached" });
  });

  test("opens on a slow one, with its frame first", async () => {
    const page = await web.open({ as: await web.account(), path: "/docs" });
    const session = await page.context().newCDPSession(page);
    await session.send("Network.enable");
    await session.send("Network.emulateNetworkConditions", {
      offline: false,
      latency: 400,
      downloadThroughput: 50_000,
      uploadThroughput: 20_000,
    });
    await page.goto(new URL("/files", page.url()).href, { waitUntil: "commit" });
    await page.locator(".start-frame").waitFor();
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect(await page.locator(".start-frame").count()).toBe(0);
  });
});

describeWeb("a page of a version that the server doesn't have any more", (web) => {
  test("loads itself anew where a part of it is gone", async () => {
    const page = await web.open({ as: await web.account() });
    await page.getByRole("heading", { level: 1 }).waitFor();
    // As after an update: what this page names is not there, until it is loaded again.
    let isOld = true;
    await page.route("**/assets/**", async (route) => {
      if (isOld) await route.fulfill({ status: 404, body: "{}" });
      else await route.continue();
    });
    page.on("framenavigated", () => {
      isOld = false;
    });
    web.expectProblems(page, /dynamically imported module|preload/i);
    await page.getByRole("link", { name: "Trash" }).first().click();
    await page.getByRole("heading", { level: 1, name: "Trash" }).waitFor();
  });
});
