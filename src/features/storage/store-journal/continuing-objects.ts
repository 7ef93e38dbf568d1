/**
 * Finds the objects that continue a snapshot without a gap. A tool that copies the folder while the server writes may
 * miss objects. Objects after a gap are not used, because a missing one may have recorded a deletion.
 */
import type { Database } from "bun:sqlite";
import { join } from "node:path";
import {
  ACCOUNTS_FOLDER,
  chooseObjects,
  type DamagedObject,
  listObjects,
  namesIn,
  NEWER_FOLDER,
  type ObjectFile,
  readObjects,
} from "./object-file.ts";
import type { AccountStart, CopyStart } from "./opened-copy.ts";
import { idOf, parseNodeRecord } from "./parse-record.ts";

/** The objects that continue a snapshot, in order. */
export interface ContinuingObjects {
  readonly files: readonly ObjectFile[];
  /** Whether the first of them has the whole account: a node that it does not name was deleted. */
  readonly isFull: boolean;
  /** Journal number at which they end; 0 for none. */
  readonly seq: number;
  /** When the last of them was written. */
  readonly writtenAtMs: number;
  /** Why not all objects could be used, by path. */
  readonly faults: readonly DamagedObject[];
}

/**
 * Reads the objects of an account that follow a snapshot.
 * @param start undefined for an account that is newer than it
 */
export async function findContinuing(path: string, start: AccountStart | undefined): Promise<ContinuingObjects> {
  const after = start?.number ?? 0;
  const chosen = chooseObjects(await listObjects(path)).filter(({ last }) => last > after);
  const files: ObjectFile[] = [];
  const faults: DamagedObject[] = [];
  let [next, seq, writtenAtMs] = [after + 1, 0, 0];
  for (const file of chosen) {
    if (!file.isFull && file.first > next) {
      faults.push({ path, fault: `objects ${next} to ${file.first - 1} are missing` });
      break;
    }
    const read = await readObjects(file.path, () => undefined);
    if (read.fault !== undefined || read.seq === undefined) {
      faults.push({ path: file.path, fault: read.fault ?? "its end is missing" });
      break;
    }
    files.push(file);
    [next, seq, writtenAtMs] = [file.last + 1, read.seq, Math.max(writtenAtMs, read.writtenAtMs ?? 0)];
  }
  return { files, isFull: files[0]?.isFull === true, seq, writtenAtMs, faults };
}

/** Counts of changes after a snapshot, from the store journal. */
export interface ContinuingSummary {
  /** Accounts with changes. */
  readonly accounts: number;
  /** Records of files, folders and deletions that the snapshot does not have. */
  readonly changes: number;
  /** When the last one was written; undefined for none. */
  readonly untilMs: number | undefined;
  /** Objects that can't be used. */
  readonly faults: number;
}

/** Counts the changes after a snapshot. Changes nothing. @param root `blobs/journal/` */
export async function summarizeContinuing(
  sqlite: Database,
  root: string,
  start: CopyStart,
): Promise<ContinuingSummary> {
  const find = sqlite.query<{ modifiedAt: number }, [string]>(
    "SELECT modified_at AS modifiedAt FROM nodes WHERE public_id = ?1",
  );
  let [accounts, changes, faults] = [0, 0, 0];
  let untilMs: number | undefined;
  for (const account of await namesIn(root)) {
    if (account === ACCOUNTS_FOLDER || account === NEWER_FOLDER) continue;
    const known = start.accounts[account];
    const later = await findContinuing(join(root, account), known);
    faults += later.faults.length;
    if (later.seq <= (known?.seq ?? -1) || later.files.length === 0) continue;
    const before = changes;
    for (const { path } of later.files) {
      await readObjects(path, (line) => {
        const record = parseNodeRecord(line);
        if (record === undefined) return;
        const existing = find.get(idOf(record));
        if ("gone" in record ? existing !== null : existing?.modifiedAt !== record.modified) changes++;
      });
    }
    if (changes === before) continue;
    accounts++;
    untilMs = Math.max(untilMs ?? 0, later.writtenAtMs);
  }
  return { accounts, changes, untilMs, faults };
}
