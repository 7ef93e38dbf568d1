/** The state of the snapshots, for `larder doctor`. */
import { describeSize } from "../../../config/quantities.ts";
import { isWhole, listSnapshots } from "../../../db/snapshot.ts";

/**
 * A sentence and a state: `note` if there is no snapshot yet, `wrong` if a copy of the directory would be
 * affected.
 */
interface SnapshotFinding {
  readonly state: "ok" | "note" | "wrong";
  readonly text: string;
}

/** Checks the snapshots in `folder`: their number, and the time and integrity of the newest, which is read whole. */
export function examineSnapshots(folder: string): SnapshotFinding {
  const snapshots = listSnapshots(folder);
  const [newest] = snapshots;
  if (newest === undefined) {
    return { state: "note", text: "none yet; the server takes the first one when it starts" };
  }
  const bytes = snapshots.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const summary = `${snapshots.length} kept, ${describeSize(bytes)}`;
  const when = new Date(newest.takenAtMs).toISOString();
  if (isWhole(newest.path)) return { state: "ok", text: `newest from ${when}, intact; ${summary}` };
  return {
    state: "wrong",
    text:
      `the newest, from ${when}, is damaged, so a copy of this directory would start from an earlier one; ${summary}. ` +
      `Move ${newest.path} to another place; the server takes a new one. Check the disk.`,
  };
}
