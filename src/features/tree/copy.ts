/** Copies. No byte is written: a copy names the same contents, which count once for every file that names them. */
import type { Transaction, Writer } from "../../db/transaction.ts";
import { AppError, notFound } from "../../errors.ts";
import { joinPath } from "../../lib/path.ts";
import { copyBelow } from "./copy-below.ts";
import { placeFile, resolveName } from "./create.ts";
import { sumBelow } from "./delete.ts";
import { ensureFolderId, folderRow } from "./make-folder.ts";
import { nameTaken } from "./names.ts";
import { metadataToJson } from "./rows.ts";
import type { TreeStore } from "./store.ts";
import type { CopyOptions, FileNode, FolderNode, NodeRef, TreeNode } from "./types.ts";
import { refuseInside, refuseLongPath } from "./update.ts";

/** Files and folders that a copy in one deed may have: nobody else should wait longer for it (some 0.1 s). */
export const COPY_NODES_MAX = 2_000;

/** @see TreeWriter.copy */
export function copy(
  store: TreeStore,
  tx: Transaction,
  ref: NodeRef,
  destinationPath: string,
  options: CopyOptions,
): { node: TreeNode; isNew: boolean } {
  const node = store.findNode(ref);
  if (node === undefined) throw notFound("The file or folder");
  if (node.kind === "folder") return { node: copyFolder(store, tx, node, destinationPath, options), isNew: true };
  const { file, isNew } = copyFile(
    store,
    tx,
    node,
    ensureFolderId(store, tx, options.accountId ?? node.accountId, destinationPath),
    options,
  );
  return { node: file, isNew };
}

function copyFile(
  store: TreeStore,
  tx: Transaction,
  file: FileNode,
  folderId: number,
  options: CopyOptions,
): { file: FileNode; isNew: boolean } {
  store.blobs.share(file.blobId, store.clock.nowMs());
  return placeFile(store, tx, {
    ...options,
    accountId: options.accountId ?? file.accountId,
    folderId,
    name: file.name,
    content: { blobId: file.blobId, sizeBytes: file.sizeBytes, mediaType: file.mediaType },
    mediaType: file.mediaType,
    tags: options.preserveMetadata ? file.tags : [],
    metadata: options.preserveMetadata ? file.metadata : {},
    originalName: file.originalName,
    fileModifiedAt: file.fileModifiedAt ?? undefined,
    capturedAt: file.capturedAt ?? undefined,
    isPublic: false,
  });
}

function copyFolder(
  store: TreeStore,
  tx: Transaction,
  folder: FolderNode,
  destinationPath: string,
  options: CopyOptions,
): FolderNode {
  const accountId = targetAccount(folder, destinationPath, options);
  const { files, folders, fileBytes } = sumBelow(store, folder.accountId, folder.id);
  const nodes = files + folders;
  if (nodes > COPY_NODES_MAX) {
    throw new AppError(
      "invalid_request",
      `The folder holds ${nodes} files and folders; this way of copying takes at most ${COPY_NODES_MAX}.`,
      { limit: COPY_NODES_MAX, actual: nodes },
    );
  }
  const { parentId, name } = destination(store, tx, folder, destinationPath, options);
  const seq = store.accounts.take(accountId, { files, folders, fileBytes }, options.quotaBytes, tx);
  const metadata = options.preserveMetadata ? metadataToJson(folder.metadata) : null;
  const row = { ...folderRow(accountId, parentId, name, store.clock.nowMs(), seq), metadata };
  const id = store.nodes.insert(tx, row);
  store.accounts.record(accountId, seq, id);
  for (const _ of copyBelow(store, accountId, options, folder.id, id));
  store.paths.freeze();
  return store.getFolder(id);
}

