// The pages on a bad connection, after an update of the server, and below a base path.
import { expect, test } from "bun:test";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describeWeb } from "./support/browser.ts";
import { closeMenu } from "./support/focus.ts";
import { checksumOf, chooseFiles, stored, tray, untilTraySays, withFiles } from "./support/upload-files.ts";

describeWeb("a page on a bad connection", (web) => {
  test("shows that the server can't be reached, and continues when it can", async () => {
    const account = await web.account();
    const page = await web.open({ as: account, isFirstVisit: true });
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.context().setOffline(true);
    await page
      .getByText(/Can.t reach the server/)
      .first()
      .waitFor();
    await account.client.stored("x", { name: "added.txt" });
    await page.context().setOffline(false);
    await page.getByText("added").first().waitFor();
    await page
      .getByText(/Can.t reach the server/)
      .first()
      .waitFor({ state: "detached" });
  });

  test("loads its data again once, if the connection is lost several times in some seconds", async () => {
    const page = await web.open({ as: await web.account(), isFirstVisit: true });
    await page.getByText("This folder is empty").waitFor();
    const rounds = 5;
    // Sent whenever the page loads its data again, and not repeated if it fails.
    let requests = 0;
    page.on("request", (request) => {
      if (request.url().endsWith("/app-document")) requests += 1;
    });
    const loadedAgain = page.waitForRequest("**/app-document");
    const note = page.getByText(/Can.t reach the server/).first();
    for (let round = 0; round < rounds; round++) {
      await page.context().setOffline(true);
      await note.waitFor();
      await page.context().setOffline(false);
      await note.waitFor({ state: "detached" });
    }
    await loadedAgain;
    expect(requests).toBeLessThan(rounds);
  });

  test("loads as soon as the server can be reached, if its session could not be loaded", async () => {
    const page = await web.open({ as: await web.account(), path: "/docs", isFirstVisit: true });
    web.expectProblems(page, /Failed to load resource/);
    await page.route("**/api/auth/session", (route) => route.abort());
    await page.goto(new URL("/trash", page.url()).href);
    await page.getByRole("heading", { level: 1, name: "No connection" }).waitFor();
    await page.unroute("**/api/auth/session");
    await page.getByRole("heading", { level: 1, name: "Trash" }).waitFor();
  });

  for (const [script, path, heading] of [
    ["trash-page", "/trash", "Trash"],
    // A page without the frame.
    ["sign-up-page", "/sign-up", "Create account"],
  ] as const) {
    test(`loads as soon as the server can be reached, if its script ${script} could not be loaded`, async () => {
      const page = await web.open({ as: await web.account(), path: "/docs", isFirstVisit: true });
      await page.route(`**/assets/**/${script}-*.js`, async (route) => {
        await page.context().setOffline(true);
        await route.abort();
      });
      await page.goto(new URL(path, page.url()).href, { waitUntil: "commit" });
      await page.getByRole("button", { name: "Try again" }).waitFor();
      await page.unroute(`**/assets/**/${script}-*.js`);
      await page.context().setOffline(false);
      await page.getByRole("heading", { level: 1, name: heading }).waitFor();
    });
  }

  test("opens on a slow connection with its frame first", async () => {
    const page = await web.open({ as: await web.account(), path: "/docs", isFirstVisit: true });
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

describeWeb("a page of a version that the server no longer has", (web) => {
  test("reloads itself if a script is gone", async () => {
    const page = await web.open({ as: await web.account(), isFirstVisit: true });
    await page.getByRole("heading", { level: 1 }).waitFor();
    const part = await losePart(page, "trash-page");
    page.on("request", (request) => {
      if (request.isNavigationRequest()) part.restore();
    });
    web.expectProblems(page, /dynamically imported module|preload/i);
    await page.getByRole("link", { name: "Trash" }).first().click();
    await page.getByRole("heading", { level: 1, name: "Trash" }).waitFor();
    expect(part.missed()).toBeGreaterThan(0);
  });

  test("goes where the person navigated during the reload", async () => {
    const page = await web.open({ as: await web.account(), path: "/docs", isFirstVisit: true });
    const part = await losePart(page, "upload-tray");
    web.expectProblems(page, /dynamically imported module|preload/i);
    // In the page itself, as soon as it starts to load: from outside, a click would wait for the load.
    await page.addInitScript(() => {
      const goOn = () => document.querySelector<HTMLElement>('nav[aria-label="Main"] a[href="/trash"]')?.click();
      if (window.location.pathname === "/files") window.addEventListener("beforeunload", () => setTimeout(goOn));
    });
    const isAway = Promise.withResolvers<void>();
    page.on("framenavigated", (frame) => {
      if (frame.url().endsWith("/trash")) isAway.resolve();
    });
    let documents = 0;
    await page.route("**/files", async (route) => {
      if (!route.request().isNavigationRequest()) return route.continue();
      documents += 1;
      // The document that replaces the page arrives after the person has navigated.
      if (documents > 1) await isAway.promise;
      await route.continue();
    });
    await page.goto(new URL("/files", page.url()).href);
    // Parts that only an action needs are loaded when the page is first used.
    await page.getByRole("heading", { level: 1, name: "Files" }).waitFor();
    await page.mouse.move(10, 10);
    await isAway.promise;
    part.restore();
    await page.getByRole("heading", { level: 1, name: "Trash" }).waitFor();
    await page.waitForLoadState();
    expect(new URL(page.url()).pathname).toBe("/trash");
    expect(part.missed()).toBeGreaterThan(0);
  });

  test("stays and shows what is missing if the person lets an upload finish first", async () => {
    const account = await web.account();
    const page = await web.open({ as: account, isFirstVisit: true });
    await page.getByRole("heading", { level: 1 }).waitFor();
    const isUploaded = Promise.withResolvers<void>();
    await page.route("**/api/tus**", async (route) => {
      await isUploaded.promise;
      await route.continue();
    });
    await losePart(page, "trash-page");
    web.expectProblems(page, /dynamically imported module|preload/i);
    await withFiles({ "letter.txt": Buffer.from("Dear all") }, async (folder) => {
      await chooseFiles(page, [join(folder, "letter.txt")]);
      await tray(page).waitFor();
      const requested = page.waitForEvent("dialog");
      await page.getByRole("link", { name: "Trash" }).first().click({ noWaitAfter: true });
      const dialog = await requested;
      expect(dialog.type()).toBe("beforeunload");
      await dialog.dismiss();
      await page.getByRole("main").getByRole("alert").waitFor();
      isUploaded.resolve();
      await untilTraySays(page, "1 file uploaded");
    });
    expect(await stored(account)).toEqual({ "letter.txt": checksumOf(Buffer.from("Dear all")) });
  });
});

describeWeb("an optional part that can't be loaded", (web) => {
  test("is left out with a message, and works the next time", async () => {
    const page = await web.open({ as: await web.account(), isFirstVisit: true });
    await page.getByRole("heading", { level: 1, name: "Files" }).waitFor();
    // The shortcut works once the page has been rendered completely.
    await page.waitForLoadState("networkidle");
    await page.route("**/assets/**/help-*.js", async (route) => {
      await page.context().setOffline(true);
      await route.abort();
    });
    await page.keyboard.press("?");
    // Once by the banner, once in place of the content.
    await page
      .getByText(/Can.t reach the server/)
      .nth(1)
      .waitFor();
    await page.getByRole("heading", { level: 1, name: "Files" }).waitFor();
    await page.unroute("**/assets/**/help-*.js");
    await page.context().setOffline(false);
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  });

  test("leaves the page as it is, and loads when the connection is back", async () => {
    const page = await web.open({ as: await web.account(), path: "/docs", isFirstVisit: true });
    const isLost = Promise.withResolvers<void>();
    await page.route("**/assets/**/inbox-bell-*.js", async (route) => {
      await page.context().setOffline(true);
      await route.abort();
      isLost.resolve();
    });
    await page.goto(new URL("/trash", page.url()).href, { waitUntil: "commit" });
    await isLost.promise;
    await page
      .getByText(/Can.t reach the server/)
      .first()
      .waitFor();
    await page.getByRole("heading", { level: 1, name: "Trash" }).waitFor();
    await page.unroute("**/assets/**/inbox-bell-*.js");
    await page.context().setOffline(false);
    await page.getByRole("button", { name: "Notifications" }).waitFor();
  });

  test("loads automatically when the connection is back, if nobody asked for it", async () => {
    const account = await web.account();
    const page = await web.open({ as: account, path: "/docs", isFirstVisit: true });
    const requested = Promise.withResolvers<void>();
    const othersAreLoaded = Promise.withResolvers<void>();
    await page.route("**/assets/**/upload-tray-*.js", async (route) => {
      requested.resolve();
      await othersAreLoaded.promise;
      await page.context().setOffline(true);
      await route.abort();
    });
    await page.goto(new URL("/files", page.url()).href);
    await page.getByRole("heading", { level: 1, name: "Files" }).waitFor();
    await page.mouse.move(10, 10);
    await requested.promise;
    // Only the tray is lost: the menu, which is requested at the same moment, must be there first.
    await page.getByRole("button", { name: "New", exact: true }).click();
    await page.getByRole("menuitem", { name: "Upload files" }).waitFor();
    await closeMenu(page);
    othersAreLoaded.resolve();
    await page
      .getByText(/Can.t reach the server/)
      .first()
      .waitFor();
    await page.unroute("**/assets/**/upload-tray-*.js");
    await page.context().setOffline(false);
    await withFiles({ "letter.txt": Buffer.from("Dear all") }, async (folder) => {
      await chooseFiles(page, [join(folder, "letter.txt")]);
      await untilTraySays(page, "1 file uploaded");
    });
  });
});

/**
 * Simulates an update: the script `name` is missing.
 * @returns how often it was requested, and a function that restores it
 */
async function losePart(page: Page, name: string): Promise<{ missed: () => number; restore: () => void }> {
  let missed = 0;
  let isLost = true;
  await page.route(`**/assets/**/${name}-*.js`, async (route) => {
    if (!isLost) return route.continue();
    missed += 1;
    await route.fulfill({ status: 404, body: "{}" });
  });
  return {
    missed: () => missed,
    restore: () => {
      isLost = false;
    },
  };
}
