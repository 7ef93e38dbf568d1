// Pages in a real browser: one Chromium for a test file, a server for each group of tests, an empty profile for each
// page. Hidden problems (an error in the console, a content policy violation, a 5xx response) fail the test in which
// they happen.
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout } from "bun:test";
import type {
  Browser,
  BrowserContext,
  BrowserContextOptions,
  ConsoleMessage,
  Page,
  Response,
  WebError,
} from "playwright-core";
import type { Account } from "../../support/client.ts";
import { dispose, type ServerOptions, startServer, type TestServer } from "../../support/server.ts";
import { findChromium, launchChromium } from "./chromium.ts";
import { lookAt } from "./look.ts";
import { openProfile, type Profile } from "./profiles.ts";
import { awaitRoutes } from "./route.ts";
import { slowDown } from "./slow.ts";

/** How long to wait for the browser, in milliseconds: generous, for a busy machine. */
const WAIT_MS_MAX = 60_000;
const TEST_MS_MAX = 300_000;

/** Sizes in which pages are tested. */
export const SIZES = {
  phone: { width: 390, height: 844 },
  desktop: { width: 1280, height: 800 },
} as const;

/**
 * Documents without scripts, which keep the process of a profile alive between pages: one with the application's opener
 * policy, one without. Browsers use another process for a page with another policy.
 */
const REST_PATHS = { application: "/manifest.webmanifest", other: "/health/live" } as const;

/** Addresses that are not pages of the application. */
const OTHER_PAGES = /^\/(s|docs|invite|setup|confirm-email|reset-password|welcome)\b/;

/** How a page is opened. */
interface OpenOptions {
  /** The signed-in account; signed out without it. */
  readonly as?: Account;
  readonly size?: keyof typeof SIZES;
  readonly scheme?: "light" | "dark";
  /** Below the base path; by default /files. */
  readonly path?: string;
  /** Installs the service worker, which other tests do without. */
  readonly hasWorker?: boolean;
  /** `localhost` for features that browsers allow only there. */
  readonly host?: "127.0.0.1" | "localhost";
  /** Gives the page a clock that the test can move forward: `page.clock.fastForward`. It runs normally until then. */
  readonly hasOwnClock?: boolean;
  /** Other options of the browser's profile. */
  readonly context?: BrowserContextOptions;
  /**
   * Gives the page a new profile, whose cache is empty. Otherwise it may be a reused one, of which only the response
   * cache is left.
   */
  readonly isFirstVisit?: boolean;
}

/** What the tests of a file share. */
export interface Web {
  /** The server of this file. */
  server(): TestServer;
  /** A page in an empty profile, loaded. */
  open(options?: OpenOptions): Promise<Page>;
  /** Another page in the same profile: a second tab. */
  openTab(page: Page, path: string): Promise<Page>;
  /** A new account, with a client. */
  account(name?: string): Promise<Account>;
  /** Checks that axe finds no fault in any size; see `look.ts` for color schemes and screenshots. */
  lookAt(page: Page, name: string): Promise<void>;
  /** Problems that a test causes on purpose, by a pattern of their text; for the page's whole profile. */
  expectProblems(page: Page, pattern: RegExp): void;
}

/**
 * Tests of pages. Without Chromium they are skipped with a message.
 * @param options how the server differs; its base path is part of every address. It starts with accounts unless this
 *   says no
 */
export function describeWeb(title: string, body: (web: Web) => void, options: ServerOptions = {}): void {
  const isPossible = findChromium() !== undefined;
  if (!isPossible) console.warn(`SKIPPED: ${title}: there is no Chromium. Run scripts/ensure-chromium.sh.`);
  describe.skipIf(!isPossible)(title, () => {
    setDefaultTimeout(TEST_MS_MAX);
    const harness = new Harness(options);
    if (isPossible) {
      groupsLeft += 1;
      beforeAll(() => harness.begin(), TEST_MS_MAX);
      afterEach(() => harness.closePages(), TEST_MS_MAX);
      afterAll(() => harness.end(), TEST_MS_MAX);
    }
    body(harness);
  });
}

/** The browser of this file, from its first group of tests on, and how many groups still need it. */
let shared: Promise<Browser> | undefined;
let groupsLeft = 0;

/** A profile that a test uses, and the problems in it. */
interface UsedProfile {
  readonly context: BrowserContext;
  readonly problems: string[];
  readonly expected: RegExp[];
  /** Stops recording problems. */
  readonly unwatch: () => void;
  /** If it can be reused: its options, and how it is cleared. */
  readonly reusable?: { readonly key: string; readonly profile: Profile };
}

class Harness implements Web {
  private running: { readonly server: TestServer; readonly browser: Browser } | undefined;
  private used: UsedProfile[] = [];
  /** Empty profiles by their options. */
  private readonly unused = new Map<string, Profile[]>();

  constructor(private readonly options: ServerOptions) {}

  async begin(): Promise<void> {
    const server = await startServer({ hasAccounts: true, ...this.options });
    try {
      shared ??= launchChromium();
      this.running = { server, browser: await shared };
    } catch (error) {
      await dispose(server);
      throw error;
    }
  }

  async end(): Promise<void> {
    const profiles = [...this.unused.values()].flat();
    await Promise.all(profiles.map(async ({ context }) => context.close()));
    groupsLeft -= 1;
    if (groupsLeft === 0) {
      shared = undefined;
      await this.running?.browser.close();
    }
    if (this.running !== undefined) await dispose(this.running.server);
  }

  server(): TestServer {
    if (this.running === undefined) throw new Error("the server did not start");
    return this.running.server;
  }

