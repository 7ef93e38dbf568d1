/** Which language the page speaks, and in which direction it is written. */
import { setRegion } from "../base/format.ts";
import { readStored } from "../base/stored.ts";
import { setTranslation, type Transform, type Translation } from "../base/text.ts";

/** A language that the page can speak. */
interface Language {
  readonly load: () => Promise<{ default: Translation; transform?: Transform }>;
}

/** Languages beside English, by their tag. `ar-XB` is no language: it shows that pages work from right to left. */
const LANGUAGES: Readonly<Record<string, Language>> = {
  "ar-XB": { load: () => import("../translations/pseudo.ts") },
};

const RIGHT_TO_LEFT = new Set(["ar", "dv", "fa", "he", "ps", "ur", "yi"]);

/** Chooses among `wanted` the first language that is there, by its tag or its first part; else English. */
export function chooseLocale(preferred: readonly string[], available: readonly string[]): string {
  for (const tag of preferred) {
    const exact = available.find((known) => known.toLowerCase() === tag.toLowerCase());
    if (exact !== undefined) return exact;
    const language = tag.split("-")[0]?.toLowerCase();
    if (language === "en") return "en";
    // A tag with a region is taken only by that region: pseudo-locales are for nobody who didn't ask.
    const general = available.find((known) => known.toLowerCase() === language);
    if (general !== undefined) return general;
  }
  return "en";
}

/** Loads the words of the chosen language, and tells the document its language and direction. */
export async function applyLocale(): Promise<void> {
  const stored = readStored("locale");
  const wanted = stored === undefined ? navigator.languages : [stored, ...navigator.languages];
  const tag = chooseLocale(wanted, Object.keys(LANGUAGES));
  const language = LANGUAGES[tag];
  if (language !== undefined) {
    const { default: words, transform } = await language.load();
    setTranslation(words, transform);
  }
  setRegion(navigator.languages.find((wantedTag) => wantedTag.startsWith(`${tag}-`)));
  document.documentElement.lang = tag;
  document.documentElement.dir = RIGHT_TO_LEFT.has(tag.split("-")[0] ?? "") ? "rtl" : "ltr";
}
