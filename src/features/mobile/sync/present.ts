import { toChecksum } from "../../../blobs/digest.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import { invariant } from "../../../lib/invariant.ts";
import { type PresentContext, presentItem } from "../../library/files/present.ts";
import type { ChangeEntry } from "../../../tree/journal/entry.ts";
import type { TreeNode } from "../../../tree/model/types.ts";
import type { SyncResult } from "./service.ts";

type Deletion = Extract<ChangeEntry, { change: "deleted" }>;

/** A page of changes with files in short form. */
export function presentStatus(result: SyncResult, conflicts: readonly unknown[]) {
  return present(result, conflicts, presentChangedFile, ({ publicId, deletedAtMs }) => ({
    id: publicId,
    deletedAt: toTimestamp(deletedAtMs),
  }));
}

/** A page of changes with full file and folder records. */
export function presentSyncData(result: SyncResult, conflicts: readonly unknown[], context: PresentContext) {
  return present(
    result,
    conflicts,
    (node) => presentItem(node, context),
    ({ publicId, kind, deletedAtMs }) => ({ id: publicId, type: kind, deletedAt: toTimestamp(deletedAtMs) }),
  );
}

function present<Changed, Deleted>(
  result: SyncResult,
  conflicts: readonly unknown[],
  presentNode: (node: TreeNode) => Changed,
  presentDeletion: (deletion: Deletion) => Deleted,
) {
  const changes = { created: [] as Changed[], updated: [] as Changed[], deleted: [] as Deleted[] };
  for (const entry of result.entries) {
    if (entry.change === "deleted") changes.deleted.push(presentDeletion(entry));
    else changes[entry.change].push(presentNode(entry.node));
  }
  return {
    lastSyncAt: result.lastSyncAtMs === undefined ? null : toTimestamp(result.lastSyncAtMs),
    hasChanges: result.entries.length > 0 || result.hasMore || result.mustReset,
    changes,
    conflicts,
    nextSyncToken: result.nextSyncToken,
    hasMore: result.hasMore,
    resetRequired: result.mustReset,
  };
}

function presentChangedFile(node: TreeNode) {
  invariant(node.kind === "file", "only files were requested");
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
