/** Queries of the words of the index. */
import type { Database } from "bun:sqlite";
import { parseNumbers } from "../../../db/parse-numbers.ts";

/** The ids of the segments that a query finds, ascending. */
export function matchAll(sqlite: Database, query: string): Float64Array {
  const found = sqlite
    .query<{ ids: string | null }, [string]>("SELECT group_concat(rowid) AS ids FROM words WHERE words MATCH ?1")
    .get(query);
  return parseNumbers(found?.ids);
}

/** The ids of these segments that a query finds. */
export function matchBetween(sqlite: Database, query: string, first: number, last: number): number[] {
  return sqlite
    .query<{ id: number }, [string, number, number]>(
      "SELECT rowid AS id FROM words WHERE words MATCH ?1 AND rowid BETWEEN ?2 AND ?3",
    )
    .all(query, first, last)
    .map(({ id }) => id);
}

/** Words from one on, each with the segments that contain it, in their order. */
export function wordsFrom(
  sqlite: Database,
  word: string,
): Iterable<{ readonly word: string; readonly segmentId: number }> {
  return sqlite
    .query<{ word: string; segmentId: number }, [string]>(
      "SELECT term AS word, doc AS segmentId FROM temp.vocabulary WHERE term >= ?1",
    )
    .iterate(word);
}
