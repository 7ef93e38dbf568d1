/** The choice of a language. Every page loads this file; the names of the languages are elsewhere. */

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

/** The direction in which a language is written. */
export function directionOf(tag: string): "ltr" | "rtl" {
  return RIGHT_TO_LEFT.has(languagePart(tag)) ? "rtl" : "ltr";
}

function languagePart(tag: string): string {
  return (tag.split("-")[0] ?? "").toLowerCase();
}
