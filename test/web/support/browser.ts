// Pages in a real browser: one server and one Chromium for a test file, a fresh profile for each page. Whatever goes wrong
// unseen (an error in the console, a breach of the content policy, an answer 5xx) fails the test in which it happened.
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout } from "bun:test";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import type { Account } from "../../support/client.ts";
import { dispose, type ServerOptions, startServer, type TestServer } from "../../support/server.ts";
import { findChromium, launchChromium } from "./chromium.ts";
import { lookAt } from "./look.ts";
import { awaitRoutes } from "./route.ts";

/** How long the browser is waited for, in milliseconds: generous, for a machine that does much else. */
const WAIT_MS_MAX = 60_000;
const TEST_MS_MAX = 300_000;

/** Sizes that pages are tried in. */
export const SIZES = {
  phone: { width: 390, height: 844 },
  desktop: { width: 1280, height: 800 },
} as const;

/** How a page is opened. */
export interface OpenOptions {
  /** Who is signed in; nobody without it. */
  readonly as?: Account;
  readonly size?: keyof typeof SIZES;
  readonly scheme?: "light" | "dark";
  /** Below the base path; /files without it. */
  readonly path?: string;
  /** Lets the service worker be installed, which other tests do without. */
  readonly hasWorker?: boolean;
  /** `localhost` for what browsers allow there alone. */
  readonly host?: "127.0.0.1" | "localhost";
  /** Gives the page a clock that the test can put forward: `page.clock.fastForward`. It runs as usual until then. */
  readonly hasOwnClock?: boolean;
  /** Whatever else the browser's profile should be like. */
  readonly context?: BrowserContextOptions;
}

/** What the tests of a file have in common. */
export interface Web {
  /** The server of this file. */
  server(): TestServer;
  /** A page in a fresh profile, loaded. */
  open(options?: OpenOptions): Promise<Page>;
  /** Another page in the same profile: a second tab. */
  openTab(page: Page, path: string): Promise<Page>;
  /** An account that nobody has used, with a client. */
  account(name?: string): Promise<Account>;
  /** Screenshots in all sizes and schemes, and no fault that axe finds. */
  lookAt(page: Page, name: string): Promise<void>;
  /** Problems that a test brings about on purpose, by what their text has; for the page's whole profile. */
  expectProblems(page: Page, pattern: RegExp): void;
}

/**
 * Tests of pages. Where there is no Chromium they are skipped, and a line says so.
 * @param options how the server differs; its base path is part of every address. It begins with accounts unless this says no
 */
export function describeWeb(title: string, body: (web: Web) => void, options: ServerOptions = {}): void {
  const isPossible = findChromium() !== undefined;
  if (!isPossible) console.warn(`SKIPPED: ${title}: there is no Chromium. Run scripts/ensure-chromium.sh.`);
  describe.skipIf(!isPossible)(title, () => {
    setDefaultTimeout(TEST_MS_MAX);
    const harness = new Harness(options);
    if (isPossible) {
      beforeAll(() => harness.begin(), TEST_MS_MAX);
      afterEach(() => harness.closePages(), TEST_MS_MAX);
      afterAll(() => harness.end(), TEST_MS_MAX);
    }
    body(harness);
  });
}

/** A profile, and what went wrong in it. */
interface Profile {
  readonly context: BrowserContext;
  readonly problems: string[];
  readonly expected: RegExp[];
}

class Harness implements Web {
  private running: { readonly server: TestServer; readonly browser: Browser } | undefined;
  private profiles: Profile[] = [];

  constructor(private readonly options: ServerOptions) {}

  async begin(): Promise<void> {
    const server = await startServer({ hasAccounts: true, ...this.options });
    try {
      this.running = { server, browser: await launchChromium() };
    } catch (error) {
      await dispose(server);
      throw error;
    }
  }

  async end(): Promise<void> {
    await this.running?.browser.close();
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
    if (this.running === undefined) throw new Error("the browser did not start");
    const { browser } = this.running;
    const size = options.size ?? "desktop";
    const context = await browser.newContext({
      baseURL: this.baseUrl(options.host),
      viewport: SIZES[size],
      ...(size === "phone" && { hasTouch: true, isMobile: true, deviceScaleFactor: 2 }),
      colorScheme: options.scheme ?? "light",
      reducedMotion: "reduce",
      locale: "en-GB",
      timezoneId: "Europe/Berlin",
      serviceWorkers: options.hasWorker === true ? "allow" : "block",
      ...options.context,
    });
    // The newer chooser of Chromium can't be answered from outside: pages take the older one, as in other browsers.
    await context.addInitScript(() =>
      Object.defineProperty(window, "showOpenFilePicker", { value: undefined, writable: true }),
    );
    context.setDefaultTimeout(WAIT_MS_MAX);
    context.setDefaultNavigationTimeout(WAIT_MS_MAX);
    this.watch(context);
    if (options.as !== undefined) await this.signIn(context, options.as, options.host);
    if (options.hasOwnClock === true) await context.clock.install();
    const page = awaitRoutes(await context.newPage());
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
    this.profiles.find(({ context }) => context === page.context())?.expected.push(pattern);
  }

  /** Ends the pages of a test. @throws where something went wrong in one of them */
  async closePages(): Promise<void> {
    const profiles = this.profiles.splice(0);
    await Promise.all(profiles.map(({ context }) => context.close()));
    const problems = profiles.flatMap((profile) =>
      profile.problems.filter((problem) => !profile.expected.some((pattern) => pattern.test(problem))),
    );
    expect(problems).toEqual([]);
  }

  private async signIn(context: BrowserContext, account: Account, host?: string): Promise<void> {
    const { email, password } = account;
    const answer = await context.request.post(`${this.baseUrl(host)}/api/auth/signin`, {
      data: { email, password, cookie: true },
    });
    if (!answer.ok()) throw new Error(`sign-in failed: ${answer.status()} ${await answer.text()}`);
  }

  private baseUrl(host = "127.0.0.1"): string {
    const base = this.options.env?.["LARDER_BASE_PATH"] ?? "";
    return `http://${host}:${this.server().port}${base}`;
  }

  private address(path: string, host?: string): string {
    return this.baseUrl(host) + path;
  }

  private watch(context: BrowserContext): void {
    const profile: Profile = { context, problems: [], expected: [] };
    this.profiles.push(profile);
    context.on("console", (message) => {
      // Refused and failed requests are told by the answers themselves, below.
      if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) {
        profile.problems.push(`console: ${message.text()} (${message.location().url})`);
      }
    });
    context.on("weberror", (error) => void profile.problems.push(`error: ${error.error().stack ?? error.error()}`));
    context.on("response", (answer) => {
      if (answer.status() >= 500) profile.problems.push(`answer: ${answer.status()} ${answer.url()}`);
    });
  }
}
