import type { Transaction } from "../../db/transaction.ts";
import type { FolderNode } from "../model/types.ts";
import type { TreeStore } from "../tables/store.ts";

/** Where a complete folder is attached, and what it adds to the account. */
interface FolderAttachment {
  readonly accountId: number;
  readonly parentId: number;
  readonly name: string;
  /** As JSON; null for none. */
  readonly metadata: string | null;
  readonly totals: { readonly files: number; readonly folders: number; readonly fileBytes: number };
  readonly quotaBytes: number | null;
}

/**
 * Attaches a folder that was built outside the tree, with everything in it, in one row, and counts it.
 * @throws AppError quota_exceeded
 */
export function attachFolder(
  store: TreeStore,
  tx: Transaction,
  folderId: number,
  { accountId, parentId, name, metadata, totals, quotaBytes }: FolderAttachment,
): FolderNode {
  // Two journal numbers: it is created at the first. The second is that of a move, at which readers emit all below it.
  const seq = store.accounts.take(accountId, { numbers: 2, ...totals }, quotaBytes, tx);
  store.nodes.setCreatedSeq(folderId, seq - 1);
  store.nodes.update(tx, store.nodes.get(folderId), {
    parentId,
    name,
    originalName: null,
    modifiedAtMs: store.clock.nowMs(),
    seq,
    isPublic: false,
    tags: null,
    metadata,
  });
  store.nodes.setPathSeq(folderId, seq);
  store.accounts.record(accountId, seq, folderId);
  store.paths.freeze();
  return store.getFolder(folderId);
}
