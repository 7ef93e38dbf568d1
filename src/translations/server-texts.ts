/** The texts of the server: pages, mails, and notifications. Each feature defines its English ones with `defineTexts`. */
import de from "./de/server.json";
import { formatOf } from "./formats.ts";
import es from "./es/server.json";
import fr from "./fr/server.json";
import ja from "./ja/server.json";
import pt from "./pt/server.json";
import pl from "./pl/server.json";
import nl from "./nl/server.json";
import it from "./it/server.json";
import type { MessageFormat } from "./messages.ts";
import { type ReadableTable, readableText, type TextTable, type Translation } from "./text-table.ts";

/** The translations by language. */
const TRANSLATIONS: Readonly<Record<string, Translation>> = { de, es, fr, it, ja, nl, pl, pt };

const english: Record<string, TextTable> = {};

/** Returns the English texts of all features whose modules are loaded, for translators and tests. */
export function englishTexts(): Translation {
  return english;
}

/**
 * Defines the texts of a feature.
 * @param feature the feature's name in translations
 * @returns the texts in a language, by its tag; English for a language without translation
 */
export function defineTexts<const T extends TextTable>(
  feature: string,
  texts: T,
): (language: string) => ReadableTable<T> {
  english[feature] = texts;
  const tables = new Map<string, ReadableTable<T>>();
  return (language) => {
    const tag = Object.hasOwn(TRANSLATIONS, language) ? language : "en";
    let table = tables.get(tag);
    if (table === undefined) {
      table = buildTable(texts, TRANSLATIONS[tag]?.[feature] ?? {}, formatOf(tag));
      tables.set(tag, table);
    }
    return table;
  };
}

function buildTable<T extends TextTable>(texts: T, translated: TextTable, format: MessageFormat): ReadableTable<T> {
  const table = Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, readableText(text, translated[key], format)]),
  );
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each key was set above, to a value of its kind
  return table as ReadableTable<T>;
}
