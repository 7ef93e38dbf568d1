/** The texts of the web client in languages other than English. */
import { setRegion } from "../base/format.ts";
import { setTranslation, type Transform } from "../base/text.ts";
import type { Translation } from "../../translations/text-table.ts";

/** Loads the texts of a language. */
type LoadTexts = () => Promise<{ readonly default: Translation; readonly transform?: Transform }>;

/** `ar-XB` is not a real language; it tests right-to-left layout and untranslated text. */
const TEXTS: Readonly<Record<string, LoadTexts>> = {
  de: () => import("../../translations/de/client.json"),
  "ar-XB": () => import("./pseudo.ts"),
  fr: () => import("../../translations/fr/client.json"),
};

/** The languages other than English. */
export const TRANSLATED = Object.keys(TEXTS);

/** Loads the texts of a language, and formats numbers and times for it. */
export async function loadTexts(tag: string): Promise<void> {
  const texts = await TEXTS[tag]?.();
  if (texts !== undefined) setTranslation(texts.default, texts.transform);
  setRegion(navigator.languages.find((preferred) => preferred.startsWith(`${tag}-`)));
}
