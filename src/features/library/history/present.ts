import { toTimestamp } from "../../../lib/clock.ts";
import { translateMessage } from "../../../translations/error-texts.ts";
import { type Message, say } from "../../../translations/say.ts";
import type { RestoredNode, RestoreOutcome, RestoreRequest, RestoreResult, RestoreSkip } from "./types.ts";

const MESSAGES: Record<RestoreSkip, Message> = {
  content_gone: say`The earlier version is no longer available. Restore it from a backup.`,
  folder_gone: say`Its earlier folder was deleted permanently, so it stays where it is.`,
  inside_itself: say`It can't be restored because it now contains its earlier folder. Move that folder first.`,
  too_deep: say`It can't be restored because its folders would be nested too deeply. Move its subfolders up first.`,
  locked: say`A program has locked it. Close it there, or end the lock in Settings, then restore again.`,
  not_empty: say`This new folder contains older items, so it was not removed. Review it, then delete it yourself.`,
};

/** Entries per list of a response. */
const LISTED_MAX = 1_000;

/** The result of a restore or of a dry run. @param language of its messages */
export function presentRestore(
  request: RestoreRequest,
  { outcomes, newCount, hasMore }: RestoreResult,
  language: string,
) {
  const { folderPath, atMs, isDryRun, removesNew } = request;
  const counts = { content: 0, place: 0, undelete: 0, aside: 0, remove: 0, skipped: 0, new: newCount };
  for (const entry of outcomes)
    if (entry.outcome !== "new") counts[entry.outcome === "done" ? entry.change : "skipped"]++;
  return {
    folder: folderPath,
    at: toTimestamp(atMs),
    dryRun: isDryRun,
    removeNew: removesNew,
    counts,
    changes: presentFirst(outcomes, (entry) => (entry.outcome === "done" ? presentDone(entry, isDryRun) : undefined)),
    skipped: presentFirst(outcomes, (entry) =>
      entry.outcome === "skipped"
        ? {
            ...presentNode(entry.node),
            reason: entry.reason,
            message: translateMessage(MESSAGES[entry.reason], language),
          }
        : undefined,
    ),
    new: presentFirst(outcomes, (entry) => (entry.outcome === "new" ? presentNode(entry.node) : undefined)),
    hasMore,
  };
}

function presentFirst<T>(outcomes: readonly RestoreOutcome[], present: (entry: RestoreOutcome) => T | undefined): T[] {
  const listed: T[] = [];
  for (const entry of outcomes) {
    const record = present(entry);
    if (record !== undefined) listed.push(record);
    if (listed.length === LISTED_MAX) break;
  }
  return listed;
}

function presentDone(entry: Extract<RestoreOutcome, { outcome: "done" }>, isDryRun: boolean) {
  const { id, ...node } = presentNode(entry.node);
  const { from, formerId, version } = entry;
  return {
    // A node created by a dry run does not exist.
    id: isDryRun ? (formerId ?? id) : id,
    ...node,
    change: entry.change,
    ...(from !== undefined && { from }),
    ...(formerId !== undefined && { formerId }),
    ...(version !== undefined && { version }),
  };
}

function presentNode({ publicId, isFolder, name, folder }: RestoredNode) {
  return { id: publicId, type: isFolder ? ("folder" as const) : ("file" as const), name, folder };
}
