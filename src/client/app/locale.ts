/** The language and writing direction of the page. */
import { chooseLanguage, directionOf } from "../../translations/languages.ts";
import { readStored } from "../base/stored.ts";
import { loadTexts, TRANSLATED } from "../translations/loaders.ts";

/** Loads the texts of the chosen language and sets the document's language and direction. */
export async function applyLocale(): Promise<void> {
  const stored = readStored("locale");
  const preferred = stored === undefined ? navigator.languages : [stored, ...navigator.languages];
  const tag = chooseLanguage(preferred, TRANSLATED);
  await loadTexts(tag);
  document.documentElement.lang = tag;
  document.documentElement.dir = directionOf(tag);
}
