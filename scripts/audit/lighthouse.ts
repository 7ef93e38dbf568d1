// Runs Lighthouse from npm. It is too large and too rarely needed to be a development dependency.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findChromium } from "../../test/web/support/chromium.ts";

const LIGHTHOUSE = "lighthouse@13.5.0";
const TRIES_MAX = 5;
const CATEGORIES = ["performance", "accessibility", "best-practices"] as const;

/** Scores from 0 to 100, and the times behind the performance score. */
export interface AuditResult {
  readonly scores: Readonly<Record<(typeof CATEGORIES)[number], number>>;
  readonly metrics: Readonly<Record<string, string>>;
  readonly failures: readonly string[];
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

/** Installs Lighthouse during `use`. @throws Error if npm is missing or fails */
export async function withLighthouse(use: (audit: typeof auditPage) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "larder-lighthouse-"));
  try {
    await run(["npm", "install", "--prefix", folder, "--no-audit", "--no-fund", "--loglevel=error", LIGHTHOUSE], {});
    await use((options) => auditPage({ ...options, folder }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Audits one page, loaded with a cookie, or as a visitor where the cookie is empty. */
async function auditPage(options: {
  readonly url: string;
  readonly cookie: string;
  readonly preset: "phone" | "desktop";
  readonly folder?: string;
}): Promise<AuditResult> {
  const { folder = ".", preset } = options;
  const output = join(folder, "report.json");
  await runWithRetries(
    [
      join(folder, "node_modules/.bin/lighthouse"),
      options.url,
      "--quiet",
      "--output=json",
      `--output-path=${output}`,
      `--only-categories=${CATEGORIES.join(",")}`,
      ...(options.cookie === "" ? [] : [`--extra-headers=${JSON.stringify({ Cookie: options.cookie })}`]),
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
    failures: failed.map(
      ({ id }) => `${id}: ${report.audits[id]?.title ?? ""} ${report.audits[id]?.displayValue ?? ""}`,
    ),
  };
}

/** Runs the command again if the trace of Chromium lacks the start of the page, which happens sometimes. */
async function runWithRetries(command: string[], env: Record<string, string>): Promise<void> {
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
