/**
 * Writes the English texts of the source to `src/translations/en/`, where translators find them:
 * `bun scripts/texts/texts.ts`. Run it after each change of a text; a test compares both.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Glob } from "bun";
import { englishTexts as clientTexts } from "../../src/client/base/text.ts";
import { englishTexts as serverTexts } from "../../src/translations/server-texts.ts";
import { SETTINGS_BY_KEY } from "../../src/config/settings.ts";
import { acceptsKey } from "../../src/translations/setting-texts.ts";
import type { TextTable, Translation } from "../../src/translations/text-table.ts";
import { findMessages } from "./errors.ts";

const ROOT = join(import.meta.dir, "../..");

/** The files of a language, without their extension. */
export const TEXT_FILES = ["client", "server", "errors", "settings"] as const;

/**
 * Returns the English texts of a file: each feature with its texts, in alphabetical order of the features. Errors have
 * no keys: each message has its English text as the key. The help text of a setting has the setting's key; what settings
 * accept has the key of {@link acceptsKey}.
 */
export async function collectTexts(file: (typeof TEXT_FILES)[number]): Promise<Translation | TextTable> {
  if (file === "errors") {
    const { templates } = await findMessages();
    return Object.fromEntries(templates.map((template) => [template, template]));
  }
  if (file === "settings") return settingTexts();
  const [pattern, define, texts] =
    file === "client"
      ? (["src/client/**/*.ts", "= defineText(", clientTexts] as const)
      : (["src/{features,web}/**/*.ts", "= defineTexts(", serverTexts] as const);
  for await (const path of new Glob(pattern).scan(ROOT)) {
    if ((await Bun.file(join(ROOT, path)).text()).includes(define)) await import(join(ROOT, path));
  }
  return Object.fromEntries(Object.entries(texts()).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** The words of a choice are values, so they are not translated. */
function settingTexts(): TextTable {
  const settings = [...SETTINGS_BY_KEY];
  const kinds = settings.map(([, { kind }]) => kind).filter(({ shape }) => shape.type !== "choice");
  return Object.fromEntries([
    ...settings.map(([key, { help }]) => [key, help]),
    ...kinds.map(({ accepts }) => [acceptsKey(accepts), accepts]),
  ]);
}

if (import.meta.main) {
  const folder = join(ROOT, "src/translations/en");
  await mkdir(folder, { recursive: true });
  for (const file of TEXT_FILES) {
    await Bun.write(join(folder, `${file}.json`), `${JSON.stringify(await collectTexts(file), undefined, 2)}\n`);
  }
}
