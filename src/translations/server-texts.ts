/** The texts of the server: pages, mails, and notifications. Each feature defines its English ones with `defineTexts`. */
import de from "./de/server.json" with { type: "text" };
import es from "./es/server.json" with { type: "text" };
import fr from "./fr/server.json" with { type: "text" };
import it from "./it/server.json" with { type: "text" };
import ja from "./ja/server.json" with { type: "text" };
import nl from "./nl/server.json" with { type: "text" };
import pl from "./pl/server.json" with { type: "text" };
import pt from "./pt/server.json" with { type: "text" };
import { formatOf } from "./formats.ts";
import { PSEUDO_LANGUAGE } from "./languages.ts";
import type { MessageFormat } from "./messages.ts";
import { type ReadableTable, readableText, type TextTable, type Translation } from "./text-table.ts";

/**
 * The translations by language, as JSON: parsing waits until somebody reads the language. They are strings, but the
 * compiler takes them for what they contain.
 */
const FILES: Readonly<Record<string, unknown>> = { de, es, fr, it, ja, nl, pl, pt };

const translations = new Map<string, Translation>();

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
    const tag = Object.hasOwn(FILES, language) || language === PSEUDO_LANGUAGE ? language : "en";
    let table = tables.get(tag);
    if (table === undefined) {
      table = buildTable(texts, translationIn(tag)[feature] ?? {}, formatOf(tag));
      tables.set(tag, table);
    }
    return table;
  };
}

function translationIn(tag: string): Translation {
  let translation = translations.get(tag);
  if (translation === undefined) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a file of the program, checked by a test
    translation = Object.hasOwn(FILES, tag) ? (JSON.parse(String(FILES[tag])) as Translation) : {};
    translations.set(tag, translation);
  }
  return translation;
}

function buildTable<T extends TextTable>(texts: T, translated: TextTable, format: MessageFormat): ReadableTable<T> {
  const table = Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, readableText(text, translated[key], format)]),
  );
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each key was set above, to a value of its kind
  return table as ReadableTable<T>;
}
