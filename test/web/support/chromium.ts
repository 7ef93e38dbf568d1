// The browser of the tests: Debian's Chromium (scripts/ensure-chromium.sh installs it where possible).
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

// The headless shell first: it needs a third less processor time.
const PATHS = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

// Each page lives for about a second: optimizing its code, and parsing scripts ahead that the process compiled for an earlier
// page, cost more than they save. This list of features replaces Playwright's own, so it repeats those that matter here.
const SPARED = [
  "--js-flags=--no-opt",
  "--disable-features=ScriptStreaming,AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,MediaRouter,PaintHolding,ThirdPartyStoragePartitioning,AvoidCorsURLLoaderRestartOnRedirect,OptimizationHints,NetworkTimeServiceQuerying",
];

/** Path of the browser; LARDER_TEST_CHROMIUM takes precedence. Undefined if there is none. */
export function findChromium(): string | undefined {
  const configured = process.env["LARDER_TEST_CHROMIUM"];
  return configured === undefined || configured === "" ? PATHS.find((path) => existsSync(path)) : configured;
}

/**
 * A headless browser.
 * @throws if there is none, or it doesn't start
 */
export async function launchChromium(extraArgs: readonly string[] = []): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("There is no Chromium. Run scripts/ensure-chromium.sh.");
  return chromium.launch({
    executablePath,
    timeout: 120_000,
    // With the locale "C", as in the scripts, the browser can't open files with non-ASCII names.
    env: { ...process.env, LC_ALL: "C.UTF-8" },
    // In containers there is neither a sandbox for root nor much shared memory.
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", ...SPARED, ...extraArgs],
  });
}
