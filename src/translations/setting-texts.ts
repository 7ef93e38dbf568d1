/** The texts about settings in all languages: help, and what they accept. English ones are in `src/config`. */
import de from "./de/settings.json" with { type: "text" };
import es from "./es/settings.json" with { type: "text" };
import fr from "./fr/settings.json" with { type: "text" };
import it from "./it/settings.json" with { type: "text" };
import ja from "./ja/settings.json" with { type: "text" };
import nl from "./nl/settings.json" with { type: "text" };
import pl from "./pl/settings.json" with { type: "text" };
import pt from "./pt/settings.json" with { type: "text" };
import { PSEUDO_LANGUAGE } from "./languages.ts";
import { transform } from "./pseudo.ts";

/**
 * The translations by language, as JSON: parsing waits until somebody reads the language. They are strings, but the
 * compiler takes them for what they contain.
 */
const FILES: Readonly<Record<string, unknown>> = { de, es, fr, it, ja, nl, pl, pt };

const tables = new Map<string, ReadonlyMap<string, string>>();

/** The key of a text about what settings accept, such as "whole number". */
export function acceptsKey(english: string): string {
  return `accepts: ${english}`;
}

/**
 * Returns a text about a setting in a language, by its tag; in English if there is no translation.
 * @param key the setting's key for its help text, or {@link acceptsKey}
 */
export function translateSettingText(key: string, english: string, language: string): string {
  if (language === PSEUDO_LANGUAGE) return transform(english);
  if (!Object.hasOwn(FILES, language)) return english;
  let table = tables.get(language);
  if (table === undefined) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a file of the program, checked by a test
    table = new Map(Object.entries(JSON.parse(String(FILES[language])) as Record<string, string>));
    tables.set(language, table);
  }
  return table.get(key) ?? english;
}
