/**
 * Copies files and folders. No bytes are written: a copy refers to the same blobs, and each file counts its blob
 * towards the quota.
 */
import { rows } from "../../db/reader.ts";
import type { Transaction, Writer } from "../../db/transaction.ts";
import { AppError, notFound } from "../../errors.ts";
import { parentPath, ROOT_PATH } from "../../lib/path.ts";
import { say } from "../../translations/say.ts";
import { attachFolder } from "./attach-folder.ts";
import { copyBelow } from "./copy-below.ts";
import { storeFile, resolveName } from "./create.ts";
import { totalsBelow } from "./delete.ts";
import { addSizes, sizeOfStep, sizeOfPath } from "../tables/heights.ts";
import { ensureFolderId, folderRow } from "./make-folder.ts";
import { nameTaken } from "../tables/names.ts";
import { metadataToJson } from "../model/rows.ts";
import type { TreeStore } from "../tables/store.ts";
import type { CopyOptions, FileNode, FolderNode, NodeRef, TreeNode } from "../model/types.ts";
import { rejectInside } from "./update.ts";

/** Files and folders in a copy that runs in one transaction (about 20 ms, during which all others wait). */
export const COPY_NODES_MAX = 400;
/** Approximate size of the database rows of a file or folder. */
const NODE_BYTES = 512;

/** The copy of a folder: what goes where, and how. */
interface FolderCopy {
  readonly folder: FolderNode;
  readonly destinationPath: string;
  readonly options: CopyOptions;
}

/** Runs a step of a large copy in a transaction of its own. */
export type RunStep = <T>(step: (tx: Transaction) => T, options?: { readonly isRepeatable: boolean }) => Promise<T>;

/** Runs steps in the name of a device, and with the lock tokens of a request. */
export function stepsOf(
  store: TreeStore,
  writer: Writer,
  {
    deviceId = null,
    lockTokens = [],
  }: { readonly deviceId?: number | null | undefined; readonly lockTokens?: readonly string[] | undefined },
): RunStep {
  return (step, options) =>
    writer.run((tx) => store.locks.withLockTokens(lockTokens, () => store.by(deviceId, () => step(tx))), options);
}

/** The totals that a copy of a folder adds to an account. */
interface CopyTotals {
  readonly files: number;
  readonly folders: number;
  readonly fileBytes: number;
}

/** @see TreeWriter.copy */
export function copy(
  store: TreeStore,
  tx: Transaction,
  ref: NodeRef,
  destinationPath: string,
  options: CopyOptions,
): { node: TreeNode; isNew: boolean } {
  const node = store.findNode(ref);
  if (node === undefined) throw notFound(say`The file or folder was not found.`);
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
  const { mediaType = file.mediaType } = options;
  store.blobs.share(file.blobId, store.clock.nowMs());
  const stored = storeFile(store, tx, {
    ...options,
    accountId: options.accountId ?? file.accountId,
    folderId,
    name: options.name ?? file.name,
    content: { blobId: file.blobId, sizeBytes: file.sizeBytes, mediaType },
    mediaType,
    tags: options.preserveMetadata ? file.tags : [],
    metadata: options.preserveMetadata ? file.metadata : {},
    originalName: file.originalName,
    fileModifiedAt: file.fileModifiedAt ?? undefined,
    capturedAt: file.capturedAt ?? undefined,
    isPublic: false,
  });
  if (options.preserveMetadata) store.properties.copy(file.id, stored.file.id);
  return stored;
}

