import { toChecksum } from "../../../blobs/digest.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import { invariant } from "../../../lib/invariant.ts";
import { type PresentContext, presentItem } from "../../library/files/present.ts";
import type { ChangeEntry } from "../../../tree/journal/entry.ts";
import type { TreeNode } from "../../../tree/model/types.ts";
import type { SyncResult } from "./service.ts";

type Deletion = Extract<ChangeEntry, { change: "deleted" }>;

/** An entry of the list of changes: a file in short form. */
export function presentStatus(answer: SyncResult, conflicts: readonly unknown[]) {
  return present(answer, conflicts, presentChangedFile, ({ publicId, deletedAtMs }) => ({
    id: publicId,
    deletedAt: toTimestamp(deletedAtMs),
  }));
}

/** Contract §7: the entries as full File and Folder items. */
export function presentSyncData(answer: SyncResult, conflicts: readonly unknown[], context: PresentContext) {
  return present(
    answer,
    conflicts,
    (node) => presentItem(node, context),
    ({ publicId, kind, deletedAtMs }) => ({ id: publicId, type: kind, deletedAt: toTimestamp(deletedAtMs) }),
  );
}

function present<Changed, Deleted>(
  answer: SyncResult,
  conflicts: readonly unknown[],
  presentNode: (node: TreeNode) => Changed,
  presentDeletion: (deletion: Deletion) => Deleted,
) {
  const changes = { created: [] as Changed[], updated: [] as Changed[], deleted: [] as Deleted[] };
  for (const entry of answer.entries) {
    if (entry.change === "deleted") changes.deleted.push(presentDeletion(entry));
    else changes[entry.change].push(presentNode(entry.node));
  }
  return {
    lastSyncAt: answer.lastSyncAtMs === undefined ? null : toTimestamp(answer.lastSyncAtMs),
    hasChanges: answer.entries.length > 0 || answer.hasMore || answer.mustReset,
    changes,
    conflicts,
    nextSyncToken: answer.nextSyncToken,
    hasMore: answer.hasMore,
    resetRequired: answer.mustReset,
  };
}

function presentChangedFile(node: TreeNode) {
  invariant(node.kind === "file", "only files were asked for");
  const { publicId, name, folder, sizeBytes, modifiedAtMs, digest } = node;
  return {
    id: publicId,
    name,
    folder,
    size: sizeBytes,
    modifiedAt: toTimestamp(modifiedAtMs),
    checksum: toChecksum(digest),
  };
}
