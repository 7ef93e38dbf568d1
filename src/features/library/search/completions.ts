/**
 * Completions: the words of the index that begin with a word of a search.
 *
 * For a prefix, the index first collects the entries of all its words, also if only the newest are wanted: 16 ms for
 * half a million. For whole words it stops as soon as it has enough. So a search names the words, if they are few.
 */
import { type Read, rows } from "../../../db/reader.ts";
import type { SearchTerm } from "./types.ts";
import { openWordOf } from "./words.ts";

/** The words of the index by the word that they begin with. Words with too many of them are missing. */
export type Completions = ReadonlyMap<string, readonly string[]>;

/** The table of words, for the connection that searches: one row for each place of a word. */
export const WORDS_TABLE = "CREATE VIRTUAL TABLE temp.search_words USING fts5vocab(main, search_text, instance)";

/** With more words than this, comparing all of them for each entry costs more than the prefix. */
const WORDS_MAX = 32;
/** Sorts after all characters of words. */
const LAST_CHARACTER = "\u{10ffff}";

/** Each step seeks the next word, and reads only the first place of it. */
const SELECT_WORDS = `WITH RECURSIVE found(word) AS (
    SELECT (SELECT term FROM search_words WHERE term >= ?1 LIMIT 1)
    UNION ALL SELECT (SELECT term FROM search_words WHERE term >= found.word || char(1) LIMIT 1)
      FROM found WHERE found.word < ?2)
  SELECT word FROM found WHERE word < ?2 LIMIT ?3`;

/** The words of these terms that may be the beginning of others. */
export function openWords(terms: readonly SearchTerm[]): string[] {
  const words = terms.map((term) =>
    (term.key === "text" || term.key === "name") && !term.isPhrase ? openWordOf(term.value)?.word : undefined,
  );
  return [...new Set(words)].filter((word) => word !== undefined);
}

/** The words of the index that begin with a word: at most one more than a search names. */
export function selectCompletions(word: string): Read<readonly { word: string }[]> {
  return rows<{ word: string }>(SELECT_WORDS, [word, word + LAST_CHARACTER, WORDS_MAX + 1]);
}

/** @param found for each word, the result of {@link selectCompletions} */
export function toCompletions(words: readonly string[], found: readonly (readonly { word: string }[])[]): Completions {
  const completions = words.map((word, index): [string, string[]] => [
    word,
    (found[index] ?? []).map((row) => row.word),
  ]);
  return new Map(completions.filter(([, all]) => all.length <= WORDS_MAX));
}
