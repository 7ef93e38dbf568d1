import { toTimestamp } from "../../../lib/clock.ts";
import type { RestoredNode, RestoreOutcome, RestoreRequest, RestoreResult, RestoreSkip } from "./types.ts";

const MESSAGES: Record<RestoreSkip, string> = {
  content_gone: "The earlier version is no longer available. Restore it from a backup.",
  folder_gone: "Its earlier folder was deleted permanently, so it stays where it is.",
  inside_itself: "It can't be restored because it now contains its earlier folder. Move that folder first.",
  too_deep: "It can't be restored because its folders would be nested too deeply. Move its subfolders up first.",
  not_empty: "This new folder contains older items, so it was not removed. Review it, then delete it yourself.",
};

/** Entries per list of a response. */
const LISTED_MAX = 1_000;

/** The result of a restore or of a dry run. */
export function presentRestore(request: RestoreRequest, { outcomes, newCount, hasMore }: RestoreResult) {
  const { folderPath, atMs, isDryRun, removesNew } = request;
  const counts = { content: 0, place: 0, undelete: 0, aside: 0, remove: 0, skipped: 0, new: newCount };
  for (const one of outcomes) if (one.outcome !== "new") counts[one.outcome === "done" ? one.change : "skipped"]++;
  return {
    folder: folderPath,
    at: toTimestamp(atMs),
    dryRun: isDryRun,
    removeNew: removesNew,
    counts,
    changes: firstOf(outcomes, (one) => (one.outcome === "done" ? presentDone(one, isDryRun) : undefined)),
    skipped: firstOf(outcomes, (one) =>
      one.outcome === "skipped"
        ? { ...presentNode(one.node), reason: one.reason, message: MESSAGES[one.reason] }
        : undefined,
    ),
    new: firstOf(outcomes, (one) => (one.outcome === "new" ? presentNode(one.node) : undefined)),
    hasMore,
  };
}

function firstOf<T>(outcomes: readonly RestoreOutcome[], present: (one: RestoreOutcome) => T | undefined): T[] {
  const listed: T[] = [];
  for (const one of outcomes) {
    const record = present(one);
    if (record !== undefined) listed.push(record);
    if (listed.length === LISTED_MAX) break;
  }
  return listed;
}

function presentDone(one: Extract<RestoreOutcome, { outcome: "done" }>, isDryRun: boolean) {
  const { id, ...node } = presentNode(one.node);
  const { from, formerId, version } = one;
  return {
    // A node created by a dry run does not exist.
    id: isDryRun ? (formerId ?? id) : id,
    ...node,
    change: one.change,
    ...(from !== undefined && { from }),
    ...(formerId !== undefined && { formerId }),
    ...(version !== undefined && { version }),
  };
}

function presentNode({ publicId, isFolder, name, folder }: RestoredNode) {
  return { id: publicId, type: isFolder ? ("folder" as const) : ("file" as const), name, folder };
}
