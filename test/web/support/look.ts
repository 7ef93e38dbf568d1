// Looks at a page as people with different screens and eyes do: screenshots for us, axe for those who can't see them.
import { expect } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import type { Page } from "playwright-core";
import { repositoryRoot } from "../../support/server.ts";

const SCREENSHOTS = resolve(repositoryRoot, "dist/screenshots");
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] };
/** What may differ between two schemes of one page: nothing else in the rules looks at colours. */
const COLOUR_RULES = { type: "rule", values: ["color-contrast", "link-in-text-block"] };
/** Screenshots are for people: LARDER_TEST_SCREENSHOTS=yes writes them. */
const isSaving = process.env["LARDER_TEST_SCREENSHOTS"] === "yes";

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[];
}

/** See `Web.lookAt`. The page has its size and scheme back afterwards. */
export async function lookAt(
  page: Page,
  name: string,
  sizes: Readonly<Record<string, { readonly width: number; readonly height: number }>>,
): Promise<void> {
  if (isSaving) mkdirSync(SCREENSHOTS, { recursive: true });
  const before = page.viewportSize();
  const found: string[] = [];
  for (const [size, viewport] of Object.entries(sizes)) {
    await page.setViewportSize(viewport);
    for (const scheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
      await settle(page);
      if (isSaving)
        await page.screenshot({ path: join(SCREENSHOTS, `${name}.${size}.${scheme}.png`), animations: "disabled" });
      const violated = await violations(page, scheme === "light" ? RULES : COLOUR_RULES);
      found.push(...violated.map((violation) => `${size} ${scheme}: ${violation}`));
    }
  }
  await page.emulateMedia({ colorScheme: null, reducedMotion: "reduce" });
  if (before !== null) await page.setViewportSize(before);
  expect(found).toEqual([]);
}

/** Faults that axe finds on the page as it is now, in words. */
export async function violations(page: Page, runOnly = RULES): Promise<string[]> {
  // As the debugger, not as the page: its content policy rightly refuses foreign scripts. Once for each document.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  const violated: readonly Violation[] = await page.evaluate(async (only) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- axe has just put itself there
    const { axe } = window as unknown as {
      axe: {
        configure(settings: object): void;
        run(context: Document, options: object): Promise<{ violations: Violation[] }>;
      };
    };
    // The source of each element that it looks at is not needed, nor are the rules that hold.
    axe.configure({ noHtml: true });
    const { violations } = await axe.run(document, { runOnly: only, resultTypes: ["violations"] });
    return violations;
  }, runOnly);
  return violated.flatMap(({ id, help, nodes }) =>
    nodes.map((node) => `${id}: ${help}: ${node.target.join(" ")} ${node.failureSummary ?? ""}`.replaceAll("\n", " ")),
  );
}

/** Waits for the layout of a new size, for pictures and fonts in view, and for what moves to have arrived. */
async function settle(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await document.fonts.ready;
    await Promise.all(
      document.getAnimations().map(async (animation) => {
        if (animation.effect?.getComputedTiming().iterations !== Infinity)
          await animation.finished.catch(() => undefined);
      }),
    );
    await new Promise((frame) => requestAnimationFrame(() => requestAnimationFrame(frame)));
  });
}
