import type { Snapshot } from "../../../db/snapshot.ts";

/** What is kept of many snapshots. */
export interface Keeping {
  /** Older ones go. */
  readonly maxAgeMs: number;
  /** What all together may take. */
  readonly maxBytes: number;
  readonly maxCount: number;
}

/** The newest are kept whatever they take: a slow copy of the directory needs the one from before it began. */
const NEWEST_RETAINED = 3;

/**
 * Which snapshots may go. What is left lies the further apart the older it is: each time the one goes whose neighbours are
 * nearest to each other for their age. Pure.
 * @param snapshots newest first
 */
export function chooseSuperfluous(snapshots: readonly Snapshot[], nowMs: number, keeping: Keeping): Snapshot[] {
  const superfluous: Snapshot[] = [];
  const kept: Snapshot[] = [];
  for (const [index, snapshot] of snapshots.entries()) {
    const isOld = index >= NEWEST_RETAINED && snapshot.takenAtMs < nowMs - keeping.maxAgeMs;
    (isOld ? superfluous : kept).push(snapshot);
  }
  let bytes = kept.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  while (kept.length > NEWEST_RETAINED && (kept.length > keeping.maxCount || bytes > keeping.maxBytes)) {
    const [gone] = kept.splice(densest(kept, nowMs), 1);
    if (gone === undefined) break;
    bytes -= gone.sizeBytes;
    superfluous.push(gone);
  }
  return superfluous;
}

/** The place of the snapshot that is missed least. The oldest is the last to go: only it reaches so far back. */
function densest(kept: readonly Snapshot[], nowMs: number): number {
  let best = kept.length - 1;
  let bestGap = Number.POSITIVE_INFINITY;
  for (let index = NEWEST_RETAINED; index < kept.length - 1; index++) {
    const [newer, at, older] = [kept[index - 1], kept[index], kept[index + 1]];
    if (newer === undefined || at === undefined || older === undefined) continue;
    const gap = (newer.takenAtMs - older.takenAtMs) / Math.max(1, nowMs - at.takenAtMs);
    if (gap < bestGap) [best, bestGap] = [index, gap];
  }
  return best;
}
