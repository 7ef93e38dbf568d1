/**
 * The text of the web client. Each feature defines its English text in `features/X/text.ts`. A translation is a module
 * in
 * `translations/` that replaces some or all of it; it is loaded before the first render (see the README there).
 */
import { formatNumber } from "./format.ts";

/** A text, or a function that builds one from numbers and names. */
// Function parameters are contravariant: `never` accepts every parameter list.
type TextValue = string | ((...values: never[]) => string);

/** The texts of one feature, by key. */
type TextTable = Readonly<Record<string, TextValue>>;

/** The default export of a translation module: the translated texts of each feature. */
export type Translation = Readonly<Record<string, TextTable>>;

/** Changes an English text; the pseudo-locale uses this. */
export type Transform = (text: string) => string;

let translation: Translation = {};
let transform: Transform | undefined;

/** Activates a translation. Called once, before the first render. */
export function setTranslation(texts: Translation, change?: Transform): void {
  translation = texts;
  transform = change;
}

/**
 * Defines the texts of a feature. A text is looked up on each access, so don't store one in a module constant.
 * @param feature the feature's name in translations
 */
export function defineText<T extends TextTable>(feature: string, english: T): T {
  const table = {};
  for (const [name, value] of Object.entries(english)) {
    Object.defineProperty(table, name, { enumerable: true, get: () => translated(feature, name, value) });
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each property was defined above, with a value of its kind
  return table as T;
}

function translated(feature: string, name: string, english: TextValue): TextValue {
  const value = translation[feature]?.[name] ?? english;
  const change = transform;
  if (change === undefined) return value;
  if (typeof value === "string") return change(value);
  return (...values: never[]) => change(value(...values));
}

/** Returns the form for `n`, for example "1 file" or "2 files". `#` is replaced with the number. */
export function plural(n: number, one: string, other: string): string {
  return pluralForms(n, { one, other });
}

/** Like {@link plural}, for languages with more than two forms. */
export function pluralForms(
  n: number,
  forms: Partial<Record<Intl.LDMLPluralRule, string>> & { other: string },
): string {
  const rule = new Intl.PluralRules(document.documentElement.lang || "en").select(n);
  return (forms[rule] ?? forms.other).replaceAll("#", formatNumber(n));
}
