// The program of scripts/audit-pages.
import { parseArgs } from "node:util";
import type { Browser, Page } from "playwright-core";
import type { Account } from "../../test/support/client.ts";
import { seedSampleLibrary } from "../../test/support/sample-library.ts";
import { type TestServer, withServer } from "../../test/support/server.ts";
import { launchChromium } from "../../test/web/support/chromium.ts";
import { violations } from "../../test/web/support/look.ts";
import { auditLanguage } from "./languages.ts";
import { fillAccount, HOLD_ENV } from "./account.ts";
import { fillFolder } from "./library.ts";
import { type AuditResult, withLighthouse } from "./lighthouse.ts";
import { ownPages, PAGES, sharedFolder, REJECTING_PAGES, VISITOR_PAGES } from "./pages.ts";
import { fillPhotos, measurePhotoScrolling } from "./photos.ts";
import { type Frames, measureScrolling } from "./scrolling.ts";

const VIEWS = [
  { name: "desktop", viewport: { width: 1366, height: 900 }, colorScheme: "light" },
  { name: "tablet", viewport: { width: 820, height: 1180 }, colorScheme: "dark" },
  { name: "phone", viewport: { width: 390, height: 844 }, colorScheme: "light" },
  { name: "phone, dark", viewport: { width: 390, height: 844 }, colorScheme: "dark" },
] as const;

const LIGHTHOUSE_ROUNDS = 5;
const PHOTO_VISITS = 5;

type Check = (server: TestServer, account: Account) => Promise<void>;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      axe: { type: "boolean" },
      lighthouse: { type: "boolean" },
      "hundred-thousand": { type: "boolean" },
      photos: { type: "boolean" },
      languages: { type: "string" },
    },
  });
  const isEverything = Object.keys(values).length === 0;
  const checks: readonly [isChosen: boolean | undefined, check: Check][] = [
    [isEverything || values.axe, printAxe],
    [isEverything || values.lighthouse, printLighthouse],
    [
      values["hundred-thousand"],
      (server, account) => withChromium((browser) => printScrolling(server, account, browser)),
    ],
    [values.languages !== undefined, (server, account) => printLanguages(server, account, values.languages ?? "")],
    [values.photos, (server, account) => withChromium((browser) => printPhotoScrolling(server, account, browser))],
  ];
  for (const [isChosen, check] of checks) {
    // A server for each, because two of them store the same library.
    if (isChosen === true)
      await withServer({ env: HOLD_ENV }, async (server) => check(server, await server.addUser(["--admin"])));
  }
}

async function withChromium(use: (browser: Browser) => Promise<void>): Promise<void> {
  const browser = await launchChromium();
  try {
    await use(browser);
  } finally {
    await browser.close();
  }
}

async function signedIn(server: TestServer, account: Account, browser: Browser): Promise<Page> {
  const context = await browser.newContext({
    baseURL: server.url,
    viewport: { width: 1280, height: 800 },
    serviceWorkers: "block",
  });
  context.setDefaultTimeout(120_000);
  const { email, password } = account;
  await context.request.post("/api/auth/signin", { data: { email, password, cookie: true } });
  return context.newPage();
}

async function printScrolling(server: TestServer, account: Account, browser: Browser): Promise<void> {
  await fillFolder(server, account, 100_000);
  const page = await signedIn(server, account, browser);
  // A first visit, so that the start of the browser is not measured.
  await page.goto("/files");
  await page.waitForLoadState("networkidle");
  for (const view of ["first", "again"]) {
    const found = await measureScrolling(page, "/files/Many");
    const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
    console.table({
      [`100,000 files, ${view}`]: {
        "usable after": `${found.usableMs} ms`,
        "frames per second (longest frame), by finger": describeFrames(found.byFinger),
        "through all": describeFrames(found.throughAll),
        "jump shown after": `${found.jumpMedianMs} ms, slowest ${found.jumpSlowestMs} ms`,
        "memory before": megabytes(found.memoryBytes.before),
        "after scrolling": megabytes(found.memoryBytes.scrolled),
        "after 300 jumps": megabytes(found.memoryBytes.jumped),
        elements: found.elements,
      },
    });
  }
}

