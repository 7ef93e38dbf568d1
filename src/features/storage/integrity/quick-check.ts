import { type Reader, rows } from "../../../db/reader.ts";

/**
 * Reads the search index before its check, in the same transaction. FTS5 keeps a list of its segments for each
 * connection. A query reads it again after others have written; the check does not, and takes segments that were merged
 * in between for damage.
 */
const OPEN_SEARCH = "SELECT rowid FROM search_text WHERE search_text MATCH 'a' LIMIT 1";

/**
 * Checks the structure of the database.
 * @returns the problems that SQLite reports; none for a healthy database
 * @throws AppError if the damage prevents the check
 */
export async function quickCheck(reader: Pick<Reader, "read">): Promise<readonly string[]> {
  const [, found] = await reader.read([
    rows<{ rowid: number }>(OPEN_SEARCH),
    rows<{ quick_check: string }>("PRAGMA quick_check(20)"),
  ]);
  const problems = found.map(({ quick_check: problem }) => problem);
  return problems.length === 1 && problems[0] === "ok" ? [] : problems;
}
