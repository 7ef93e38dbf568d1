/** Prepares texts for the index and for searches in the same way. Pure. */

/** Scripts that are written without spaces, and symbols such as emoji: each character is a word of its own. */
const APART = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{So}]/gu;
const SEARCHABLE = /[\p{L}\p{N}\p{Co}\p{So}]/u;
const LAST_WORD = /([\p{L}\p{N}\p{M}]+)[^\p{L}\p{N}\p{Co}\p{So}]*$/u;
// oxlint-disable-next-line no-control-regex -- matches all of ASCII on purpose
const ASCII = /^[\u0000-\u007f]*$/;

/** A text in the form for the index: normalized (NFKC), with spaces around characters that are words. */
export function toIndexText(text: string): string {
  return ASCII.test(text) ? text : text.normalize("NFKC").replaceAll(APART, " $& ");
}

/** Whether a text contains anything that a search can find. */
export function isSearchable(text: string): boolean {
  return SEARCHABLE.test(text);
}

/**
 * A quoted string of the query language of the index: these words in this order. With `isOpen` the last word may be a
 * prefix, except a single letter, as too much begins with it.
 */
export function quoteWords(text: string, isOpen: boolean): string {
  const prepared = toIndexText(text);
  const last = LAST_WORD.exec(prepared)?.[1] ?? "";
  const star = isOpen && Array.from(last).length > 1 ? "*" : "";
  return `"${prepared.replaceAll('"', '""')}"${star}`;
}

/**
 * The last word of a text, which stands for all words that begin with it, and the text before it. Undefined if it
 * stands only for itself, or if only the index knows its form: it folds other letters than ASCII in its own way.
 */
export function openWordOf(text: string): { readonly head: string; readonly word: string } | undefined {
  if (!ASCII.test(text)) return undefined;
  const last = LAST_WORD.exec(text);
  const word = last?.[1] ?? "";
  return word.length > 1 ? { head: text.slice(0, last?.index), word: word.toLowerCase() } : undefined;
}
