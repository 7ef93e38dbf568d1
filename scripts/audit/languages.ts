// Looks at each page in a language, on a phone: what is cut, what does not fit, and what is not translated.
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import type { Account } from "../../test/support/client.ts";
import { repositoryRoot, type TestServer } from "../../test/support/server.ts";

const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1280, height: 900 };

/** Pages whose dialogs and menus are opened. */
const WITH_OVERLAYS = [
  "/files/House",
  "/albums",
  "/trash",
  "/history?tab=rewind",
  ...["security", "connect", "devices", "api-keys", "import"].map((name) => `/settings/${name}`),
  ...["users", "invites", "webhooks", "imports"].map((name) => `/admin/${name}`),
];

/** Where to save screenshots, and whether texts that are not translated are problems. */
interface Target {
  readonly folder: string;
  readonly isPseudo: boolean;
}

/** What to visit. */
interface Visits {
  readonly account: Account;
  readonly signedIn: readonly string[];
  readonly visitors: readonly string[];
}

/** Prints the problems of each page in a language, and saves screenshots of it. */
export async function auditLanguage(browser: Browser, server: TestServer, tag: string, visits: Visits): Promise<void> {
  const folder = resolve(repositoryRoot, "dist/screenshots", tag);
  mkdirSync(folder, { recursive: true });
  const context = await browser.newContext({
    baseURL: server.url,
    locale: tag === "ar-XB" ? "en" : tag,
    serviceWorkers: "block",
    reducedMotion: "reduce",
  });
  context.setDefaultTimeout(30_000);
  await context.addCookies([{ name: "larder_language", value: tag, url: server.url }]);
  await context.addInitScript((locale) => localStorage.setItem("larder-locale", locale), tag);
  const page = await context.newPage();
  const target = { folder, isPseudo: tag === "ar-XB" };
  const look = async (paths: readonly string[]) => {
    for (const path of paths)
      await lookAtPage(page, path, target).catch((error: unknown) => console.error(`${path}: ${String(error)}`));
  };
  await look(visits.visitors);
  const { email, password } = visits.account;
  await context.request.post("/api/auth/signin", { data: { email, password, cookie: true } });
  await look(visits.signedIn);
  for (const path of WITH_OVERLAYS) await lookAtOverlays(page, path, target);
  await context.close();
}

async function lookAtPage(page: Page, path: string, { folder, isPseudo }: Target): Promise<void> {
  const name = fileName(path);
  await page.setViewportSize(DESKTOP);
  await openPage(page, path);
  await page.screenshot({ path: join(folder, `${name}.desktop.png`) });
  const problems = new Set(await page.evaluate(findProblems, isPseudo));
  await page.setViewportSize(PHONE);
  await page.evaluate(() => new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted))));
  await page.screenshot({ path: join(folder, `${name}.phone.png`), fullPage: true });
  for (const problem of await page.evaluate(findProblems, isPseudo)) problems.add(problem);
  for (const problem of problems) console.log(`${path}: ${problem}`);
}

/** A dialog or menu that is open. */
const OVERLAY = "[role=dialog], [role=alertdialog], [role=menu]";

/** Opens the dialogs and menus of a page on a phone, and the dialogs of its menus. Nothing is confirmed in them. */
async function lookAtOverlays(page: Page, path: string, { folder, isPseudo }: Target): Promise<void> {
  await openPage(page, path);
  const look = async (name: string) => {
    await page.screenshot({ path: join(folder, `${fileName(path)}.${name}.png`) });
    for (const problem of await page.evaluate(findProblems, isPseudo)) console.log(`${path}, ${name}: ${problem}`);
  };
  for (const [number, index] of (await page.evaluate(findButtons)).entries()) {
    if (!(await opensOverlay(page, page.locator("button").nth(index)))) {
      await openPage(page, path);
      continue;
    }
    await look(`${number}`);
    const items = page.getByRole("menuitem").filter({ hasText: /…$/ });
    for (let item = 0; item < (await items.count()); item++) {
      if (await opensOverlay(page, items.nth(item))) await look(`${number}-${item}`);
      await openPage(page, path);
      await opensOverlay(page, page.locator("button").nth(index));
    }
    await openPage(page, path);
  }
}

/** Presses a button. Returns whether a dialog or menu is open then. */
async function opensOverlay(page: Page, button: Locator): Promise<boolean> {
  const overlay = page.locator(OVERLAY).last();
  try {
    await button.click({ timeout: 3000 });
    await overlay.waitFor({ timeout: 3000 });
    await page.waitForLoadState("networkidle");
    return true;
  } catch {
    // Most buttons of a page change the page itself.
    return false;
  }
}

async function openPage(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await page.waitForLoadState("networkidle");
}

function fileName(path: string): string {
  return path.replaceAll(/[^a-z0-9-]+/gi, "_").slice(0, 60);
}

/** Runs in the page. Returns which of its buttons to press: of those that look alike, as in the rows of a list, one. */
function findButtons(): number[] {
  const seen = new Set<string>();
  const found: number[] = [];
  for (const [index, button] of [...document.querySelectorAll("button")].entries()) {
    const box = button.getBoundingClientRect();
    const isReachable =
      button.closest("main") !== null && box.width > 2 && !button.disabled && button.type !== "submit";
    const look = button.querySelector("svg")?.innerHTML ?? "";
    const key = look + (button.textContent ?? "");
    if (isReachable && !seen.has(key)) found.push(index);
    seen.add(key);
  }
  return found;
}

/** Runs in the page. Returns texts that are cut, outside the screen, or, in the pseudo-language, not translated. */
function findProblems(isPseudo: boolean): string[] {
  const found = new Set<string>();
  const { clientWidth, scrollWidth } = document.documentElement;
  if (scrollWidth > clientWidth + 1) found.add(`the page is ${scrollWidth - clientWidth} px too wide`);
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode() !== null) {
    const text = (texts.currentNode.textContent ?? "").trim();
    const element = texts.currentNode.parentElement;
    if (text === "" || element === null || !element.checkVisibility({ visibilityProperty: true })) continue;
    if (isPseudo && /[a-z]{3}/i.test(text) && !/[[\]]/.test(element.textContent ?? ""))
      found.add(`in English: ${text}`);
    const problem = element.closest(".sr-only") === null ? findCut(element, clientWidth) : undefined;
    if (problem !== undefined) found.add(`${problem}: ${text}`);
  }
  return [...found];

  function findCut(element: Element, width: number): string | undefined {
    const box = element.getBoundingClientRect();
    // What only screen readers see is 1 px large.
    if (box.width <= 2 || box.height <= 2) return undefined;
    const isControl =
      element.closest("button, a, label, legend, th, h1, h2, h3, [role=tab], [role=columnheader]") !== null;
    for (let part: Element | null = element; part !== null; part = part.parentElement) {
      const { overflowX, textOverflow } = getComputedStyle(part);
      if (overflowX === "auto" || overflowX === "scroll") return undefined;
      if (overflowX === "visible") continue;
      const isCut = part.scrollWidth > part.clientWidth + 1;
      if (isCut && textOverflow !== "ellipsis") return "cut";
      if (isCut && isControl) return "shortened";
      return undefined;
    }
    return box.right > width + 1 || box.left < -1 ? "outside the screen" : undefined;
  }
}