function copyFolder(
  store: TreeStore,
  tx: Transaction,
  folder: FolderNode,
  destinationPath: string,
  options: CopyOptions,
): FolderNode {
  const accountId = options.accountId ?? folder.accountId;
  rejectEarly(store, folder, accountId, destinationPath);
  const { files: filesBelow, folders: foldersBelow } = countUpTo(store, folder.id, COPY_NODES_MAX);
  if (filesBelow + foldersBelow > COPY_NODES_MAX) {
    throw new AppError(
      "invalid_request",
      say`The folder contains more than ${COPY_NODES_MAX} files and folders. Copy its subfolders one by one.`,
      { limit: COPY_NODES_MAX },
    );
  }
  const { files, folders, fileBytes } = totalsBelow(store, folder.accountId, folder.id);
  const { parentId, name } = destination(store, tx, { folder, destinationPath, options }, folder.id);
  const seq = store.accounts.take(accountId, { files, folders, fileBytes }, options.quotaBytes, tx);
  const metadata = options.preserveMetadata ? metadataToJson(folder.metadata) : null;
  const below = store.nodes.heights.boundBelow(folder.id);
  const row = { ...folderRow(accountId, parentId, name, store.clock.nowMs(), seq), metadata, below };
  const id = store.nodes.insert(tx, row);
  store.accounts.record(accountId, seq, id);
  if (options.preserveMetadata) store.properties.copy(folder.id, id);
  for (const _ of copyBelow(store, { ...options, accountId }, folder.id, id));
  store.paths.freeze();
  return store.getFolder(id);
}

/** @see TreeWriter.copyLarge */
export async function copyLarge(
  store: TreeStore,
  writer: Writer,
  ref: NodeRef,
  destinationPath: string,
  options: CopyOptions & { readonly deviceId: number | undefined },
): Promise<FolderNode> {
  const run = stepsOf(store, writer, options);
  const source = store.findFolder(ref);
  if (source === undefined) throw notFound(say`The folder was not found.`);
  const expected = await countBelow(store, source.id);
  const release = options.reserveSpace?.((expected.files + expected.folders) * NODE_BYTES);
  let stageId: number | undefined;
  try {
    const staged = await run(() => stage(store, ref, destinationPath, options, expected));
    const { folder } = staged;
    ({ stageId } = staged);
    const accountId = options.accountId ?? folder.accountId;
    const steps = copyBelow(store, { ...options, accountId }, folder.id, stageId, true);
    // A step that ran cannot run again.
    let step = await run(() => steps.next(), { isRepeatable: false });
    while (step.done !== true) step = await run(() => steps.next(), { isRepeatable: false });
    const copied = step.value;
    return await run((tx) => attach(store, tx, { folder, destinationPath, options }, staged.stageId, copied));
  } finally {
    // If it was not attached, `reapSome` deletes it.
    if (stageId !== undefined) store.underConstruction.delete(stageId);
    release?.();
  }
}

/**
 * Counts the files below a folder, and the folders with the folder itself, until there are more than `max` together.
 * Reads no more rows than that.
 */
export function countUpTo(store: TreeStore, folderId: number, max: number): { files: number; folders: number } {
  const counts = store.sqlite.query<{ folders: number; files: number }, [number]>(
    "SELECT child_folders AS folders, child_files AS files FROM folders WHERE node_id = ?1",
  );
  const foldersIn = store.sqlite.query<{ id: number }, [number]>(
    "SELECT id FROM nodes INDEXED BY nodes_name WHERE parent_id = ?1 AND kind = 0",
  );
  const total = { files: 0, folders: 1 };
  const isBounded = () => total.files + total.folders <= max;
  const queued = [folderId];
  for (let id = queued.pop(); id !== undefined && isBounded(); id = queued.pop()) {
    const { folders = 0, files = 0 } = counts.get(id) ?? {};
    total.files += files;
    total.folders += folders;
    if (folders > 0 && isBounded()) queued.push(...foldersIn.all(id).map((child) => child.id));
  }
  return total;
}

/** Counts a folder and everything below it, off the event loop. */
async function countBelow(store: TreeStore, folderId: number): Promise<CopyTotals> {
  const subtree = `WITH RECURSIVE s(id) AS (SELECT ?1 UNION ALL
    SELECT n.id FROM s JOIN nodes n INDEXED BY nodes_name ON n.parent_id = s.id AND n.kind = 0)`;
  const [folders, files] = await store.reader.read([
    rows<{ count: number }>(`${subtree} SELECT count(*) AS count FROM s`, [folderId]),
    rows<{ count: number; bytes: number }>(
      `${subtree} SELECT count(*) AS count, ifnull(sum(n.size_bytes), 0) AS bytes
       FROM s CROSS JOIN nodes n INDEXED BY nodes_size ON n.parent_id = s.id AND n.kind = 1`,
      [folderId],
    ),
  ]);
  return { folders: folders[0]?.count ?? 0, files: files[0]?.count ?? 0, fileBytes: files[0]?.bytes ?? 0 };
}

