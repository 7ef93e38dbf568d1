import { expect, test } from "bun:test";
import { describeWeb, type Web } from "./support/browser.ts";
import { signInBy } from "./support/sign-in.ts";

const asItComes = { LARDER_RATE_LIMITS: "", LARDER_DEFAULT_PLAN: "" };
const email = "root@example.com";
const password = "four unrelated words here";

/** Path of the newest setup link that the server printed. */
function setupPath(web: Web): string {
  const found = [...web.server().log.matchAll(/\/setup\?token=[\w-]+/g)].at(-1)?.[0];
  if (found === undefined) throw new Error(`no set-up link in:\n${web.server().log}`);
  return found;
}

/** Whether the page handles a click with Control, by which browsers open a new tab. */
function isPreventedWithControl(link: Element): boolean {
  let isPrevented = false;
  const listener = (event: Event) => {
    isPrevented = event.defaultPrevented;
    event.preventDefault();
  };
  document.addEventListener("click", listener, { once: true });
  link.dispatchEvent(new MouseEvent("click", { ctrlKey: true, bubbles: true, cancelable: true }));
  return isPrevented;
}

/**
 * Lets the page find no server until its session storage says `isBack`. `page.route` would turn off the browser's cache,
 * without which the page after set-up lacks its style sheet while the server restarts.
 */
function failRequestsUntilBack(): void {
  const send = window.fetch.bind(window);
  const request = async (...parameters: Parameters<typeof send>) => {
    if (sessionStorage.getItem("isBack") === null) throw new TypeError("no server");
    return send(...parameters);
  };
  window.fetch = Object.assign(request, window.fetch);
}

describeWeb(
  "the first run",
  (web) => {
    test("the sign-in page explains how to start; the link creates the administrator and signs in", async () => {
      const page = await web.open({ path: "/files", hasOwnClock: true });
      web.expectProblems(page, /503 .*\/health\/ready/);
      await page.getByRole("heading", { name: "Set up Larder" }).waitFor();
      await page.getByText("larder user setup-link").waitFor();
      await web.lookAt(page, "sign-in-new");

      await page.addInitScript(failRequestsUntilBack);
      await page.goto(new URL(setupPath(web), page.url()).href);
      await page.getByRole("heading", { name: "Welcome to Larder" }).waitFor();
      await web.lookAt(page, "setup");
      await page.getByLabel("Email").fill(email);
      await page.getByLabel("Your name").fill("Root");
      await page.getByLabel("Password", { exact: true }).fill(password);
      await page.getByRole("radio", { name: /One household/ }).check();
      await page.getByRole("button", { name: "Create account" }).click();
      await page.getByText("are signed in").waitFor();
      const restart = page.getByRole("status");
      await restart.getByText("Larder is restarting").waitFor();
      await web.lookAt(page, "setup-done");
      const open = page.getByRole("link", { name: "Open Larder" });
      expect(await open.evaluate(isPreventedWithControl)).toBe(false);
      expect(await open.getAttribute("aria-busy")).toBeNull();
      await open.click();
      expect(await open.getAttribute("aria-busy")).toBe("true");
      await page.clock.fastForward(30_000);
      await restart.getByText("Larder has not restarted yet").waitFor();
      await web.lookAt(page, "setup-late");
      expect(new URL(page.url()).pathname).toBe("/setup");
      await page.evaluate(() => sessionStorage.setItem("isBack", "true"));
      await page.clock.fastForward(5_000);
      await page.waitForURL(/\/home$/);
      await page.getByRole("link", { name: "Administration" }).waitFor();

      const other = await web.open({ path: "/sign-in" });
      await signInBy(other, { email, password });
      await other.waitForURL(/\/home$/);
    });

    test("an invalid link shows a message with what to do", async () => {
      const page = await web.open({ path: "/setup?token=gone" });
      await page.getByRole("heading", { name: "This setup link does not work" }).waitFor();
      await web.lookAt(page, "setup-gone");
    });
  },
  { env: asItComes, hasAccounts: false },
);

describeWeb(
  "the first run, without script",
  (web) => {
    test("shows errors at the field, and creates the account with a plan", async () => {
      const page = await web.open({ path: setupPath(web), context: { javaScriptEnabled: false } });
      await page.getByLabel("Email").fill("no..body@example.org");
      await page.getByLabel("Password", { exact: true }).fill(password);
      await page.getByRole("radio", { name: /limited by plan/ }).check();
      await page.getByRole("button", { name: "Create account" }).click();
      await page.getByRole("alert").waitFor();
      expect(await page.getByRole("radio", { name: /limited by plan/ }).isChecked()).toBe(true);
      await page.getByLabel("Email").fill(email);
      await page.getByLabel("Password", { exact: true }).fill(password);
      await page.getByRole("button", { name: "Create account" }).click();
      await page.getByText("are signed in").waitFor();
    });
  },
  { env: asItComes, hasAccounts: false },
);
