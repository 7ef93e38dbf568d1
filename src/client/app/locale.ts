/** The language and writing direction of the page. */
import { setRegion } from "../base/format.ts";
import { readStored } from "../base/stored.ts";
import { setTranslation, type Transform, type Translation } from "../base/text.ts";

/** A language that the page supports. */
interface Language {
  readonly load: () => Promise<{ default: Translation; transform?: Transform }>;
}

/**
 * Languages other than English, by tag. `ar-XB` is not a real language; it tests right-to-left layout and untranslated
 * text.
 */
const LANGUAGES: Readonly<Record<string, Language>> = {
  "ar-XB": { load: () => import("../translations/pseudo.ts") },
};

const RIGHT_TO_LEFT = new Set(["ar", "dv", "fa", "he", "ps", "ur", "yi"]);

/**
 * Chooses the first of the `preferred` languages that is available, by its full tag or its language part; else English.
 */
export function chooseLocale(preferred: readonly string[], available: readonly string[]): string {
  for (const tag of preferred) {
    const exact = available.find((known) => known.toLowerCase() === tag.toLowerCase());
    if (exact !== undefined) return exact;
    const language = tag.split("-")[0]?.toLowerCase();
    if (language === "en") return "en";
    // A tag with a region only matches that region. Pseudo-locales are only for those who request them.
    const general = available.find((known) => known.toLowerCase() === language);
    if (general !== undefined) return general;
  }
  return "en";
}

/** Loads the text of the chosen language and sets the document's language and direction. */
export async function applyLocale(): Promise<void> {
  const stored = readStored("locale");
  const preferred = stored === undefined ? navigator.languages : [stored, ...navigator.languages];
  const tag = chooseLocale(preferred, Object.keys(LANGUAGES));
  const language = LANGUAGES[tag];
  if (language !== undefined) {
    const { default: texts, transform } = await language.load();
    setTranslation(texts, transform);
  }
  setRegion(navigator.languages.find((preferredTag) => preferredTag.startsWith(`${tag}-`)));
  document.documentElement.lang = tag;
  document.documentElement.dir = RIGHT_TO_LEFT.has(tag.split("-")[0] ?? "") ? "rtl" : "ltr";
}
