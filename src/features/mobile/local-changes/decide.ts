/**
 * The rules of `POST sync/files`: decides what happens with one change of a device. Pure functions over a
 * {@link ServerState}, which is queried only for what a rule needs.
 */
import type { Digest } from "../../../blobs/digest.ts";
import { AppError, invalidField, notFound } from "../../../errors.ts";
import { ROOT_PATH } from "../../../lib/path.ts";
import type { ConflictType } from "../conflicts/types.ts";
import type { LocalChange } from "../mass-change/types.ts";
import { nameTaken } from "../../../tree/tables/names.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";

/** The properties of a file that the rules need. */
export type KnownFile = Pick<FileNode, "id" | "publicId" | "name" | "folder" | "digest" | "sizeBytes" | "seq">;

/** The state of the account inside the transaction. */
export interface ServerState {
  findFile(fileId: string): KnownFile | undefined;
  /** Whether this id belonged to a deleted file of the account. */
  wasFile(fileId: string): boolean;
  findFileNamed(folder: string, name: string): KnownFile | undefined;
  hasFolder(folder: string, name: string): boolean;
  /** Public id of a file of the account with this content, if it can be used for another file. */
  findFileWithContent(digest: Digest, sizeBytes: number | undefined): string | undefined;
  /** Whether the server found this blob damaged or missing. */
  isDamaged(digest: Digest): boolean;
  /** Whether the account deleted the last file with this content. */
  wasDeleted(digest: Digest): boolean;
  /** Whether someone else than the device changed the file after this journal number. */
  isChangedByOthers(file: KnownFile, sinceSeq: number): boolean;
  /** Why the plan does not allow a file of this size, or, with `isNew`, the quota. */
  rejectionOf(sizeBytes: number, isNew: boolean): AppError | undefined;
}

/** What happens with a change. */
export type Decision =
  | { readonly do: "nothing"; readonly status: "applied" | "already_stored"; readonly fileId: string }
  | { readonly do: "create"; readonly digest: Digest; readonly folder: string; readonly name: string }
  | { readonly do: "replace"; readonly file: KnownFile; readonly digest: Digest }
  | { readonly do: "move"; readonly file: KnownFile; readonly folder: string; readonly name: string }
  | { readonly do: "delete"; readonly file: KnownFile }
  | { readonly do: "request_content"; readonly fileId: string | undefined }
  | {
      readonly do: "conflict";
      readonly type: ConflictType;
      readonly fileId: string;
      readonly remoteFileId: string;
    }
  | { readonly do: "reject"; readonly error: AppError };

/** Decides what happens with one change. */
export function decide(change: LocalChange, serverState: ServerState): Decision {
  switch (change.action) {
    case "upload":
      return decideUpload(change, serverState);
    case "update":
      return decideUpdate(change, serverState);
    case "rename":
    case "move":
      return decideMove(change, serverState);
    case "delete":
      return decideDelete(change, serverState);
  }
}

/**
 * Whether the file differs from what the device knew: by the base digest if the change has one, otherwise by the
 * journal.
 */
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
    // The device knows the existing file by id or content, so this is its next version.
    const isKnown = fileId === undefined ? baseDigest !== undefined : fileId === holder.publicId;
    if (isKnown) return decideUpdate({ ...change, fileId: holder.publicId }, serverState);
  }
  const sizeError = sizeBytes === undefined ? undefined : serverState.rejectionOf(sizeBytes, false);
  if (sizeError !== undefined) return { do: "reject", error: sizeError };
  const existing = digest && serverState.findFileWithContent(digest, sizeBytes);
  // A backup stores a photo once: if a person moved it, it must not appear again where the camera saved it.
  if (change.isAutomatic === true && existing !== undefined) {
    return { do: "nothing", status: "already_stored", fileId: existing };
  }
  if (holder !== undefined) {
    // Cameras reuse names, so a backup stores the photo next to the other one, under a numbered name.
    if (change.isAutomatic !== true) return nameConflict(holder.publicId, holder);
  } else if (serverState.hasFolder(folder, name)) return { do: "reject", error: nameTaken(name) };
  else if (digest !== undefined && existing !== undefined) return { do: "create", digest, folder, name };
  if (digest !== undefined && change.isAutomatic === true && serverState.wasDeleted(digest)) {
    return { do: "reject", error: deletedByYou() };
  }
  const quotaError = sizeBytes === undefined ? undefined : serverState.rejectionOf(sizeBytes, true);
  return quotaError === undefined ? { do: "request_content", fileId: undefined } : { do: "reject", error: quotaError };
}

function decideUpdate(change: LocalChange, serverState: ServerState): Decision {
  const { digest, sizeBytes } = change;
  const found = findFile(change, serverState);
  if ("do" in found) return found;
  const { file } = found;
  if (file.digest === digest) return stored(file, serverState);
  const sizeError = sizeBytes === undefined ? undefined : serverState.rejectionOf(sizeBytes, false);
  if (sizeError !== undefined) return { do: "reject", error: sizeError };
  // A file that became empty is more often a fault of the device than intended.
  const isEmptied = file.sizeBytes > 0 && (sizeBytes === 0 || digest === EMPTY_DIGEST);
  if (isEmptied || isChanged(change, file, serverState)) return conflict("modified", file);
  if (digest !== undefined && serverState.findFileWithContent(digest, sizeBytes) !== undefined) {
    return { do: "replace", file, digest };
  }
  const quotaError = sizeBytes === undefined ? undefined : serverState.rejectionOf(sizeBytes, true);
  return quotaError === undefined
    ? { do: "request_content", fileId: file.publicId }
    : { do: "reject", error: quotaError };
}

function decideMove(change: LocalChange, serverState: ServerState): Decision {
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
  return { do: "move", file, folder, name };
}

function decideDelete(change: LocalChange, serverState: ServerState): Decision {
  const { fileId } = change;
  if (fileId === undefined) return missing("fileId");
  const file = serverState.findFile(fileId);
  if (file === undefined) {
    if (serverState.wasFile(fileId)) return { do: "nothing", status: "applied", fileId };
    return { do: "reject", error: notFound(say`The file was not found.`) };
  }
  return isChanged(change, file, serverState) ? conflict("modified", file) : { do: "delete", file };
}

/** The changed file, or the decision if it does not exist. */
function findFile({ fileId }: LocalChange, serverState: ServerState): { readonly file: KnownFile } | Decision {
  if (fileId === undefined) return missing("fileId");
  const file = serverState.findFile(fileId);
  if (file !== undefined) return { file };
  if (serverState.wasFile(fileId)) return { do: "conflict", type: "deleted", fileId, remoteFileId: fileId };
  return { do: "reject", error: notFound(say`The file was not found.`) };
}

/** The file has this content already. If the server's copy is damaged, the device has to send it. */
function stored({ publicId, digest }: KnownFile, serverState: ServerState): Decision {
  if (serverState.isDamaged(digest)) return { do: "request_content", fileId: publicId };
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
  return { do: "reject", error: invalidField(field, say`This action requires ${field}. Send it with the change.`) };
}

/** A file that a person deleted must not come back automatically. */
function deletedByYou(): AppError {
  return new AppError(
    "deleted_by_you",
    say`You deleted this file on the server, so it is not backed up again. To restore it, upload it yourself.`,
  );
}
