/**
 * What others changed since the place in the journal where a device stands. Asked once for all files of a call; only
 * what is written while the call goes on is looked up file by file.
 */
import { type Reader, rows } from "../../../db/reader.ts";
import type { Database } from "bun:sqlite";
import { CHANGED_BY_OTHERS, type localChangeQueries } from "./queries.ts";

/** A longer stretch of the journal is read in the reading thread; this much takes about a millisecond. */
const READ_IN_PLACE_MAX = 2_000;

/** What {@link findOthersChanges} works with. */
export interface OthersOptions {
  readonly sqlite: Database;
  readonly reader: Reader;
  readonly queries: Pick<ReturnType<typeof localChangeQueries>, "changedByOthers">;
}

/** Of which account's journal, as seen by which device. */
export interface JournalView {
  readonly accountId: number;
  readonly deviceId: number;
  readonly sinceSeq: number;
  /** The committed head of the journal. */
  readonly headSeq: number;
}

/** Tells, within a deed, whether others changed a file since. */
export type ChangedByOthers = (file: { readonly id: number; readonly seq: number }) => boolean;

/** Looks up the files with these row ids up to the head; see the head of this file for what comes after it. */
export async function findOthersChanges(
  { sqlite, reader, queries }: OthersOptions,
  view: JournalView,
  nodeIds: readonly number[],
): Promise<ChangedByOthers> {
  const { accountId, deviceId, sinceSeq, headSeq } = view;
  const changed = new Set<number>();
  if (headSeq > sinceSeq && nodeIds.length > 0) {
    const parameters = [accountId, sinceSeq, headSeq, deviceId, JSON.stringify(nodeIds)] as const;
    const found =
      headSeq - sinceSeq <= READ_IN_PLACE_MAX
        ? sqlite
            .query<{ nodeId: number }, [number, number, number, number, string]>(CHANGED_BY_OTHERS)
            .all(...parameters)
        : (await reader.read([rows<{ nodeId: number }>(CHANGED_BY_OTHERS, parameters)]))[0];
    for (const { nodeId } of found) changed.add(nodeId);
  }
  return (file) => {
    if (file.seq <= sinceSeq) return false;
    if (changed.has(file.id)) return true;
    // Its last change was looked at above, and none of them was another's.
    if (file.seq <= headSeq) return false;
    return queries.changedByOthers.get(accountId, Math.max(sinceSeq, headSeq), file.id, deviceId) !== null;
  };
}
