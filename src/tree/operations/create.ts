import type { Transaction } from "../../db/transaction.ts";
import { newId } from "../../lib/id.ts";
import { AppError } from "../../errors.ts";
import { joinPath } from "../../lib/path.ts";
import { say } from "../../translations/say.ts";
import { addSizes, PATH_BYTES_MAX, rejectTooLong, sizeOfStep } from "../tables/heights.ts";
import { ensureFolderId, insertFolder } from "./make-folder.ts";
import { nameTaken } from "../tables/names.ts";
import { FILE, metadataToJson, tagsToJson } from "../model/rows.ts";
import type { TreeStore } from "../tables/store.ts";
import type { FileNode, FolderNode, NewFile, NewFolder, OnConflict } from "../model/types.ts";
import { fingerprint, locationOf, subjectOf } from "../tables/undo.ts";
import { applyFileChanges } from "./update.ts";
import { addVersion, type Content } from "../tables/versions.ts";

/** A file to be stored in a folder, with new or copied content. */
interface FilePlacement extends Omit<NewFile, "blob" | "folderPath"> {
  readonly folderId: number;
  readonly content: Content;
}

/** @see TreeWriter.createFolder */
export function createFolder(store: TreeStore, tx: Transaction, input: NewFolder): FolderNode {
  const { accountId, parentPath, name, metadata } = input;
  if (Buffer.byteLength(joinPath(parentPath, name)) > PATH_BYTES_MAX) {
    const message = say`The path is longer than ${PATH_BYTES_MAX} bytes in UTF-8. Choose a folder at a higher level.`;
    throw new AppError("invalid_path", message, { field: "folder" });
  }
  const parentId = ensureFolderId(store, tx, accountId, parentPath);
  if (store.names.find(parentId, name) !== undefined) throw nameTaken(name);
  rejectTooLong(addSizes(store.nodes.heights.sizeOfPathTo(parentId), sizeOfStep(name)));
  const folder = store.getFolder(
    insertFolder(store, tx, { accountId, parentId, name, metadata: metadataToJson(metadata) }),
  );
  store.emitFolderEvent(tx, "folder.created", folder);
  return folder;
}

/** @see TreeWriter.createFile */
export function createFile(store: TreeStore, tx: Transaction, input: NewFile): { file: FileNode; isNew: boolean } {
  const { blob, folderPath, mediaType, ...rest } = input;
  const folderId = ensureFolderId(store, tx, input.accountId, folderPath);
  const blobId = store.blobs.acquire(blob, store.clock.nowMs());
  return storeFile(store, tx, {
    ...rest,
    mediaType,
    folderId,
    content: { blobId, sizeBytes: blob.sizeBytes, mediaType },
  });
}

/** Stores a file in a folder, under its name or as `onConflict` says. */
export function storeFile(store: TreeStore, tx: Transaction, input: FilePlacement): { file: FileNode; isNew: boolean } {
  const { accountId, folderId, content, createdBy, quotaBytes, originalName = input.name } = input;
  const target = resolveName(store, tx, folderId, input.name, input.onConflict);
  if (typeof target !== "string") {
    addVersion(store, tx, store.nodes.get(target.fileId), { ...input, ...content, createdBy, quotaBytes });
    // Tags and metadata given with the new content replace those of the file; without any, those of the file stay.
    const tags = input.tags.length > 0 ? input.tags : undefined;
    const changes = { tags, metadata: input.metadata, isPublic: input.isPublic ? true : undefined };
    return { file: applyFileChanges(store, tx, store.getFile(target.fileId), changes), isNew: false };
  }
  store.locks.requireUnlocked(accountId, folderId);
  const nowMs = store.clock.nowMs();
  const seq = store.accounts.take(accountId, { files: 1, fileBytes: content.sizeBytes }, quotaBytes, tx);
  const id = store.nodes.insert(tx, {
    publicId: newId("file", nowMs),
    accountId,
    parentId: folderId,
    kind: FILE,
    name: target,
    createdAtMs: nowMs,
    modifiedAtMs: nowMs,
    seq,
    sizeBytes: content.sizeBytes,
    mediaType: content.mediaType,
    blobId: content.blobId,
    contentBy: createdBy,
    contentDeviceId: store.actorDeviceId,
    originalName: originalName === target ? null : originalName,
    fileModifiedAt: input.fileModifiedAt ?? null,
    capturedAt: input.capturedAt ?? null,
    isPublic: input.isPublic,
    tags: tagsToJson(input.tags),
    metadata: metadataToJson(input.metadata),
  });
  store.accounts.record(accountId, seq, id);
  store.accounts.countType(accountId, content.mediaType, 1, content.sizeBytes);
  store.tags.add(accountId, id, input.tags);
  store.deletions.forget(accountId, content.blobId);
  const file = store.getFile(id);
  store.undo.note(subjectOf(file, seq, "create"), () => ({
    placeTo: locationOf(file),
    labelsTo: fingerprint(file),
    contentTo: file.version,
  }));
  store.emitFileEvent(tx, "file.created", file);
  return { file, isNew: true };
}

/**
 * The name of a new node in a folder, or the file that gets a new version.
 * @throws AppError name_taken
 */
export function resolveName(
  store: TreeStore,
  tx: Transaction,
  folderId: number,
  name: string,
  onConflict: OnConflict,
): string | { readonly fileId: number } {
  const holder = store.names.find(folderId, name);
  if (holder === undefined) return name;
  if (onConflict === "rename") return store.names.numbered(tx, folderId, name);
  if (onConflict === "version" && holder.kind === FILE) return { fileId: holder.id };
  throw nameTaken(name);
}
