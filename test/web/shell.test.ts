import { expect, test } from "bun:test";
import { describeWeb } from "./support/browser.ts";
import { closeByKey } from "./support/focus.ts";
import { openPreview, overlay } from "./support/preview.ts";
import { signInBy } from "./support/sign-in.ts";

describeWeb("the document of the application", (web) => {
  test("shows what is missing if scripts are off", async () => {
    const page = await web.open({ context: { javaScriptEnabled: false } });
    expect(await page.locator("main").innerText()).toContain("needs JavaScript");
  });

  test("has the chosen theme from the first paint on", async () => {
    const page = await web.open({ as: await web.account() });
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.evaluate(() => window.localStorage.setItem("larder-theme", "dark"));
    // Before the application is loaded: what the first script alone decides.
    await page.route(/\/assets\/[^/]+\/main-/, () => undefined);
    await page.reload({ waitUntil: "commit" });
    await page.locator("html[data-theme=dark] .start-frame").waitFor();
    const ground = await page.locator(".start-frame").evaluate((frame) => getComputedStyle(frame).backgroundColor);
    expect(ground).toBe("rgb(20, 23, 26)");
    await page.unrouteAll({ behavior: "ignoreErrors" });
  });

  test("changes its look at once if reduced motion is set", async () => {
    const page = await web.open({ as: await web.account(), context: { reducedMotion: "reduce" } });
    await page.getByRole("heading", { level: 1 }).waitFor();
    const [before, after] = await page.evaluate(() => {
      const ground = () => getComputedStyle(document.body).backgroundColor;
      const light = ground();
      document.documentElement.dataset["theme"] = "dark";
      return [light, ground()];
    });
    expect(before).toBe("rgb(247, 246, 242)");
    expect(after).toBe("rgb(20, 23, 26)");
  });

  test("and the API's pages follow the system's color scheme", async () => {
    const page = await web.open({ path: "/docs", context: { colorScheme: "dark" } });
    await page.locator(".swagger-ui .opblock").first().waitFor();
    const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    expect(await ground()).toBe("rgb(28, 32, 34)");
    await page.emulateMedia({ colorScheme: "light" });
    await page.locator("html:not(.dark-mode)").waitFor();
    expect(await ground()).not.toBe("rgb(28, 32, 34)");
  });

  test("is checked in both color schemes", async () => {
    const page = await web.open({ path: "/sign-in" });
    await page.getByLabel("Email").waitFor();
    const colourLabels = (colour: string, scheme: string): Promise<void> =>
      page.evaluate((rules) => {
        const sheet = new CSSStyleSheet();
        sheet.replaceSync(rules);
        document.adoptedStyleSheets = [sheet];
      }, `@media (prefers-color-scheme: ${scheme}) { label { color: ${colour} !important } }`);
    await colourLabels("#ccc", "light");
    await expect(web.lookAt(page, "colours")).rejects.toThrow("light: color-contrast");
    await colourLabels("#333", "dark");
    await expect(web.lookAt(page, "colours")).rejects.toThrow("dark: color-contrast");
  });

  test("can't be embedded in a frame", async () => {
    const page = await web.open({ as: await web.account() });
    web.expectProblems(page, /frame|refused|violates/i);
    const isShown = await page.evaluate(async () => {
      const frame = document.createElement("iframe");
      frame.src = window.location.href;
      const loaded = new Promise((done) => frame.addEventListener("load", done, { once: true }));
      document.body.append(frame);
      await loaded;
      return frame.contentDocument?.querySelector("#app") !== null && frame.contentDocument !== null;
    });
    expect(isShown).toBe(false);
  });

  test("loads at most 180 KB of scripts and styles until the files page is idle", async () => {
    const account = await web.account();
    await account.client.storedId("text", { name: "note.txt" });
    const page = await web.open({
      as: account,
      path: "/docs",
      isFirstVisit: true,
      context: { serviceWorkers: "block" },
    });
    const loaded = new Set<string>();
    page.on("request", (request) => {
      if (new URL(request.url()).pathname.startsWith("/assets/")) loaded.add(request.url());
    });
    await page.goto(new URL("/files", page.url()).href);
    await page.getByText("note.txt").waitFor();
    await page.waitForLoadState("networkidle");
    await page.evaluate(() => new Promise((idle) => requestIdleCallback(idle)));
    await page.waitForLoadState("networkidle");
    const sizes = await Promise.all(
      [...loaded].map(async (address) => {
        const file = await fetch(address, { headers: { "accept-encoding": "br" }, decompress: false });
        return (await file.arrayBuffer()).byteLength;
      }),
    );
    expect(sizes.length).toBeGreaterThan(10);
    expect(sizes.reduce((total, size) => total + size, 0)).toBeLessThan(180_000);
  });

  test("runs no inline script", async () => {
    const page = await web.open({ as: await web.account() });
    web.expectProblems(page, /Content Security Policy/);
    const ran = await page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = "window.ranInline = true";
      document.body.append(script);
      return Reflect.get(window, "ranInline");
    });
    expect(ran).toBeUndefined();
  });
});

const BASE_PATH = "/larder";

describeWeb(
  "the application below a base path",
  (web) => {
    test("signs in, lists, uploads and shows, all below it", async () => {
      const account = await web.account();
      await account.client.stored("# Hello", { name: "hello.md", fields: { folder: "/Notes" } });
      const page = await web.open({ path: "/files/Notes" });
      const elsewhere: string[] = [];
      page.on("request", (request) => {
        const { protocol, pathname } = new URL(request.url());
        if (protocol.startsWith("http") && !pathname.startsWith(`${BASE_PATH}/`)) elsewhere.push(pathname);
      });
      await page.waitForURL(/\/larder\/sign-in\?next=/);
      await signInBy(page, account);
      await page.waitForURL(/\/larder\/files\/Notes$/);
      await page.getByText("hello.md").first().waitFor();

      const chooser = page.waitForEvent("filechooser");
      await page.getByRole("button", { name: "New", exact: true }).click();
      await page.getByRole("menuitem", { name: "Upload files" }).click();
      const file = { name: "uploaded.txt", mimeType: "text/plain", buffer: Buffer.from("below the base path") };
      await (await chooser).setFiles([file]);
      await page.getByRole("row").filter({ hasText: "uploaded.txt" }).waitFor();
      expect(await account.client.names("/Notes")).toContain("uploaded.txt");

      await openPreview(page, "uploaded.txt");
      await overlay(page).getByText("below the base path").waitFor();
      await closeByKey(page, overlay(page));

      await page.getByRole("link", { name: "Trash" }).first().click();
      await page.waitForURL(/\/larder\/trash$/);
      await page.reload();
      await page.getByRole("heading", { level: 1, name: "Trash" }).waitFor();
      expect(elsewhere).toEqual([]);
    });

    test("has its service worker there", async () => {
      const page = await web.open({ as: await web.account(), hasWorker: true });
      const scope = await page.evaluate(async () => (await navigator.serviceWorker.ready).scope);
      expect(new URL(scope).pathname).toBe(`${BASE_PATH}/`);
    });
  },
  { env: { LARDER_BASE_PATH: BASE_PATH } },
);
