/** The texts of the pseudo-language: accented English from right to left. It reveals hard-coded text, and layouts that break. */
import type { Translation } from "./text-table.ts";

const ACCENTED: Readonly<Record<string, string>> = {
  a: "á",
  e: "é",
  i: "í",
  o: "ö",
  u: "ü",
  A: "Á",
  E: "É",
  O: "Ö",
  U: "Ü",
};

/** Empty: all text is transformed instead. */
const texts: Translation = {};
export default texts;

/** `Files` becomes `[Fílés]`. */
export function transform(text: string): string {
  return `[${text.replaceAll(/[aeiouAEOU]/g, (character) => ACCENTED[character] ?? character)}]`;
}