/** Creates the empty copy, cut off from the tree: it is not visible until it is complete. */
function stage(
  store: TreeStore,
  ref: NodeRef,
  destinationPath: string,
  options: CopyOptions,
  { files, folders, fileBytes }: CopyTotals,
): { folder: FolderNode; stageId: number } {
  const folder = store.findFolder(ref);
  if (folder === undefined) throw notFound(say`The folder was not found.`);
  const accountId = options.accountId ?? folder.accountId;
  rejectEarly(store, folder, accountId, destinationPath);
  // Takes the quota and gives it back, to reject early what the last transaction would reject: an unattached copy does
  // not count.
  store.accounts.take(accountId, { files, folders, fileBytes }, options.quotaBytes);
  const back = { numbers: 0, files: -files, folders: -folders, fileBytes: -fileBytes };
  const seq = store.accounts.take(accountId, back);
  const metadata = options.preserveMetadata ? metadataToJson(folder.metadata) : null;
  const below = store.nodes.heights.boundBelow(folder.id);
  const row = { ...folderRow(accountId, null, folder.name, store.clock.nowMs(), seq), metadata, below };
  const stageId = store.nodes.insertUncounted(row);
  store.accounts.record(accountId, seq, stageId);
  if (options.preserveMetadata) store.properties.copy(folder.id, stageId);
  store.underConstruction.add(stageId);
  return { folder, stageId };
}

/** Rejects early what the target folder would reject at the end. Creates nothing. */
function rejectEarly(store: TreeStore, folder: FolderNode, accountId: number, destinationPath: string): void {
  let path = destinationPath;
  let id = store.paths.findId(accountId, path);
  while (id === undefined && path !== ROOT_PATH) {
    path = parentPath(path);
    id = store.paths.findId(accountId, path);
  }
  if (id !== undefined) {
    if (accountId === folder.accountId) rejectInside(store, folder, id, destinationPath);
    store.locks.requireUnlocked(accountId, id);
  }
  store.nodes.heights.rejectTooDeepPath(folder.id, addSizes(sizeOfPath(destinationPath), sizeOfStep(folder.name)));
}

/** Attaches the complete copy to the tree, in one row, and counts it. */
function attach(
  store: TreeStore,
  tx: Transaction,
  copying: FolderCopy,
  stageId: number,
  totals: CopyTotals,
): FolderNode {
  const { folder, options } = copying;
  options.admit?.(tx);
  const accountId = options.accountId ?? folder.accountId;
  const { parentId, name } = destination(store, tx, copying, stageId);
  const metadata = options.preserveMetadata ? metadataToJson(folder.metadata) : null;
  return attachFolder(store, tx, stageId, {
    accountId,
    parentId,
    name,
    metadata,
    totals,
    quotaBytes: options.quotaBytes,
  });
}

/** @param reachId the folder whose depth counts: the source or, at the end, its copy */
function destination(
  store: TreeStore,
  tx: Transaction,
  { folder, destinationPath, options }: FolderCopy,
  reachId: number,
): { parentId: number; name: string } {
  const accountId = options.accountId ?? folder.accountId;
  const parentId = ensureFolderId(store, tx, accountId, destinationPath);
  if (accountId === folder.accountId) rejectInside(store, folder, parentId, destinationPath);
  const requestedName = options.name ?? folder.name;
  const name = resolveName(store, tx, parentId, requestedName, options.onConflict);
  if (typeof name !== "string") throw nameTaken(requestedName);
  store.nodes.heights.rejectTooDeep(reachId, parentId, name);
  store.locks.requireUnlocked(accountId, parentId);
  return { parentId, name };
}
