/** What can be done with folders. All writing is durable when a promise resolves. */
import type { Writer } from "../../db/transaction.ts";
import { AppError, notFound } from "../../errors.ts";
import type { Idempotency, KeyedRequest } from "../idempotency/service.ts";
import type { TreeReader } from "../tree/reader.ts";
import type { FolderChanges, FolderNode } from "../tree/types.ts";
import type { TreeWriter } from "../tree/writer.ts";
import type { User } from "../users/types.ts";

/** What {@link FolderService} works with. */
export interface FolderServiceOptions {
  readonly writer: Writer;
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  readonly idempotency: Idempotency;
  /** Called when a folder with content was cut off and is to be taken apart. */
  readonly onDetached: () => void;
}

/** Folders of an account. */
export class FolderService {
  readonly #options: FolderServiceOptions;

  constructor(options: FolderServiceOptions) {
    this.#options = options;
  }

  /** A folder of this account. @throws AppError not_found */
  get(user: User, folderId: string): FolderNode {
    const folder = this.#options.tree.findFolder(user.id, folderId);
    if (folder === undefined) throw notFound("This folder");
    return folder;
  }

  /** Makes a folder, and those above it that are missing. @throws AppError name_taken | not_a_folder | idempotency_key */
  async create(
    user: User,
    input: { parentPath: string; name: string; description: string | undefined },
    request: KeyedRequest | undefined,
  ): Promise<FolderNode> {
    const { writer, treeWriter, idempotency } = this.#options;
    const { parentPath, name, description } = input;
    const metadata: Record<string, string> = description === undefined || description === "" ? {} : { description };
    return writer.run((tx) =>
      idempotency.once(request, () =>
        treeWriter.by(user.viaDeviceId, () =>
          treeWriter.createFolder(tx, { accountId: user.id, parentPath, name, metadata }),
        ),
      ),
    );
  }

  /** Renames, moves or describes a folder. @throws AppError not_found | name_taken | invalid_path | not_a_folder */
  async update(user: User, folderId: string, changes: FolderChanges): Promise<FolderNode> {
    const { writer, treeWriter } = this.#options;
    const ref = { accountId: user.id, publicId: folderId };
    return writer.run((tx) => treeWriter.by(user.viaDeviceId, () => treeWriter.updateFolder(tx, ref, changes)));
  }

  /** Deletes a folder for good; with content only where that is said. @throws AppError not_found | folder_not_empty */
  async delete(user: User, folderId: string, isRecursive: boolean): Promise<FolderNode> {
    const { writer, treeWriter, onDetached } = this.#options;
    return writer.run((tx) => {
      const folder = this.get(user, folderId);
      if (folder.itemCount > 0 && !isRecursive) {
        throw new AppError(
          "folder_not_empty",
          `The folder has ${folder.itemCount} items. Empty it first, or delete it with ?recursive=true.`,
          { itemCount: folder.itemCount },
        );
      }
      treeWriter.by(user.viaDeviceId, () => treeWriter.deleteFolder(tx, { accountId: user.id, publicId: folderId }));
      tx.afterCommit(onDetached);
      return folder;
    });
  }
}
