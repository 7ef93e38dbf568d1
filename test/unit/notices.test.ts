// NOTICES.md names every third-party work in the executable, with the license that its package states.
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import tailwind from "bun-plugin-tailwind";

const ROOT = join(import.meta.dir, "../..");
const CLIENT_ENTRIES = [
  "start.ts",
  "features/sign-in/page.ts",
  "public/main.ts",
  "features/welcome/page.ts",
  "features/setup/page.ts",
  "start.css",
  "service-worker.ts",
];

/** A family of packages is written with a wildcard, with its members in parentheses after it. */
const FAMILY = "@peculiar/asn1-";

/** The rows of the tables. */
const rows = readFileSync(join(ROOT, "NOTICES.md"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("|"));

/** The packages with at least one byte in the bundle of these files. */
async function packagesIn(entrypoints: string[], options: Partial<Bun.BuildConfig>): Promise<string[]> {
  const built = await Bun.build({
    entrypoints,
    root: ROOT,
    minify: true,
    metafile: true,
    define: { "process.env.NODE_ENV": '"production"' },
    ...options,
  });
  const inputs = Object.values(built.metafile?.outputs ?? {}).flatMap((output) => Object.entries(output.inputs));
  const names = inputs.flatMap(([path, { bytesInOutput }]) => {
    const name = [...path.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)/g)].at(-1)?.[1];
    return name === undefined || bytesInOutput === 0 ? [] : [name];
  });
  return [...new Set(names)].sort();
}

/** The row that names a package, as a word of its own. */
function rowOf(name: string): string | undefined {
  const written = name.startsWith(FAMILY) ? `${FAMILY}*` : name;
  const word = new RegExp(`(?<![\\w@/.-])${RegExp.escape(written)}(?![\\w/-])`);
  return rows.find((row) => word.test(row));
}

/** Packages that NOTICES.md does not name, or names without their license. */
function missing(names: readonly string[]): string[] {
  return names.flatMap((name) => {
    const { license }: { license: string } = JSON.parse(
      readFileSync(join(ROOT, "node_modules", name, "package.json"), "utf8"),
    );
    // "(MPL-2.0 OR Apache-2.0)" is written with a word between.
    const licences = license.replaceAll(/[()]/g, "").split(" OR ");
    const row = rowOf(name) ?? "";
    return licences.every((licence) => row.includes(licence)) ? [] : [`${name} (${license})`];
  });
}

describe("NOTICES.md", () => {
  test("names the packages in the pages", async () => {
    const names = await packagesIn(
      CLIENT_ENTRIES.map((path) => join(ROOT, "src/client", path)),
      { target: "browser", splitting: true, plugins: [tailwind] },
    );
    expect(names).toContain("react-dom");
    expect(missing(names)).toEqual([]);
  }, 120_000);

  test("names the packages in the server", async () => {
    const names = await packagesIn([join(ROOT, "src/main.ts")], { target: "bun", external: ["*.node"] });
    expect(names).toContain("elysia");
    expect(missing(names)).toEqual([]);
  }, 120_000);
});
