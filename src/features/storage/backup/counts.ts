import { type Database, SQLiteError } from "bun:sqlite";
import type { DatabaseCounts } from "./types.ts";

/**
 * Counts the users and files of a database.
 * @returns undefined for a database of an earlier version without these counts
 */
export function countDatabase(sqlite: Database): DatabaseCounts | undefined {
  try {
    const people = sqlite
      .query<{ users: number }, []>("SELECT count(*) AS users FROM users WHERE email_key NOT LIKE 'erased:%'")
      .get();
    const totals = sqlite
      .query<{ files: number; folders: number; bytes: number; changedAt: number }, []>(
        `SELECT coalesce(sum(files), 0) AS files, coalesce(sum(folders), 0) AS folders,
           coalesce(sum(file_bytes + version_bytes + trash_bytes), 0) AS bytes, coalesce(max(changed_at), 0) AS changedAt
         FROM accounts`,
      )
      .get();
    if (people === null || totals === null) return undefined;
    const { files, folders, bytes, changedAt } = totals;
    return { users: people.users, files, folders, bytes, lastChangeMs: changedAt > 0 ? changedAt : undefined };
  } catch (error) {
    if (error instanceof SQLiteError) return undefined;
    throw error;
  }
}
