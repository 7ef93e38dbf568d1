// Profiles of the browser under test, reused by the tests of a file. A new one costs a process that compiles all
// scripts of the pages again, which is half the time of opening a page.
import type { BrowserContext, CDPSession, Page } from "playwright-core";

/**
 * What the pages of an origin may have stored. The response cache stays: responses are the same for everybody, or not
 * cached.
 */
const STORED = "cookies,file_systems,indexeddb,local_storage,service_workers,cache_storage";

/** A profile used by a test. */
export interface Profile {
  readonly context: BrowserContext;
  /** A blank page that shares the process with earlier pages of this profile. */
  newPage(): Promise<Page>;
  /**
   * Closes all pages and deletes what they stored.
   * @returns whether the profile can be used again
   */
  clear(): Promise<boolean>;
}

/**
 * A profile that can be used again after `clear`.
 * @param restAddress a document of the server that is shown in between
 */
export async function openProfile(context: BrowserContext, restAddress: string): Promise<Profile> {
  const rest = await context.newPage();
  await rest.goto(restAddress);
  return new ReusedProfile(context, rest, await context.newCDPSession(rest));
}

class ReusedProfile implements Profile {
  private isUsable = true;

  constructor(
    readonly context: BrowserContext,
    private readonly rest: Page,
    private readonly session: CDPSession,
  ) {
    rest.on("close", () => {
      this.isUsable = false;
    });
    rest.on("crash", () => {
      this.isUsable = false;
    });
  }

  async newPage(): Promise<Page> {
    const [page] = await Promise.all([
      this.rest.waitForEvent("popup"),
      // Without an opener it is like any other tab, and stays in the process.
      this.rest.evaluate(() => {
        const opened = window.open("about:blank");
        if (opened !== null) opened.opener = null;
      }),
    ]);
    return page;
  }

  async clear(): Promise<boolean> {
    if (!this.isUsable) return false;
    const pages = this.context.pages().filter((page) => page !== this.rest);
    await Promise.all(pages.map((page) => page.close()));
    // A write that is still on its way from the pages' process would survive the deletion in the browser's process. This
    // one comes after it.
    await this.rest.evaluate(() => window.localStorage.clear());
    await this.session.send("Storage.clearDataForOrigin", {
      origin: new URL(this.rest.url()).origin,
      storageTypes: STORED,
    });
    await this.context.clearCookies();
    return true;
  }
}
