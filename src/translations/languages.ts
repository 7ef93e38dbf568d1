/** The languages of Larder. */
import { chooseLanguage } from "./choose-language.ts";

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

/** Chooses the first of the `preferred` tags that texts are translated to; else English. */
export function chooseAvailable(preferred: readonly string[]): string {
  return chooseLanguage(preferred, AVAILABLE);
}
