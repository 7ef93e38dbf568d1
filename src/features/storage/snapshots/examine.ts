/** What an operator is told of the copies of the database. */
import { describeSize } from "../../../config/quantities.ts";
import { isWhole, listSnapshots } from "../../../db/snapshot.ts";

/** A sentence, and how it stands: `note` where there is none yet, `wrong` where a copy of the directory would suffer. */
export interface SnapshotFinding {
  readonly state: "ok" | "note" | "wrong";
  readonly text: string;
}

/** Looks at the snapshots in `folder`: how many, when the newest was taken, whether it is whole. Reads the newest whole. */
export function examineSnapshots(folder: string): SnapshotFinding {
  const snapshots = listSnapshots(folder);
  const [newest] = snapshots;
  if (newest === undefined) {
    return { state: "note", text: "none yet; the server takes the first one when it starts" };
  }
  const bytes = snapshots.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const kept = `${snapshots.length} kept, ${describeSize(bytes)}`;
  const when = new Date(newest.takenAtMs).toISOString();
  if (isWhole(newest.path)) return { state: "ok", text: `newest from ${when}, intact; ${kept}` };
  return {
    state: "wrong",
    text:
      `the newest, from ${when}, is damaged, so a copy of this directory would start from an earlier one; ${kept}. ` +
      `Move ${newest.path} to another place; the server takes a new one. Check the disk.`,
  };
}
