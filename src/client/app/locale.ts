/** The language and writing direction of the page. */
import { chooseLanguage, directionOf } from "../../translations/languages.ts";
import { setRegion } from "../base/format.ts";
import { readStored } from "../base/stored.ts";
import { setTranslation, type Transform } from "../base/text.ts";
import type { Translation } from "../../translations/text-table.ts";

/** Loads the texts of a language. */
type LoadTexts = () => Promise<{ readonly default: Translation; readonly transform?: Transform }>;

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
  "ar-XB": () => import("../translations/pseudo.ts"),
};

/** Loads the texts of the chosen language and sets the document's language and direction. */
export async function applyLocale(): Promise<void> {
  const stored = readStored("locale");
  const preferred = stored === undefined ? navigator.languages : [stored, ...navigator.languages];
  const tag = chooseLanguage(preferred, Object.keys(TEXTS));
  const texts = await TEXTS[tag]?.();
  if (texts !== undefined) setTranslation(texts.default, texts.transform);
  setRegion(navigator.languages.find((preferredTag) => preferredTag.startsWith(`${tag}-`)));
  document.documentElement.lang = tag;
  document.documentElement.dir = directionOf(tag);
}
