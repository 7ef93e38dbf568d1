/**
 * What keep_local does, for each kind of conflict, inside the deed that resolves it. Nothing is lost by it: a content
 * that gives way stays as an earlier version, a taken name is numbered, a deleted file is made again.
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

/** What {@link KeepLocal} works with. */
export interface KeepLocalOptions {
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  readonly limitsOf: (user: User) => { readonly quotaBytes: number | null };
  readonly onDeleted: (nodeId: number) => void;
  readonly massChangeGuard: Pick<MassChangeGuard, "admit">;
}

/**
 * What came of it: the file, or, with `needsContent`, the file that the device's content is to be sent for; null where
 * a file is to be made. Or the hold that it waits in, where nothing was done.
 */
export type Kept = { readonly needsContent: boolean; readonly fileId: string | null } | { readonly hold: Hold };

/** Beyond that many equal names something is wrong; the name is refused. */
const NUMBER_MAX = 1_000;
const NAMELESS = "file";

/** See the head of this file. */
export class KeepLocal {
  readonly #options: KeepLocalOptions;

  constructor(options: KeepLocalOptions) {
    this.#options = options;
  }

  /** @throws AppError quota_exceeded | not_a_folder | name_taken */
  keep(tx: Transaction, user: User, device: DeviceFacts, conflict: Conflict): Kept {
    const { change, fileId } = conflict;
    const file = this.#options.tree.findFile(user.id, fileId);
    switch (change.action) {
      case "delete":
        return file === undefined ? { needsContent: false, fileId } : this.#delete(tx, device, file, change);
      case "rename":
      case "move":
        return file === undefined ? this.#make(tx, user, change) : this.#place(tx, file, conflict);
      case "update":
        return file === undefined ? this.#make(tx, user, change) : this.#replace(tx, user, device, file, change);
      case "upload":
        return this.#keepUpload(tx, user, device, change);
    }
  }

  /** Under another name both stay; under the taken one the local file becomes the next version. */
  #keepUpload(tx: Transaction, user: User, device: DeviceFacts, change: LocalChange): Kept {
    const { name = NAMELESS, folder = ROOT_PATH } = change;
    const holder = this.#options.tree.findFileNamed(user.id, folder, name);
    return holder === undefined ? this.#make(tx, user, change) : this.#replace(tx, user, device, holder, change);
  }

  #delete(tx: Transaction, device: DeviceFacts, file: FileNode, change: LocalChange): Kept {
    const hold = this.#checkMassChange(tx, device, file, change, "delete");
    if (hold !== undefined) return { hold };
    this.#options.treeWriter.deleteFile(tx, file);
    tx.afterCommit(() => this.#options.onDeleted(file.id));
    return { needsContent: false, fileId: file.publicId };
  }

  /** A device that takes its own side of every conflict is held up like any other (D12). */
  #checkMassChange(
    tx: Transaction,
    device: DeviceFacts,
    file: FileNode,
    change: LocalChange,
    action: ChangeAction,
  ): Hold | undefined {
    // What is accepted later is to meet the file as it is now, which is what was decided about.
    const decided = { ...change, action, fileId: file.publicId, baseDigest: file.digest, sinceSeq: undefined };
    return this.#options.massChangeGuard.admit(tx, device, file.accountId, [decided]);
  }

  #place(tx: Transaction, file: FileNode, { type, change }: Conflict): Kept {
    const { treeWriter } = this.#options;
    const isMove = change.action === "move";
    const folderPath = isMove ? (change.folder ?? file.folder) : file.folder;
    // A move says nothing of the name, unless it is the name that stands in its way.
    const wanted = isMove && type !== "name" ? file.name : (change.name ?? file.name);
    const name = this.#freeName(file, folderPath, wanted);
    treeWriter.updateFile(tx, file, { name, folderPath });
    return { needsContent: false, fileId: file.publicId };
  }

  #replace(tx: Transaction, user: User, device: DeviceFacts, file: FileNode, change: LocalChange): Kept {
    if (change.digest === file.digest) return { needsContent: false, fileId: file.publicId };
    const held = this.#held(user, change);
    if (held === undefined) return { needsContent: true, fileId: file.publicId };
    const hold = this.#checkMassChange(tx, device, file, change, "update");
    if (hold !== undefined) return { hold };
    this.#options.treeWriter.replaceContent(tx, {
      file,
      blob: held.blob,
      mediaType: held.mediaType,
      createdBy: user.id,
      quotaBytes: this.#options.limitsOf(user).quotaBytes,
      fileModifiedAt: change.lastModified,
    });
    return { needsContent: false, fileId: file.publicId };
  }

  #make(tx: Transaction, user: User, change: LocalChange): Kept {
    const held = this.#held(user, change);
    if (held === undefined) return { needsContent: true, fileId: null };
    const { folder = ROOT_PATH, name = NAMELESS } = change;
    // Another resolution of the same file may have made it already.
    const present = this.#options.tree.findFileNamed(user.id, folder, name);
    if (present !== undefined && present.digest === change.digest) {
      return { needsContent: false, fileId: present.publicId };
    }
    const { file } = this.#options.treeWriter.createFile(tx, {
      blob: held.blob,
      mediaType: held.mediaType,
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

  #held(user: User, { digest, sizeBytes }: LocalChange): ExistingContent | undefined {
    return digest && findExistingContent(this.#options.tree, user.id, digest, sizeBytes);
  }

  /** The name itself, or with the lowest number that is free. */
  #freeName(file: FileNode, folder: string, wanted: string): string {
    const { tree } = this.#options;
    for (let number = 0; number <= NUMBER_MAX; number++) {
      const name = number === 0 ? wanted : numberedName(wanted, number);
      const holder = tree.findFileNamed(file.accountId, folder, name);
      const isFree =
        holder === undefined && tree.findFolderByPath(file.accountId, joinPath(folder, name)) === undefined;
      if (isFree || holder?.id === file.id) return name;
    }
    throw nameTaken(wanted);
  }
}
