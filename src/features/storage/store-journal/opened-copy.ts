/**
 * Where a copy of a data directory begins: at a snapshot. The objects of its store journal may be later than that. How far
 * the snapshot went is noted in the database before anything changes, so that a crash in between leaves the work to the next
 * start.
 */
import type { Database } from "bun:sqlite";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { StoreJournalTables } from "./queries.ts";
import { NEWER_FOLDER } from "./service.ts";

/** How far a snapshot went in one account. */
export interface AccountStart {
  /** Its last journal number. */
  readonly seq: number;
  /** Number of the last object that was written then; 0 for none. */
  readonly number: number;
}

/** How far the snapshot of a copy went. */
export interface CopyStart {
  /** By the account's public id; accounts that came later are not in it. */
  readonly accounts: Readonly<Record<string, AccountStart>>;
  /** Names in `newer/`: objects that the original had set aside. Its operator went back on purpose: they stay there. */
  readonly setAsideBefore: readonly string[];
}

const KEY = "copy_start";

/**
 * Reads how far a snapshot goes. To be called before its epoch changes.
 * @param root `blobs/journal/`
 * @returns undefined where the objects follow another state: the original had just been put back to an earlier time
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

/** Notes that the later objects are still to be merged. */
export function noteCopyStart(sqlite: Database, start: CopyStart): void {
  sqlite
    .query<undefined, [string, string]>(
      "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value",
    )
    .run(KEY, JSON.stringify(start));
}

/** What was noted; undefined where nothing is to be merged. */
export function findCopyStart(sqlite: Database): CopyStart | undefined {
  const row = sqlite.query<{ value: string }, [string]>("SELECT value FROM meta WHERE key = ?1").get(KEY);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by noteCopyStart
  return row === null ? undefined : (JSON.parse(row.value) as CopyStart);
}

/** Takes the note back. */
export function forgetCopyStart(sqlite: Database): void {
  sqlite.query<undefined, [string]>("DELETE FROM meta WHERE key = ?1").run(KEY);
}
