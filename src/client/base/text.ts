/**
 * The text of the web client. Each feature defines its English text in `features/X/text.ts`: messages with their values
 * in braces, as `src/translations/messages.ts` describes them. A translation replaces them; it is loaded before the
 * first render.
 */
import type { MessageFormat } from "../../translations/messages.ts";
import { type ReadableTable, readableText, type TextTable, type Translation } from "../../translations/text-table.ts";
import { formatBytes, formatDuration, formatNumber, pluralRule } from "./format.ts";

/** The module with the texts of a language. */
export interface Texts {
  readonly default: Translation;
  /** Changes each text; the pseudo-language has this. */
  readonly transform?: (text: string) => string;
}

const english: Record<string, TextTable> = {};
let translation: Translation = {};

/** Activates a translation. Called once, before the first render. */
export function setTranslation(texts: Texts): void {
  translation = texts.default;
  FORMAT.change = texts.transform;
}

/** Returns the English texts of all features whose modules are loaded, for translators and tests. */
export function englishTexts(): Translation {
  return english;
}

/**
 * Defines the texts of a feature. A text is looked up on each access, so don't store one in a module constant.
 * @param feature the feature's name in translations
 */
export function defineText<const T extends TextTable>(feature: string, texts: T): ReadableTable<T> {
  english[feature] = texts;
  const table = {};
  for (const [name, text] of Object.entries(texts)) {
    let read: unknown;
    let readFrom: Translation | undefined;
    Object.defineProperty(table, name, {
      enumerable: true,
      get() {
        if (readFrom !== translation) read = readableText(text, translation[feature]?.[name], FORMAT);
        readFrom = translation;
        return read;
      },
    });
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each property was defined above, with a value of its kind
  return table as ReadableTable<T>;
}

const FORMAT: MessageFormat = {
  number(value, style) {
    if (style === "bytes") return formatBytes(value);
    return style === "duration" ? formatDuration(value) : formatNumber(value);
  },
  pluralRule,
};
