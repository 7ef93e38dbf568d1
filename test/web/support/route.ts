/** Requests that a test responds to itself. */
import type { Page } from "playwright-core";

const TRIES_MAX = 200;

/**
 * Makes `page.route` resolve when requests are really intercepted. Chromium reports that slightly too early: of
 * requests that follow a key press at once, a few percent bypassed the route.
 */
export function awaitRoutes(page: Page): Page {
  const route = page.route.bind(page);
  page.route = async (...parameters) => {
    const added = await route(...parameters);
    // If nothing is open yet, the next page is intercepted from the start.
    if (page.url().startsWith("http")) await untilIntercepted(page, route);
    return added;
  };
  return page;
}

async function untilIntercepted(page: Page, route: Page["route"]): Promise<void> {
  const probe = new URL("/is-intercepted", page.url()).href;
  await route(probe, (intercepted) => intercepted.fulfill({ status: 204 }));
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const status = await page.evaluate(
      (address) =>
        fetch(address).then(
          ({ status }) => status,
          () => 0,
        ),
      probe,
    );
    if (status === 204) return page.unroute(probe);
  }
  throw new Error("the page's requests are not intercepted");
}
