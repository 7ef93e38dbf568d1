/**
 * Writes the English texts of the source to `src/translations/en/`, where translators find them:
 * `bun scripts/texts/texts.ts`. Run it after each change of a text; a test compares both.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Glob } from "bun";
import { englishTexts, type Translation } from "../../src/client/base/text.ts";

const ROOT = join(import.meta.dir, "../..");

/** Returns the English texts of the web client: each feature with its texts, in alphabetical order of the features. */
export async function collectClientTexts(): Promise<Translation> {
  for await (const path of new Glob("src/client/**/*.ts").scan(ROOT)) {
    const file = Bun.file(join(ROOT, path));
    if ((await file.text()).includes("= defineText(")) await import(join(ROOT, path));
  }
  return Object.fromEntries(Object.entries(englishTexts()).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

if (import.meta.main) {
  const folder = join(ROOT, "src/translations/en");
  await mkdir(folder, { recursive: true });
  await Bun.write(join(folder, "client.json"), `${JSON.stringify(await collectClientTexts(), undefined, 2)}\n`);
}
