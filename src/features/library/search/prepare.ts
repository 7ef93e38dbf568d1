import { type Reader, rows } from "../../../db/reader.ts";
import { type Completions, openWords, selectCompletions, toCompletions } from "./completions.ts";
import { selectGoneFolders } from "./match.ts";
import type { SearchTerm } from "./types.ts";

/** Unreachable folders of an account are named in queries up to this number. */
export const FOLDERS_NAMED_MAX = 64;

/** What the queries of a search contain. `gone` is undefined if too many to list. */
export async function prepareQueries(
  reader: Reader,
  accountId: number,
  terms: readonly SearchTerm[],
): Promise<{ readonly gone: number[] | undefined; readonly completions: Completions }> {
  const { sql, parameters } = selectGoneFolders(accountId, FOLDERS_NAMED_MAX + 1);
  const words = openWords(terms);
  const reads = [rows<{ id: number }>(sql, parameters), ...words.map(selectCompletions)] as const;
  const [gone, ...found] = await reader.read(reads);
  return {
    gone: gone.length > FOLDERS_NAMED_MAX ? undefined : gone.map(({ id }) => id),
    completions: toCompletions(words, found),
  };
}
