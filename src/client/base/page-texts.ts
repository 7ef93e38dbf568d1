/** The texts of pages that the server renders. These pages run without the web app. */
import { setRegion } from "./format.ts";
import { setTranslation, type Texts } from "./text.ts";

/**
 * Loads the texts in the language of the page, whose address the server has written into the page. Without them, the
 * page is better in English than not usable.
 */
export async function loadPageTexts(): Promise<void> {
  const { lang, dataset } = document.documentElement;
  setRegion(navigator.languages.find((preferred) => preferred.startsWith(`${lang}-`)));
  const address = dataset["texts"];
  if (address === undefined) return;
  try {
    const texts: Texts = await import(address);
    setTranslation(texts);
  } catch {
    return;
  }
}
