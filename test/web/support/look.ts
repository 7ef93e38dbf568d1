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

/** What is used of axe. */
interface Axe {
  configure(settings: object): void;
  run(context: Document, options: object): Promise<{ readonly violations: Violation[] }>;
  readonly _audit: { readonly rules: readonly Rule[] };
}

/** A rule of axe, as it is inside. */
interface Rule {
  readonly id: string;
  matches: (
    element: Element,
    node: { readonly children: readonly { readonly actualNode: Node }[] },
    context: object,
  ) => boolean;
  run: (
    context: object,
    options: object,
    resolve: (result: RuleResult) => void,
    reject: (error: Error) => void,
  ) => void;
}

interface RuleResult {
  readonly nodes: readonly {
    readonly node: { readonly element: Element };
    readonly any: readonly {
      readonly result?: boolean;
      readonly data?: { readonly messageKey?: string | null } | null;
    }[];
  }[];
}

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
  // Each size begins with the scheme that the former one ended with: a change of either is drawn anew.
  let schemes: readonly ("light" | "dark")[] = ["light", "dark"];
  for (const [size, viewport] of Object.entries(sizes)) {
    await page.setViewportSize(viewport);
    for (const scheme of schemes) {
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
      await settle(page);
      if (isSaving)
        await page.screenshot({ path: join(SCREENSHOTS, `${name}.${size}.${scheme}.png`), animations: "disabled" });
      const violated = await violations(page, scheme === "light" ? RULES : COLOUR_RULES);
      found.push(...violated.map((violation) => `${size} ${scheme}: ${violation}`));
    }
    schemes = schemes.toReversed();
  }
  await page.emulateMedia({ colorScheme: null, reducedMotion: "reduce" });
  if (before !== null) await page.setViewportSize(before);
  expect(found).toEqual([]);
}

/** Faults that axe finds on the page as it is now, in words. */
export async function violations(page: Page, runOnly: object = RULES): Promise<string[]> {
  // As the debugger, not as the page: its content policy rightly refuses foreign scripts. Once for each document.
  if (!(await page.evaluate(() => "axe" in window))) {
    await page.evaluate(AXE);
    await page.evaluate(prepareAxe);
  }
  const violated: readonly Violation[] = await page.evaluate(async (only) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- axe has just put itself there
    const { axe } = window as unknown as { axe: Axe };
    // Without what nobody reads: the rules that hold, and the content of style sheets.
    const options = { runOnly: only, resultTypes: ["violations"], preload: { assets: ["media"] } };
    return (await axe.run(document, options)).violations;
  }, runOnly);
  return violated.flatMap(({ id, help, nodes }) =>
    nodes.map((node) => `${id}: ${help}: ${node.target.join(" ")} ${node.failureSummary ?? ""}`.replaceAll("\n", " ")),
  );
}

/**
 * Makes axe cheaper in a document, which runs this. The contrast of a text is half of what axe costs. It is computed again
 * only where something differs since it was last found right: the style of the element, or of one that it is in.
 */
function prepareAxe(): void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- axe has just put itself there
  const { axe } = window as unknown as { axe: Axe };
  // The source of each element that it looks at is not needed.
  axe.configure({ noHtml: true });
  const rule = axe._audit.rules.find(({ id }) => id === "color-contrast");
  if (rule === undefined) throw new Error("axe has no rule for contrast");
  const styles = ["color", "background", "opacity", "font", "text-shadow", "filter", "mix-blend-mode", "position"];
  const numbers = new Map<string, number>();
  const right = new WeakMap<Element, Set<number>>();
  let known = new Map<Element, number>();

  /** The same number for the same style of an element and all that it is in. */
  function styleOf(element: Element): number {
    const before = known.get(element);
    if (before !== undefined) return before;
    const style = getComputedStyle(element);
    const values = styles.map((name) => style.getPropertyValue(name));
    const outer = element.parentElement === null ? 0 : styleOf(element.parentElement);
    const key = [outer, ...values].join("|");
    const number = numbers.get(key) ?? numbers.size + 1;
    numbers.set(key, number);
    known.set(element, number);
    return number;
  }

  const { matches, run } = rule;
  rule.matches = (element, node, context) => {
    // As axe has it, but first: this is so of most elements.
    const hasText = node.children.some(
      ({ actualNode }) => actualNode.nodeType === Node.TEXT_NODE && (actualNode.nodeValue ?? "").trim() !== "",
    );
    if (!hasText && !element.matches("input, select, textarea")) return false;
    const former = right.get(element);
    return former?.has(styleOf(element)) !== true && matches.call(rule, element, node, context);
  };
  rule.run = (context, options, resolve, reject) => {
    known = new Map();
    run.call(
      rule,
      context,
      options,
      (result) => {
        for (const { node, any } of result.nodes) {
          if (!any.some((check) => check.result === true && check.data?.messageKey !== "hidden")) continue;
          right.set(node.element, (right.get(node.element) ?? new Set()).add(styleOf(node.element)));
        }
        resolve(result);
      },
      reject,
    );
  };
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
