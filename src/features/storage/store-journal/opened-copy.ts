/**
 * A copy of a data directory begins with a snapshot of the database, and objects of its store journal may be newer. The
 * state of the snapshot is noted in the database before anything changes, so that the next start merges them after a
 * crash.
 */
import type { Database } from "bun:sqlite";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { StoreJournalTables } from "./queries.ts";
import { NEWER_FOLDER } from "./object-file.ts";

/** The state of one account in a snapshot. */
export interface AccountStart {
  /** Its last journal number. */
  readonly seq: number;
  /** Number of the last object that was written then; 0 for none. */
  readonly number: number;
}

/** The state of the snapshot of a copy. */
export interface CopyStart {
  /** By the account's public id; newer accounts are missing. */
  readonly accounts: Readonly<Record<string, AccountStart>>;
  /**
   * Names in `newer/` that the original had. Its operator restored an earlier state on purpose, so they are not merged.
   */
  readonly setAsideBefore: readonly string[];
}

const KEY = "copy_start";

/**
 * Reads the state of a snapshot. Call before its epoch changes.
 * @param root `blobs/journal/`
 * @returns undefined if the objects belong to another state, because the original had just been restored
 */
export function readCopyStart(sqlite: Database, root: string): CopyStart | undefined {
  const epoch = sqlite.query<{ value: string }, []>("SELECT value FROM meta WHERE key = 'epoch'").get()?.value ?? "";
  const positions = StoreJournalTables.readPositions(sqlite);
  if (positions.some((position) => position.epoch !== epoch)) return undefined;
  const numbers = new Map(positions.map(({ publicId, number }) => [publicId, number]));
  const accounts = sqlite
    .query<{ id: string; seq: number }, []>(
      "SELECT u.public_id AS id, a.seq FROM accounts a JOIN users u ON u.id = a.id",
    )
    .all()
    .map(({ id, seq }) => [id, { seq, number: numbers.get(id) ?? 0 }] as const);
  const newer = join(root, NEWER_FOLDER);
  return {
    accounts: Object.fromEntries(accounts),
    setAsideBefore: existsSync(newer) ? readdirSync(newer) : [],
  };
}

/** Notes that the newer objects are still to be merged. */
export function noteCopyStart(sqlite: Database, start: CopyStart): void {
  sqlite
    .query<undefined, [string, string]>(
      "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value",
    )
    .run(KEY, JSON.stringify(start));
}

/** The noted state; undefined if nothing is to be merged. */
export function findCopyStart(sqlite: Database): CopyStart | undefined {
  const row = sqlite.query<{ value: string }, [string]>("SELECT value FROM meta WHERE key = ?1").get(KEY);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by noteCopyStart
  return row === null ? undefined : (JSON.parse(row.value) as CopyStart);
}

/** Deletes the note. */
export function forgetCopyStart(sqlite: Database): void {
  sqlite.query<undefined, [string]>("DELETE FROM meta WHERE key = ?1").run(KEY);
}
