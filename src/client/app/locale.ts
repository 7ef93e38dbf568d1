/** The language and writing direction of the page. */
import { chooseLanguage, directionOf } from "../../translations/choose-language.ts";
import { setRegion } from "../base/format.ts";
import { readStored } from "../base/stored.ts";
import { setTranslation, type Texts } from "../base/text.ts";
import { ignore } from "../base/ignore.ts";

/** Loads the texts of a language. */
type LoadTexts = () => Promise<Texts>;

/**
 * The texts of each language other than English. `ar-XB` is not a real language; it tests right-to-left layout and
 * untranslated text.
 */
const TEXTS: Readonly<Record<string, LoadTexts>> = {
  de: () => import("../../translations/de/client.json"),
  es: () => import("../../translations/es/client.json"),
  fr: () => import("../../translations/fr/client.json"),
  it: () => import("../../translations/it/client.json"),
  ja: () => import("../../translations/ja/client.json"),
  nl: () => import("../../translations/nl/client.json"),
  pl: () => import("../../translations/pl/client.json"),
  pt: () => import("../../translations/pt/client.json"),
  "ar-XB": () => import("../../translations/pseudo.ts"),
};

/**
 * Loads the texts of the chosen language and sets the document's language and direction. If the texts can't be loaded,
 * the page is better in English than not usable.
 */
export async function applyLocale(): Promise<void> {
  const stored = readStored("locale");
  const preferred = stored === undefined ? navigator.languages : [stored, ...navigator.languages];
  const chosen = chooseLanguage(preferred, Object.keys(TEXTS));
  const texts = await TEXTS[chosen]?.().catch(ignore);
  const tag = texts ? chosen : "en";
  if (texts) setTranslation(texts);
  setRegion(navigator.languages.find((preferredTag) => preferredTag.startsWith(`${tag}-`)));
  document.documentElement.lang = tag;
  document.documentElement.dir = directionOf(tag);
}
