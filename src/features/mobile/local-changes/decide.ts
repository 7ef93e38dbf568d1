/**
 * What is to become of one change that a device brings: the rules of contract §7, `POST sync/files`, and nothing else.
 * Pure over a {@link ServerState}, which is asked only for what a rule needs.
 */
import type { Digest } from "../../../blobs/digest.ts";
import { AppError, invalidField, notFound } from "../../../errors.ts";
import { ROOT_PATH } from "../../../lib/path.ts";
import type { ConflictType } from "../conflicts/types.ts";
import type { LocalChange } from "../mass-change/types.ts";
import { nameTaken } from "../../../tree/tables/names.ts";
import type { FileNode } from "../../../tree/model/types.ts";

/** What the rules need to know of a file. */
export type KnownFile = Pick<FileNode, "id" | "publicId" | "name" | "folder" | "digest" | "sizeBytes" | "seq">;

/** The account as it stands within the deed. */
export interface ServerState {
  findFile(fileId: string): KnownFile | undefined;
  /** Whether this id was a file of the account's that is gone. */
  wasFile(fileId: string): boolean;
  findFileNamed(folder: string, name: string): KnownFile | undefined;
  hasFolder(folder: string, name: string): boolean;
  /** Public id of a file of the account that has this content, where another can be made of it. */
  findHolder(digest: Digest, sizeBytes: number | undefined): string | undefined;
  /** Whether the server read this content again and found other bytes, or none. */
  isDamaged(digest: Digest): boolean;
  /** Whether the account deleted the last file with this content. */
  wasDeleted(digest: Digest): boolean;
  /** Whether anybody but the device changed the file after this journal number. */
  isChangedByOthers(file: KnownFile, sinceSeq: number): boolean;
  /** Why a file of this size can't be taken by the plan, or, with `isNew`, by the quota. */
  rejectionOf(sizeBytes: number, isNew: boolean): AppError | undefined;
}

/** What is to be done. */
export type Decision =
  | { readonly do: "nothing"; readonly status: "applied" | "already_stored"; readonly fileId: string }
  | { readonly do: "create"; readonly digest: Digest; readonly folder: string; readonly name: string }
  | { readonly do: "replace"; readonly file: KnownFile; readonly digest: Digest }
  | { readonly do: "place"; readonly file: KnownFile; readonly folder: string; readonly name: string }
  | { readonly do: "delete"; readonly file: KnownFile }
  | { readonly do: "ask"; readonly fileId: string | undefined }
  | {
      readonly do: "conflict";
      readonly type: ConflictType;
      readonly fileId: string;
      readonly remoteFileId: string;
    }
  | { readonly do: "reject"; readonly error: AppError };

/** Decides one change. */
export function decide(change: LocalChange, serverState: ServerState): Decision {
  switch (change.action) {
    case "upload":
      return decideUpload(change, serverState);
    case "update":
      return decideUpdate(change, serverState);
    case "rename":
    case "move":
      return decidePlace(change, serverState);
    case "delete":
      return decideDelete(change, serverState);
  }
}

/** Whether the file is another than the device knew: by its base where it tells one, else by the journal. */
export function isChanged(change: LocalChange, file: KnownFile, serverState: ServerState): boolean {
  const { baseDigest, sinceSeq } = change;
  if (baseDigest !== undefined) return baseDigest !== file.digest;
  return sinceSeq !== undefined && serverState.isChangedByOthers(file, sinceSeq);
}

function decideUpload(change: LocalChange, serverState: ServerState): Decision {
  const { name, folder = ROOT_PATH, digest, baseDigest, sizeBytes, fileId } = change;
  if (name === undefined) return missing("name");
  const holder = serverState.findFileNamed(folder, name);
  if (holder !== undefined) {
    if (holder.digest === digest) return stored(holder, serverState);
    // The device knows the file that is there, by its id or by a content: what it sends is its next content.
    const isKnown = fileId === undefined ? baseDigest !== undefined : fileId === holder.publicId;
    if (isKnown) return decideUpdate({ ...change, fileId: holder.publicId }, serverState);
  }
  const tooMuch = sizeBytes === undefined ? undefined : serverState.rejectionOf(sizeBytes, false);
  if (tooMuch !== undefined) return { do: "reject", error: tooMuch };
  const held = digest && serverState.findHolder(digest, sizeBytes);
  // A backup's picture is stored once: what a person moved elsewhere doesn't come back to where the camera put it.
  if (change.isAutomatic === true && held !== undefined) {
    return { do: "nothing", status: "already_stored", fileId: held };
  }
  if (holder !== undefined) {
    // Cameras give a name again and again: a backup's picture goes beside the other, under a numbered name.
    if (change.isAutomatic !== true) return nameConflict(holder.publicId, holder);
  } else if (serverState.hasFolder(folder, name)) return { do: "reject", error: nameTaken(name) };
  else if (digest !== undefined && held !== undefined) return { do: "create", digest, folder, name };
  if (digest !== undefined && change.isAutomatic === true && serverState.wasDeleted(digest)) {
    return { do: "reject", error: deletedByYou() };
  }
  const overQuota = sizeBytes === undefined ? undefined : serverState.rejectionOf(sizeBytes, true);
  return overQuota === undefined ? { do: "ask", fileId: undefined } : { do: "reject", error: overQuota };
}

