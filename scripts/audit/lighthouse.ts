// Lighthouse, as it comes from npm: too large, and too seldom needed, to be one of our packages.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findChromium } from "../../test/web/support/chromium.ts";

const LIGHTHOUSE = "lighthouse@13.5.0";
const TRIES_MAX = 5;
const CATEGORIES = ["performance", "accessibility", "best-practices"] as const;

/** Scores from 0 to 100, and the times that the first of them is made of. */
export interface Verdict {
  readonly scores: Readonly<Record<(typeof CATEGORIES)[number], number>>;
  readonly metrics: Readonly<Record<string, string>>;
  /** Audits that were not passed. */
  readonly complaints: readonly string[];
}

interface Report {
  readonly categories: Record<
    string,
    { readonly score: number; readonly auditRefs: readonly { readonly id: string; readonly weight: number }[] }
  >;
  readonly audits: Record<
    string,
    { readonly score: number | null; readonly title: string; readonly displayValue?: string }
  >;
}

/** Installs Lighthouse for the length of `use`. @throws Error where npm is missing or refuses */
export async function withLighthouse(use: (judge: typeof judgePage) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "larder-lighthouse-"));
  try {
    await run(["npm", "install", "--prefix", folder, "--no-audit", "--no-fund", "--loglevel=error", LIGHTHOUSE], {});
    await use((options) => judgePage({ ...options, folder }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Judges one page, loaded with a cookie. */
async function judgePage(options: {
  readonly url: string;
  readonly cookie: string;
  readonly preset: "phone" | "desktop";
  readonly folder?: string;
}): Promise<Verdict> {
  const { folder = ".", preset } = options;
  const output = join(folder, "report.json");
  await runAgain(
    [
      join(folder, "node_modules/.bin/lighthouse"),
      options.url,
      "--quiet",
      "--output=json",
      `--output-path=${output}`,
      `--only-categories=${CATEGORIES.join(",")}`,
      `--extra-headers=${JSON.stringify({ Cookie: options.cookie })}`,
      "--chrome-flags=--headless=new --no-sandbox --disable-dev-shm-usage --disable-gpu",
      ...(preset === "desktop" ? ["--preset=desktop"] : []),
    ],
    { CHROME_PATH: findChromium() ?? "" },
  );
  const report: Report = JSON.parse(await readFile(output, "utf8"));
  const score = (category: string) => Math.round((report.categories[category]?.score ?? 0) * 100);
  const metric = (id: string) => report.audits[id]?.displayValue ?? "–";
  const counted = Object.values(report.categories).flatMap(({ auditRefs }) => auditRefs);
  const failed = counted.filter(({ id, weight }) => weight > 0 && (report.audits[id]?.score ?? 1) < 0.9);
  return {
    scores: {
      performance: score("performance"),
      accessibility: score("accessibility"),
      "best-practices": score("best-practices"),
    },
    metrics: {
      "first paint": metric("first-contentful-paint"),
      "largest paint": metric("largest-contentful-paint"),
      blocked: metric("total-blocking-time"),
      shift: metric("cumulative-layout-shift"),
      "speed index": metric("speed-index"),
    },
    complaints: failed.map(
      ({ id }) => `${id}: ${report.audits[id]?.title ?? ""} ${report.audits[id]?.displayValue ?? ""}`,
    ),
  };
}

/** Now and then Chromium's trace lacks the start of the page; Lighthouse then says so, and asks to be run again. */
async function runAgain(command: string[], env: Record<string, string>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await run(command, env);
      return;
    } catch (error) {
      if (tries === TRIES_MAX || !(error instanceof Error && error.message.includes("NO_NAVSTART"))) throw error;
    }
  }
}

async function run(command: string[], env: Record<string, string>): Promise<void> {
  const child = Bun.spawn(command, {
    env: { ...process.env, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(`${command[0] ?? ""} failed:\n${stdout}${stderr}`);
}
