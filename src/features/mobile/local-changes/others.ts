/**
 * Finds the files that others changed since a device's position in the journal. One query finds those of all files of a
 * call. Only changes that are written during the call are looked up file by file.
 */
import { type Reader, rows } from "../../../db/reader.ts";
import type { Database } from "bun:sqlite";
import { CHANGED_BY_OTHERS, type LocalChangeQueries } from "./queries.ts";

/** A longer range of the journal is read in the reading thread; this length takes about a millisecond. */
const READ_IN_PLACE_MAX = 2_000;

/** Options of {@link findOthersChanges}. */
interface OthersOptions {
  readonly sqlite: Database;
  readonly reader: Reader;
  readonly queries: Pick<LocalChangeQueries, "changedByOthers">;
}

/** A range of an account's journal, as seen by a device. */
interface JournalView {
  readonly accountId: number;
  readonly deviceId: number;
  readonly sinceSeq: number;
  /** The committed head of the journal. */
  readonly headSeq: number;
}

/** Returns whether others changed a file since. Call it inside a transaction. */
export type ChangedByOthers = (file: { readonly id: number; readonly seq: number }) => boolean;

/** Finds changes of these nodes up to the head; the returned function looks up later ones. */
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
    // All its changes were read above, and none was by others.
    if (file.seq <= headSeq) return false;
    return queries.changedByOthers.get(accountId, Math.max(sinceSeq, headSeq), file.id, deviceId) !== null;
  };
}