function decideUpdate(change: LocalChange, serverState: ServerState): Decision {
  const { digest, sizeBytes } = change;
  const found = findFile(change, serverState);
  if ("do" in found) return found;
  const { file } = found;
  if (file.digest === digest) return stored(file, serverState);
  const tooMuch = sizeBytes === undefined ? undefined : serverState.rejectionOf(sizeBytes, false);
  if (tooMuch !== undefined) return { do: "reject", error: tooMuch };
  // A content that became nothing is more often a fault of the device than a wish (D11).
  const isEmptied = file.sizeBytes > 0 && (sizeBytes === 0 || digest === EMPTY_DIGEST);
  if (isEmptied || isChanged(change, file, serverState)) return conflict("modified", file);
  if (digest !== undefined && serverState.findHolder(digest, sizeBytes) !== undefined) {
    return { do: "replace", file, digest };
  }
  const overQuota = sizeBytes === undefined ? undefined : serverState.rejectionOf(sizeBytes, true);
  return overQuota === undefined ? { do: "ask", fileId: file.publicId } : { do: "reject", error: overQuota };
}

function decidePlace(change: LocalChange, serverState: ServerState): Decision {
  const isRename = change.action === "rename";
  if (isRename && change.name === undefined) return missing("name");
  if (!isRename && change.folder === undefined) return missing("folder");
  const found = findFile(change, serverState);
  if ("do" in found) return found;
  const { file } = found;
  const name = isRename ? (change.name ?? file.name) : file.name;
  const folder = isRename ? file.folder : (change.folder ?? file.folder);
  if (name === file.name && folder === file.folder) return { do: "nothing", status: "applied", fileId: file.publicId };
  if (isChanged(change, file, serverState)) return conflict("modified", file);
  const holder = serverState.findFileNamed(folder, name);
  if (holder !== undefined) return nameConflict(file.publicId, holder);
  if (serverState.hasFolder(folder, name)) return { do: "reject", error: nameTaken(name) };
  return { do: "place", file, folder, name };
}

function decideDelete(change: LocalChange, serverState: ServerState): Decision {
  const { fileId } = change;
  if (fileId === undefined) return missing("fileId");
  const file = serverState.findFile(fileId);
  if (file === undefined) {
    if (serverState.wasFile(fileId)) return { do: "nothing", status: "applied", fileId };
    return { do: "reject", error: notFound("The file") };
  }
  return isChanged(change, file, serverState) ? conflict("modified", file) : { do: "delete", file };
}

/** The file that a change is about, or what follows from its absence. */
function findFile({ fileId }: LocalChange, serverState: ServerState): { readonly file: KnownFile } | Decision {
  if (fileId === undefined) return missing("fileId");
  const file = serverState.findFile(fileId);
  if (file !== undefined) return { file };
  if (serverState.wasFile(fileId)) return { do: "conflict", type: "deleted", fileId, remoteFileId: fileId };
  return { do: "reject", error: notFound("The file") };
}

/** The file has these bytes already. Where the server's copy of them was damaged, it needs the device's (D10). */
function stored({ publicId, digest }: KnownFile, serverState: ServerState): Decision {
  if (serverState.isDamaged(digest)) return { do: "ask", fileId: publicId };
  return { do: "nothing", status: "already_stored", fileId: publicId };
}

/** sha256 of no bytes. */
const EMPTY_DIGEST = new Bun.CryptoHasher("sha256").digest("hex");

function conflict(type: ConflictType, file: KnownFile): Decision {
  return { do: "conflict", type, fileId: file.publicId, remoteFileId: file.publicId };
}

function nameConflict(fileId: string, holder: KnownFile): Decision {
  return { do: "conflict", type: "name", fileId, remoteFileId: holder.publicId };
}

function missing(field: string): Decision {
  return { do: "reject", error: invalidField(field, `This action requires ${field}. Send it with the change.`) };
}

/** D25: what a person deleted doesn't come back by itself. */
function deletedByYou(): AppError {
  return new AppError(
    "deleted_by_you",
    "You deleted this file on the server, so it is not backed up again. To restore it, upload it yourself.",
  );
}
