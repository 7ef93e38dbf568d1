/** Tables of texts, which the web client and the server define in English and read in the language of the reader. */
import { formatMessage, type MessageFormat, type MessageValues, type ValuesOf } from "./messages.ts";

/** The names of something, by its value in the API. */
type NameTable = Readonly<Record<string, string>>;

/** The texts of one feature, by key. */
export type TextTable = Readonly<Record<string, string | NameTable>>;

/** A translation: the translated texts of each feature. */
export type Translation = Readonly<Record<string, TextTable>>;

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

/** How code reads a table. */
export type ReadableTable<T> = { readonly [K in keyof T]: Readable<T[K]> };

/**
 * Returns a text in the form in which code reads it. The English text decides the form.
 * @param translated undefined if there is no translation
 */
export function readableText(
  english: string | NameTable,
  translated: string | NameTable | undefined,
  format: MessageFormat,
): unknown {
  const formatted = (message: string, values: MessageValues = {}) => formatMessage(message, values, format);
  if (typeof english === "string") {
    const message = typeof translated === "string" ? translated : english;
    return english.includes("{") ? (values: MessageValues) => formatted(message, values) : formatted(message);
  }
  const names = typeof translated === "object" ? { ...english, ...translated } : english;
  return (key: string, first?: MessageValues | string, second?: string) => {
    const name = Object.hasOwn(names, key) ? names[key] : undefined;
    if (typeof first === "object") return name === undefined ? (second ?? key) : formatted(name, first);
    return name === undefined ? (first ?? key) : formatted(name);
  };
}
