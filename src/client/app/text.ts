/**
 * Words that people read. Each feature keeps its English in `features/X/text.ts`; a translation is a module of
 * `translations/` with some or all of them, loaded before the first render (see the README there).
 */
import { formatNumber } from "../ui/format.ts";

/** A word, or a function that makes one of numbers and names. */
// Parameters of functions are contravariant: `never` is what every list of parameters accepts here.
type Word = string | ((...values: never[]) => string);

/** The words of one feature. */
export type Words = Readonly<Record<string, Word>>;

/** What a translation module has as its default: per feature the words that it translates. */
export type Translation = Readonly<Record<string, Words>>;

/** Makes another text of an English one; the pseudo-locale is one. */
export type Transform = (text: string) => string;

let translation: Translation = {};
let transform: Transform | undefined;

/** Puts a translation into force; called once, before the first render. */
export function setTranslation(words: Translation, change?: Transform): void {
  translation = words;
  transform = change;
}

/**
 * Names the words of a feature. Words are looked up when they are read: don't keep one in a constant of a module.
 * @param feature the feature's name, as translations call it
 */
export function defineText<T extends Words>(feature: string, english: T): T {
  const words = {};
  for (const [name, word] of Object.entries(english)) {
    Object.defineProperty(words, name, { enumerable: true, get: () => wordOf(feature, name, word) });
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each property was defined above, with a word of its kind
  return words as T;
}

function wordOf(feature: string, name: string, english: Word): Word {
  const word = translation[feature]?.[name] ?? english;
  const change = transform;
  if (change === undefined) return word;
  if (typeof word === "string") return change(word);
  return (...values: never[]) => change(word(...values));
}

/** "1 file", "2 files": the form for `n`, where `#` stands for the number. */
export function plural(n: number, one: string, other: string): string {
  return pluralForms(n, { one, other });
}

/** As {@link plural}, for languages with more forms than two. */
export function pluralForms(
  n: number,
  forms: Partial<Record<Intl.LDMLPluralRule, string>> & { other: string },
): string {
  const rule = new Intl.PluralRules(document.documentElement.lang || "en").select(n);
  return (forms[rule] ?? forms.other).replaceAll("#", formatNumber(n));
}
