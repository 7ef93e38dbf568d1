/** What can be done with folders. All writing is durable when a promise resolves. */
import type { Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { Idempotency, KeyedRequest } from "../idempotency/service.ts";
import { Acting, type Target } from "../permissions/acting.ts";
import { actingDevice, type Permissions, type Permitted } from "../permissions/permissions.ts";
import type { FolderChanges, FolderNode } from "../../../tree/model/types.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import type { User } from "../../accounts/users/types.ts";

/** What {@link FolderService} works with. */
export interface FolderServiceOptions {
  readonly writer: Writer;
  readonly permissions: Permissions;
  readonly treeWriter: TreeWriter;
  readonly idempotency: Idempotency;
  /** The plan of an account, for what is refused by its limits. */
  readonly planOf: (owner: User) => string;
  /** Called when a folder with content was cut off and is to be taken apart. */
  readonly onDetached: () => void;
}

/** A folder to be made, by normalized path and name. */
export interface FolderInput {
  readonly parentPath: string;
  readonly name: string;
  readonly description: string | undefined;
  /** The received share below which the path begins; the caller's own tree where undefined. */
  readonly share: string | undefined;
}

/** Folders of an account, and those that others share with it. What is given back is as the user sees it. */
export class FolderService {
  readonly #options: FolderServiceOptions;
  readonly #acting: Acting;

  constructor(options: FolderServiceOptions) {
    this.#options = options;
    this.#acting = new Acting(options.treeWriter, options.planOf);
  }

  /** A folder that the user may see. @throws AppError not_found */
  get(user: User, folderId: string): FolderNode {
    return this.#options.permissions.folder(user, folderId, "read").node;
  }

  /**
   * Makes a folder, and those above it that are missing.
   * @throws AppError name_taken | not_a_folder | path_too_long | quota_exceeded | idempotency_key; not_found |
   *   share_permission for the share
   */
  async create(user: User, input: FolderInput, request: KeyedRequest | undefined): Promise<FolderNode> {
    const { writer, treeWriter, permissions, idempotency } = this.#options;
    const { parentPath, name, description, share } = input;
    const metadata: Record<string, string> = description === undefined || description === "" ? {} : { description };
    return writer.run((tx) => {
      const place = permissions.place(user, parentPath, share);
      return idempotency.once(request, () =>
        this.#write(user, place, () =>
          treeWriter.createFolder(tx, { accountId: place.owner.id, parentPath: place.path, name, metadata }),
        ),
      );
    });
  }

  /**
   * Renames, moves or describes a folder; a path is one of the tree that it is in, as the user sees it.
   * @throws AppError not_found | share_permission | name_taken | invalid_path | path_too_long | not_a_folder |
   *   quota_exceeded
   */
  async update(user: User, folderId: string, changes: FolderChanges): Promise<FolderNode> {
    const { writer, treeWriter, permissions } = this.#options;
    return writer.run((tx) => {
      const permitted = permissions.folder(user, folderId, "write");
      const { node } = permitted;
      const { name = node.name, folderPath = node.folder } = changes;
      const isMoved = folderPath !== node.folder;
      if (isMoved || name !== node.name) permissions.folder(user, folderId, "place");
      const to = isMoved ? permissions.locationBeside(user, permitted, folderPath).path : undefined;
      return this.#write(user, permitted, () => treeWriter.updateFolder(tx, node, { ...changes, folderPath: to }));
    });
  }

  /**
   * Deletes a folder for good; with content only where that is said.
   * @returns what it was, and whose
   * @throws AppError not_found | share_permission | folder_not_empty
   */
  async delete(user: User, folderId: string, isRecursive: boolean): Promise<Permitted<FolderNode>> {
    const { writer, treeWriter, permissions, onDetached } = this.#options;
    return writer.run((tx) => {
      const permitted = permissions.folder(user, folderId, "place");
      const { node: folder } = permitted;
      if (folder.itemCount > 0 && !isRecursive) {
        throw new AppError(
          "folder_not_empty",
          `The folder contains ${folder.itemCount} items. Empty it first, or add ?recursive=true to delete everything.`,
          { itemCount: folder.itemCount },
        );
      }
      permitted.view.run(() => treeWriter.by(actingDevice(user, permitted), () => treeWriter.deleteFolder(tx, folder)));
      tx.afterCommit(onDetached);
      return permitted;
    });
  }

  /** Touches a tree in the user's name and gives the folder as they see it. Inside a transaction. */
  #write(user: User, target: Target, deed: () => FolderNode): FolderNode {
    return target.view.show(this.#acting.write(user, target, deed));
  }
}
