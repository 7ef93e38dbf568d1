import type { Snapshot } from "../../../db/snapshot.ts";

/** Limits of stored snapshots. */
interface SnapshotLimits {
  /** Older ones are deleted. */
  readonly maxAgeMs: number;
  /** Total size. */
  readonly maxBytes: number;
  readonly maxCount: number;
}

/** The newest are always retained: a slow copy of the directory needs the one from before it began. */
const NEWEST_RETAINED = 3;

/**
 * Chooses snapshots to delete. The intervals between the rest grow with age: each time the snapshot is chosen whose
 * neighbors are closest to each other, relative to its age. Pure.
 * @param snapshots newest first
 */
export function chooseSuperfluous(snapshots: readonly Snapshot[], nowMs: number, limits: SnapshotLimits): Snapshot[] {
  const superfluous: Snapshot[] = [];
  const retained: Snapshot[] = [];
  for (const [index, snapshot] of snapshots.entries()) {
    const isOld = index >= NEWEST_RETAINED && snapshot.takenAtMs < nowMs - limits.maxAgeMs;
    (isOld ? superfluous : retained).push(snapshot);
  }
  let bytes = retained.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  while (retained.length > NEWEST_RETAINED && (retained.length > limits.maxCount || bytes > limits.maxBytes)) {
    const [gone] = retained.splice(densest(retained, nowMs), 1);
    if (gone === undefined) break;
    bytes -= gone.sizeBytes;
    superfluous.push(gone);
  }
  return superfluous;
}

/** Index of the snapshot with the closest neighbors. The oldest one is chosen last: no other reaches so far back. */
function densest(retained: readonly Snapshot[], nowMs: number): number {
  let best = retained.length - 1;
  let bestGap = Number.POSITIVE_INFINITY;
  for (let index = NEWEST_RETAINED; index < retained.length - 1; index++) {
    const [newer, at, older] = [retained[index - 1], retained[index], retained[index + 1]];
    if (newer === undefined || at === undefined || older === undefined) continue;
    const gap = (newer.takenAtMs - older.takenAtMs) / Math.max(1, nowMs - at.takenAtMs);
    if (gap < bestGap) [best, bestGap] = [index, gap];
  }
  return best;
}
