/**
 * The text of the web client. Each feature defines its English text in `features/X/text.ts`: messages with their values
 * in braces, as `src/translations/messages.ts` describes them. A translation replaces them; it is loaded before the first render.
 */
import { formatMessage, type MessageFormat, type MessageValues, type ValuesOf } from "../../translations/messages.ts";
import { formatBytes, formatDuration, formatNumber, pluralRule } from "./format.ts";

/** The names of something, by its value in the API. */
type NameTable = Readonly<Record<string, string>>;

/** The texts of one feature, by key. */
type TextTable = Readonly<Record<string, string | NameTable>>;

/** A translation: the translated texts of each feature. */
export type Translation = Readonly<Record<string, TextTable>>;

/** Changes a text; the pseudo-locale uses this. */
export type Transform = (text: string) => string;

/** Returns the name of `key`. @param otherwise for a key that has no name; by default the key itself */
type LookUp = (key: string, otherwise?: string) => string;

/** Like {@link LookUp}, for names that contain values. */
type LookUpWith = (key: string, values: MessageValues, otherwise?: string) => string;

/** How code reads a text: as a string, with its values, or by a key. */
type Readable<T> = T extends string
  ? unknown extends ValuesOf<T>
    ? string
    : (values: ValuesOf<T>) => string
  : Extract<T[keyof T], `${string}{${string}`> extends never
    ? LookUp
    : LookUpWith;

const english: Record<string, TextTable> = {};
let translation: Translation = {};
let transform: Transform | undefined;

/** Activates a translation. Called once, before the first render. */
export function setTranslation(texts: Translation, change?: Transform): void {
  translation = texts;
  transform = change;
}

/** Returns the English texts of all features whose modules are loaded, for translators and tests. */
export function englishTexts(): Translation {
  return english;
}

/**
 * Defines the texts of a feature. A text is looked up on each access, so don't store one in a module constant.
 * @param feature the feature's name in translations
 */
export function defineText<const T extends TextTable>(
  feature: string,
  texts: T,
): { readonly [K in keyof T]: Readable<T[K]> } {
  english[feature] = texts;
  const table = {};
  for (const [name, value] of Object.entries(texts)) {
    Object.defineProperty(table, name, {
      enumerable: true,
      get: () => readable(value, translation[feature]?.[name] ?? value),
    });
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each property was defined above, with a value of its kind
  return table as { readonly [K in keyof T]: Readable<T[K]> };
}

/** A text in the form in which code reads it. The English text decides the form. */
function readable(original: string | NameTable, text: string | NameTable): unknown {
  if (typeof original === "string") {
    const message = typeof text === "string" ? text : original;
    return original.includes("{") ? (values: MessageValues) => format(message, values) : changed(message);
  }
  const names = typeof text === "string" ? original : text;
  return (key: string, first?: MessageValues | string, second?: string) => {
    const name = Object.hasOwn(names, key) ? names[key] : Object.hasOwn(original, key) ? original[key] : undefined;
    if (typeof first === "object") return name === undefined ? (second ?? key) : format(name, first);
    return name === undefined ? (first ?? key) : changed(name);
  };
}

function format(message: string, values: MessageValues): string {
  return changed(formatMessage(message, values, FORMAT));
}

function changed(text: string): string {
  return transform === undefined ? text : transform(text);
}

const FORMAT: MessageFormat = {
  number(value, style) {
    if (style === "bytes") return formatBytes(value);
    return style === "duration" ? formatDuration(value) : formatNumber(value);
  },
  pluralRule,
};
