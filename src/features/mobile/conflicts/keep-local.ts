/**
 * Resolves conflicts with keep_local, inside the caller's transaction. Nothing is lost: replaced content stays as an
 * earlier version, a taken name is numbered, and a deleted file is created again.
 */
import type { Transaction } from "../../../db/transaction.ts";
import type { DeviceFacts } from "../../../events/catalogue.ts";
import { joinPath, ROOT_PATH } from "../../../lib/path.ts";
import type { MassChangeGuard } from "../mass-change/mass-change-guard.ts";
import type { ChangeAction, Hold, LocalChange } from "../mass-change/types.ts";
import { nameTaken, numberedName } from "../../../tree/tables/names.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import type { User } from "../../accounts/users/types.ts";
import { findExistingContent, type ExistingContent } from "./existing-content.ts";
import type { Conflict } from "./types.ts";

/** Options of {@link KeepLocal}. */
interface KeepLocalOptions {
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  readonly limitsOf: (user: User) => { readonly quotaBytes: number | null };
  readonly onDeleted: (nodeId: number) => void;
  readonly massChangeGuard: Pick<MassChangeGuard, "admit">;
}

/**
 * The resulting file, or the hold in which the change waits. With `needsContent`, the device has to send the content:
 * for this file, or for a new one if `fileId` is null.
 */
type KeepLocalResult = { readonly needsContent: boolean; readonly fileId: string | null } | { readonly hold: Hold };

/** With more equal names, something is wrong, and the name is rejected. */
const NUMBER_MAX = 1_000;
const NAMELESS = "file";

/** Applies the device's side of conflicts. */
export class KeepLocal {
  readonly #options: KeepLocalOptions;

  constructor(options: KeepLocalOptions) {
    this.#options = options;
  }

  /** @throws AppError quota_exceeded | not_a_folder | name_taken */
  keep(tx: Transaction, user: User, device: DeviceFacts, conflict: Conflict): KeepLocalResult {
    const { change, fileId } = conflict;
    const file = this.#options.tree.findFile(user.id, fileId);
    switch (change.action) {
      case "delete":
        return file === undefined ? { needsContent: false, fileId } : this.#delete(tx, device, file, change);
      case "rename":
      case "move":
        return file === undefined ? this.#make(tx, user, change) : this.#move(tx, file, conflict);
      case "update":
        return file === undefined ? this.#make(tx, user, change) : this.#replace(tx, user, device, file, change);
      case "upload":
        return this.#keepUpload(tx, user, device, change);
    }
  }

  /** Under another name both files stay; under the taken name the local file becomes the next version. */
  #keepUpload(tx: Transaction, user: User, device: DeviceFacts, change: LocalChange): KeepLocalResult {
    const { name = NAMELESS, folder = ROOT_PATH } = change;
    const holder = this.#options.tree.findFileNamed(user.id, folder, name);
    return holder === undefined ? this.#make(tx, user, change) : this.#replace(tx, user, device, holder, change);
  }

  #delete(tx: Transaction, device: DeviceFacts, file: FileNode, change: LocalChange): KeepLocalResult {
    const hold = this.#checkMassChange(tx, device, file, change, "delete");
    if (hold !== undefined) return { hold };
    this.#options.treeWriter.deleteFile(tx, file);
    tx.afterCommit(() => this.#options.onDeleted(file.id));
    return { needsContent: false, fileId: file.publicId };
  }

  /** The mass-change guard applies here too: a broken device could choose its own side in every conflict. */
  #checkMassChange(
    tx: Transaction,
    device: DeviceFacts,
    file: FileNode,
    change: LocalChange,
    action: ChangeAction,
  ): Hold | undefined {
    // A later acceptance applies to the file as it is now, because the decision was about this state.
    const decided = { ...change, action, fileId: file.publicId, baseDigest: file.digest, sinceSeq: undefined };
    return this.#options.massChangeGuard.admit(tx, device, file.accountId, [decided]);
  }

  #move(tx: Transaction, file: FileNode, { type, change }: Conflict): KeepLocalResult {
    const { treeWriter } = this.#options;
    const isMove = change.action === "move";
    const folderPath = isMove ? (change.folder ?? file.folder) : file.folder;
    // A move does not change the name, unless the conflict is about the name.
    const requested = isMove && type !== "name" ? file.name : (change.name ?? file.name);
    const name = this.#freeName(file, folderPath, requested);
    treeWriter.updateFile(tx, file, { name, folderPath });
    return { needsContent: false, fileId: file.publicId };
  }

  #replace(tx: Transaction, user: User, device: DeviceFacts, file: FileNode, change: LocalChange): KeepLocalResult {
    if (change.digest === file.digest) return { needsContent: false, fileId: file.publicId };
    const existing = this.#findContent(user, change);
    if (existing === undefined) return { needsContent: true, fileId: file.publicId };
    const hold = this.#checkMassChange(tx, device, file, change, "update");
    if (hold !== undefined) return { hold };
    this.#options.treeWriter.replaceContent(tx, {
      file,
      blob: existing.blob,
      mediaType: existing.mediaType,
      createdBy: user.id,
      quotaBytes: this.#options.limitsOf(user).quotaBytes,
      fileModifiedAt: change.lastModified,
    });
    return { needsContent: false, fileId: file.publicId };
  }

  #make(tx: Transaction, user: User, change: LocalChange): KeepLocalResult {
    const existing = this.#findContent(user, change);
    if (existing === undefined) return { needsContent: true, fileId: null };
    const { folder = ROOT_PATH, name = NAMELESS } = change;
    // Another resolution of the same file may have created it already.
    const present = this.#options.tree.findFileNamed(user.id, folder, name);
    if (present !== undefined && present.digest === change.digest) {
      return { needsContent: false, fileId: present.publicId };
    }
    const { file } = this.#options.treeWriter.createFile(tx, {
      blob: existing.blob,
      mediaType: existing.mediaType,
      accountId: user.id,
      createdBy: user.id,
      folderPath: folder,
      name,
      tags: [],
      metadata: {},
      fileModifiedAt: change.lastModified,
      isPublic: false,
      onConflict: "rename",
      quotaBytes: this.#options.limitsOf(user).quotaBytes,
    });
    return { needsContent: false, fileId: file.publicId };
  }

  #findContent(user: User, { digest, sizeBytes }: LocalChange): ExistingContent | undefined {
    return digest && findExistingContent(this.#options.tree, user.id, digest, sizeBytes);
  }

  /** The requested name, or the first free numbered one. */
  #freeName(file: FileNode, folder: string, requested: string): string {
    const { tree } = this.#options;
    for (let number = 0; number <= NUMBER_MAX; number++) {
      const name = number === 0 ? requested : numberedName(requested, number);
      const holder = tree.findFileNamed(file.accountId, folder, name);
      const isFree =
        holder === undefined && tree.findFolderByPath(file.accountId, joinPath(folder, name)) === undefined;
      if (isFree || holder?.id === file.id) return name;
    }
    throw nameTaken(requested);
  }
}