async function printPhotoScrolling(server: TestServer, account: Account, browser: Browser): Promise<void> {
  await fillPhotos(server, account, 100_000);
  const page = await signedIn(server, account, browser);
  await page.goto("/files");
  await page.waitForLoadState("networkidle");
  const rows: Record<string, Record<string, string | number>> = {};
  for (let visit = 1; visit <= PHOTO_VISITS; visit++) {
    const { elements, ...found } = await measurePhotoScrolling(page);
    rows[`100,000 photos, ${visit}`] = { ...found, elements: elements.join(" → ") };
  }
  console.table(rows);
}

function describeFrames({ perSecond, longestMs }: Frames): string {
  return `${perSecond} (${longestMs} ms)`;
}

/** Prints what does not fit on a phone in each language, and saves a screenshot of each page. @param tags with commas */
async function printLanguages(server: TestServer, account: Account, tags: string): Promise<void> {
  await seedSampleLibrary(account, { friend: await server.signUp() });
  const own = await ownPages(account);
  await fillAccount(server, account);
  await withChromium(async (browser) => {
    for (const tag of tags.split(",")) {
      await auditLanguage(browser, server, tag, {
        account,
        signedIn: [...PAGES, ...own.signedIn],
        visitors: [...VISITOR_PAGES, ...REJECTING_PAGES, ...own.visitors],
      });
    }
  });
}

/** Prints the problems that axe finds on each page, in several sizes and in both color schemes. */
async function printAxe(server: TestServer, account: Account): Promise<void> {
  await seedSampleLibrary(account, { friend: await server.signUp() });
  await withChromium((browser) => printViolations(server, account, browser));
}

async function printViolations(server: TestServer, account: Account, browser: Browser): Promise<void> {
  const own = await ownPages(account);
  const page = await signedIn(server, account, browser);
  await printPages(page, [...PAGES, ...own.signedIn]);
  await page.context().clearCookies();
  await printPages(page, [...VISITOR_PAGES, ...own.visitors]);
}

async function printPages(page: Page, paths: readonly string[]): Promise<void> {
  const rows: Record<string, { violations: number; first: string }> = {};
  for (const path of paths) {
    for (const { name, viewport, colorScheme } of VIEWS) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      await page.goto(path);
      await page.getByRole("heading", { level: 1 }).first().waitFor();
      await page.waitForLoadState("networkidle");
      const found = await violations(page);
      rows[`${path}, ${name}`] = { violations: found.length, first: found[0]?.slice(0, 120) ?? "" };
    }
  }
  console.table(rows);
}

/**
 * Prints the scores of the pages that people load first, each with the median of its rounds. Several rounds, because
 * other load of the machine changes the scores more than most changes to a page.
 */
async function printLighthouse(server: TestServer, account: Account): Promise<void> {
  await seedSampleLibrary(account, { photos: 60, friend: await server.signUp() });
  await fillFolder(server, account, 10_000);
  const folder = await sharedFolder(account);
  const share = await account.client.post(`/api/files/folders/${folder}/shares`, {});
  const { email, password } = account;
  const response = await server.visitor.post("/api/auth/signin", { email, password, cookie: true });
  const cookie = response.header("set-cookie").split(";")[0] ?? "";
  const pages = [
    { name: "sign-in", path: "/sign-in", cookie: "" },
    { name: "10,000 files", path: "/files/Many", cookie },
    { name: "photos", path: "/photos", cookie },
    { name: "shared folder", path: `/s/${share.string("data.token")}`, cookie: "" },
  ];
  await withLighthouse(async (auditPage) => {
    for (const { name, path, ...options } of pages) {
      const results: AuditResult[] = [];
      for (let round = 1; round <= LIGHTHOUSE_ROUNDS; round++) {
        const result = await auditPage({ url: `${server.url}${path}`, preset: "phone", ...options });
        results.push(result);
        for (const failure of result.failures) console.log(`  ${name}, ${round}: ${failure}`);
      }
      const rows = results.map(({ scores, metrics }) => ({ ...scores, ...metrics }));
      console.table({ ...rows, [`${name}, median`]: medianScores(results) });
    }
  });
}

function medianScores(results: readonly AuditResult[]): Record<string, number> {
  const names = Object.keys(results[0]?.scores ?? {}) as (keyof AuditResult["scores"])[];
  return Object.fromEntries(
    names.map((name) => {
      const sorted = results.map(({ scores }) => scores[name]).toSorted((a, b) => a - b);
      return [name, sorted[Math.floor(sorted.length / 2)] ?? 0];
    }),
  );
}

await main();
