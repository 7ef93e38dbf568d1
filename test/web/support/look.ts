// Checks a page for different screens and eyes: screenshots for us, axe for accessibility.
import { expect } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import type { Page } from "playwright-core";
import { repositoryRoot } from "../../support/server.ts";

const SCREENSHOTS = resolve(repositoryRoot, "dist/screenshots");
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] };
/** LARDER_TEST_SCREENSHOTS=yes writes screenshots, and checks every size in both color schemes. */
const isSaving = process.env["LARDER_TEST_SCREENSHOTS"] === "yes";

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[];
}

/**
 * See `Web.lookAt`. Each size is checked in one scheme, the other size in the other. Which one is the light one depends
 * on the name; the same colors and components occur in many checks. Size and scheme are restored afterwards.
 */
export async function lookAt(
  page: Page,
  name: string,
  sizes: Readonly<Record<string, { readonly width: number; readonly height: number }>>,
): Promise<void> {
  if (isSaving) mkdirSync(SCREENSHOTS, { recursive: true });
  const before = page.viewportSize();
  const found: string[] = [];
  let schemes: readonly ("light" | "dark")[] = Bun.hash.crc32(name) % 2 === 0 ? ["light", "dark"] : ["dark", "light"];
  for (const [size, viewport] of Object.entries(sizes)) {
    await page.setViewportSize(viewport);
    for (const scheme of isSaving ? schemes : schemes.slice(0, 1)) {
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
      await settle(page);
      if (isSaving)
        await page.screenshot({ path: join(SCREENSHOTS, `${name}.${size}.${scheme}.png`), animations: "disabled" });
      found.push(...(await violations(page)).map((violation) => `${size} ${scheme}: ${violation}`));
    }
    schemes = schemes.toReversed();
  }
  await page.emulateMedia({ colorScheme: null, reducedMotion: "reduce" });
  if (before !== null) await page.setViewportSize(before);
  expect(found).toEqual([]);
}

/** Faults that axe finds on the current page, as text. */
export async function violations(page: Page): Promise<string[]> {
  // Through the debugger, because the content policy forbids foreign scripts. Once per document.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  const violated: readonly Violation[] = await page.evaluate(async (runOnly) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- axe has just put itself there
    const { axe } = window as unknown as {
      axe: {
        configure(settings: object): void;
        run(context: Document, options: object): Promise<{ violations: Violation[] }>;
      };
    };
    // Without what nobody reads: the source of elements, passed rules, and the content of style sheets.
    axe.configure({ noHtml: true });
    const options = { runOnly, resultTypes: ["violations"], preload: { assets: ["media"] } };
    return (await axe.run(document, options)).violations;
  }, RULES);
  return violated.flatMap(({ id, help, nodes }) =>
    nodes.map((node) => `${id}: ${help}: ${node.target.join(" ")} ${node.failureSummary ?? ""}`.replaceAll("\n", " ")),
  );
}

/** Waits for the layout of a new size, for visible images and fonts, and for animations to end. */
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