  async account(name?: string): Promise<Account> {
    return this.server().signUp(name === undefined ? {} : { name });
  }

  async open(options: OpenOptions = {}): Promise<Page> {
    const { context, newPage } = await this.takeProfile(options);
    if (options.as !== undefined) await this.signIn(context, options.as, options.host);
    if (options.hasOwnClock === true) await context.clock.install();
    const page = awaitRoutes(await newPage());
    await page.goto(this.address(options.path ?? "/files", options.host));
    return page;
  }

  async openTab(page: Page, path: string): Promise<Page> {
    const tab = awaitRoutes(await page.context().newPage());
    await tab.goto(this.address(path, new URL(page.url()).hostname));
    return tab;
  }

  async lookAt(page: Page, name: string): Promise<void> {
    await lookAt(page, name, SIZES);
  }

  expectProblems(page: Page, pattern: RegExp): void {
    this.used.find(({ context }) => context === page.context())?.expected.push(pattern);
  }

  /**
   * Closes the pages of a test.
   * @throws if there was a problem in one of them
   */
  async closePages(): Promise<void> {
    const used = this.used.splice(0);
    await Promise.all(used.map(async (profile) => this.giveBack(profile)));
    const problems = used.flatMap((profile) =>
      profile.problems.filter((problem) => !profile.expected.some((pattern) => pattern.test(problem))),
    );
    expect(problems).toEqual([]);
  }

  /** An empty profile, recorded as used by this test. */
  private async takeProfile(options: OpenOptions): Promise<{ context: BrowserContext; newPage: () => Promise<Page> }> {
    if (this.running === undefined) throw new Error("the browser did not start");
    const { browser } = this.running;
    const contextOptions = this.contextOptions(options);
    // What a worker and a clock leave behind is not undone between tests.
    if (
      options.isFirstVisit === true ||
      options.hasWorker === true ||
      options.hasOwnClock === true ||
      options.context
    ) {
      const context = await prepare(await browser.newContext(contextOptions));
      this.watch(context);
      return { context, newPage: () => context.newPage() };
    }
    const restPath = REST_PATHS[OTHER_PAGES.test(options.path ?? "") ? "other" : "application"];
    const key = JSON.stringify([restPath, contextOptions]);
    let profile = this.unused.get(key)?.pop();
    if (profile === undefined) {
      const context = await prepare(await browser.newContext(contextOptions));
      profile = await openProfile(context, this.address(restPath, options.host));
    }
    this.watch(profile.context, { key, profile });
    return { context: profile.context, newPage: () => profile.newPage() };
  }

  private async giveBack({ context, reusable, unwatch }: UsedProfile): Promise<void> {
    if (reusable === undefined || !(await reusable.profile.clear())) return context.close();
    unwatch();
    const { key, profile } = reusable;
    this.unused.set(key, [...(this.unused.get(key) ?? []), profile]);
  }

  private contextOptions(options: OpenOptions): BrowserContextOptions {
    const size = options.size ?? "desktop";
    return {
      baseURL: this.baseUrl(options.host),
      viewport: SIZES[size],
      ...(size === "phone" && { hasTouch: true, isMobile: true, deviceScaleFactor: 2 }),
      colorScheme: options.scheme ?? "light",
      reducedMotion: "reduce",
      locale: "en-GB",
      timezoneId: "Europe/Berlin",
      serviceWorkers: options.hasWorker === true ? "allow" : "block",
      ...options.context,
    };
  }

  private async signIn(context: BrowserContext, account: Account, host?: string): Promise<void> {
    const { email, password } = account;
    const response = await context.request.post(`${this.baseUrl(host)}/api/auth/signin`, {
      data: { email, password, cookie: true },
    });
    if (!response.ok()) throw new Error(`sign-in failed: ${response.status()} ${await response.text()}`);
  }

  private baseUrl(host = "127.0.0.1"): string {
    const base = this.options.env?.["LARDER_BASE_PATH"] ?? "";
    return `http://${host}:${this.server().port}${base}`;
  }

  private address(path: string, host?: string): string {
    return this.baseUrl(host) + path;
  }

  private watch(context: BrowserContext, reusable?: UsedProfile["reusable"]): void {
    const problems: string[] = [];
    const onConsole = (message: ConsoleMessage): void => {
      // Rejected and failed requests are reported by their responses, below.
      if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
        problems.push(`console: ${message.text()} (${message.location().url})`);
    };
    const onError = (error: WebError): void => void problems.push(`error: ${error.error().stack ?? error.error()}`);
    const onResponse = (response: Response): void => {
      if (response.status() >= 500) problems.push(`response: ${response.status()} ${response.url()}`);
    };
    context.on("console", onConsole).on("weberror", onError).on("response", onResponse);
    const unwatch = (): void =>
      void context.off("console", onConsole).off("weberror", onError).off("response", onResponse);
    this.used.push({ context, problems, expected: [], unwatch, ...(reusable && { reusable }) });
  }
}

/** Gives a new profile what all have. */
async function prepare(context: BrowserContext): Promise<BrowserContext> {
  // Chromium's newer pickers can't be controlled from outside, so pages use the older ones, as in other browsers.
  await context.addInitScript(() => {
    for (const name of ["showOpenFilePicker", "showDirectoryPicker"])
      Object.defineProperty(window, name, { value: undefined, writable: true });
  });
  context.setDefaultTimeout(WAIT_MS_MAX);
  context.setDefaultNavigationTimeout(WAIT_MS_MAX);
  await slowDown(context);
  return context;
}
