import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { NONE } from "./text-row.ts";
import type { TextIndexStatus } from "./types.ts";

/** The size of the texts that have a state. */
export function bytesInState(sqlite: Database, state: number): number {
  const found = sqlite.query<{ bytes: number | null }, [number]>(
    "SELECT sum(bytes) AS bytes FROM texts WHERE state = ?1",
  );
  return found.get(state)?.bytes ?? 0;
}

/** Sizes, and how much is indexed. @param texts how many texts are searchable, and their size */
export function readStatus(
  sqlite: Database,
  path: string,
  texts: { readonly texts: number; readonly bytes: number },
): Omit<TextIndexStatus, "isFilling"> {
  const one = (sql: string): number => sqlite.query<{ value: number }, []>(sql).get()?.value ?? 0;
  return {
    indexed: texts.texts,
    waiting: one("SELECT count(*) AS value FROM queue"),
    unread: sqlite
      .query<{ reason: string; count: number }, []>(
        `SELECT reason, count(*) AS count FROM texts WHERE state = ${NONE} GROUP BY reason ORDER BY count DESC LIMIT 20`,
      )
      .all(),
    textBytes: texts.bytes,
    indexBytes: one("SELECT coalesce(sum(length(block)), 0) AS value FROM words_data"),
    fileBytes: statSync(path, { throwIfNoEntry: false })?.size ?? 0,
  };
}
