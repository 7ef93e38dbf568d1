/** The languages of Larder, and the choice among them. */

/** A language that texts are translated to. */
export interface Language {
  /** BCP 47, as in the name of its folder in `src/translations`. */
  readonly tag: string;
  /** In the language itself. */
  readonly name: string;
}

/** All languages, in the order of the list in the settings. English is the language of the source. */
export const LANGUAGES: readonly Language[] = [
  { tag: "en", name: "English" },
  { tag: "de", name: "Deutsch" },
  { tag: "es", name: "Español" },
  { tag: "fr", name: "Français" },
  { tag: "it", name: "Italiano" },
  { tag: "ja", name: "日本語" },
  { tag: "nl", name: "Nederlands" },
  { tag: "pl", name: "Polski" },
  { tag: "pt", name: "Português" },
];

/** A language for tests, which nobody gets without asking for it: see `pseudo.ts`. */
export const PSEUDO_LANGUAGE = "ar-XB";

const AVAILABLE = [...LANGUAGES.map(({ tag }) => tag), PSEUDO_LANGUAGE];

const RIGHT_TO_LEFT = new Set(["ar", "dv", "fa", "he", "ps", "ur", "yi"]);

/**
 * Chooses the first of the `preferred` tags that is available, by its full tag or its language part; else English.
 * @param available tags other than English
 */
export function chooseLanguage(preferred: readonly string[], available: readonly string[]): string {
  for (const tag of preferred) {
    const exact = available.find((known) => known.toLowerCase() === tag.toLowerCase());
    if (exact !== undefined) return exact;
    const language = languagePart(tag);
    if (language === "en") return "en";
    // A tag with a region only matches that region. Pseudo-locales are only for those who request them.
    const general = available.find((known) => known.toLowerCase() === language);
    if (general !== undefined) return general;
  }
  return "en";
}

/** Chooses the first of the `preferred` tags that texts are translated to; else English. */
export function chooseAvailable(preferred: readonly string[]): string {
  return chooseLanguage(preferred, AVAILABLE);
}

/** The direction in which a language is written. */
export function directionOf(tag: string): "ltr" | "rtl" {
  return RIGHT_TO_LEFT.has(languagePart(tag)) ? "rtl" : "ltr";
}

function languagePart(tag: string): string {
  return (tag.split("-")[0] ?? "").toLowerCase();
}