/** @see TreeWriter.copyLarge */
export async function copyLarge(
  store: TreeStore,
  writer: Writer,
  ref: NodeRef,
  destinationPath: string,
  options: CopyOptions,
  deviceId: number | null,
): Promise<FolderNode> {
  const run = <T>(step: (tx: Transaction) => T, runOptions?: { readonly isRepeatable: boolean }) =>
    writer.run((tx) => store.by(deviceId, () => step(tx)), runOptions);
  const { folder, stageId } = await run(() => stage(store, ref, destinationPath, options));
  try {
    const accountId = options.accountId ?? folder.accountId;
    const steps = copyBelow(store, accountId, options, folder.id, stageId, true);
    // A step that was taken can't be taken again.
    while ((await run(() => steps.next(), { isRepeatable: false })).done !== true);
    return await run((tx) => attach(store, tx, folder, stageId, destinationPath, options));
  } finally {
    // Where it was not attached, the reaper takes it apart.
    store.underConstruction.delete(stageId);
  }
}

/** Makes the empty copy, cut off from the tree: nobody sees it before it is whole. */
function stage(
  store: TreeStore,
  ref: NodeRef,
  destinationPath: string,
  options: CopyOptions,
): { folder: FolderNode; stageId: number } {
  const folder = store.findFolder(ref);
  if (folder === undefined) throw notFound("The folder");
  const accountId = targetAccount(folder, destinationPath, options);
  const { files, folders, fileBytes } = sumBelow(store, folder.accountId, folder.id);
  // Tried, to refuse early what the last deed would refuse, and taken back: what is not attached does not count.
  store.accounts.take(accountId, { files, folders, fileBytes }, options.quotaBytes);
  const back = { numbers: 0, files: -files, folders: -folders, fileBytes: -fileBytes };
  const seq = store.accounts.take(accountId, back);
  const metadata = options.preserveMetadata ? metadataToJson(folder.metadata) : null;
  const row = { ...folderRow(accountId, null, folder.name, store.clock.nowMs(), seq), metadata };
  const stageId = store.nodes.insertUncounted(row);
  store.accounts.record(accountId, seq, stageId);
  store.underConstruction.add(stageId);
  return { folder, stageId };
}

/** Puts the whole copy into the tree, in one row, and counts it. */
function attach(
  store: TreeStore,
  tx: Transaction,
  folder: FolderNode,
  stageId: number,
  destinationPath: string,
  options: CopyOptions,
): FolderNode {
  options.admit?.();
  const accountId = options.accountId ?? folder.accountId;
  const { files, folders, fileBytes } = sumBelow(store, accountId, stageId);
  const { parentId, name } = destination(store, tx, folder, destinationPath, options);
  // Two numbers: it counts as made at the first, and the second is that of a move, at which readers meet all below it.
  const numbers = 2;
  const seq = store.accounts.take(accountId, { numbers, files, folders, fileBytes }, options.quotaBytes, tx);
  store.nodes.setCreatedSeq(stageId, seq - 1);
  store.nodes.update(tx, store.nodes.get(stageId), {
    parentId,
    name,
    originalName: null,
    modifiedAtMs: store.clock.nowMs(),
    seq,
    isPublic: false,
    tags: null,
    metadata: options.preserveMetadata ? metadataToJson(folder.metadata) : null,
  });
  store.nodes.setPathSeq(stageId, seq);
  store.accounts.record(accountId, seq, stageId);
  store.paths.freeze();
  return store.getFolder(stageId);
}

function destination(
  store: TreeStore,
  tx: Transaction,
  folder: FolderNode,
  destinationPath: string,
  options: CopyOptions,
): { parentId: number; name: string } {
  const parentId = ensureFolderId(store, tx, options.accountId ?? folder.accountId, destinationPath);
  const name = resolveName(store, tx, parentId, folder.name, options.onConflict);
  if (typeof name !== "string") throw nameTaken(folder.name);
  refuseLongPath(joinPath(destinationPath, name));
  return { parentId, name };
}

/** Whose tree a copy of a folder goes to. @throws AppError invalid_path for a folder into itself */
function targetAccount(folder: FolderNode, destinationPath: string, options: CopyOptions): number {
  const { accountId = folder.accountId } = options;
  if (accountId === folder.accountId) refuseInside(folder, destinationPath);
  return accountId;
}
