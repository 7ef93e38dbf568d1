/** Creates, changes and deletes folders. All writes are durable when a promise resolves. */
import type { Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { Idempotency, KeyedRequest } from "../idempotency/service.ts";
import { UserTreeWriter, type WriteTarget } from "../permissions/user-tree-writer.ts";
import type { Permissions, PermittedNode } from "../permissions/permissions.ts";
import type { FolderChanges, FolderNode } from "../../../tree/model/types.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import { plural, say } from "../../../translations/say.ts";
import type { User } from "../../accounts/users/types.ts";

/** Dependencies of {@link FolderService}. */
export interface FolderServiceOptions {
  readonly writer: Writer;
  readonly permissions: Permissions;
  readonly treeWriter: TreeWriter;
  readonly idempotency: Idempotency;
  /** The plan of an account, for errors about its limits. */
  readonly planOf: (owner: User) => string;
  /** Called when a folder with content was cut off and its rows remain to be deleted. */
  readonly onDetached: () => void;
}

/** A folder to be created, by normalized path and name. */
export interface FolderInput {
  readonly parentPath: string;
  readonly name: string;
  readonly description: string | undefined;
  /** The received share below which the path is; the user's own tree if undefined. */
  readonly share: string | undefined;
}

/** Manages the folders of an account and those shared with it. Results are as the user sees them. */
export class FolderService {
  readonly #options: FolderServiceOptions;
  readonly #userTreeWriter: UserTreeWriter;

  constructor(options: FolderServiceOptions) {
    this.#options = options;
    this.#userTreeWriter = new UserTreeWriter(options.treeWriter, options.planOf);
  }

  /** A folder that the user may see. @throws AppError not_found */
  get(user: User, folderId: string): FolderNode {
    return this.#options.permissions.folder(user, folderId, "read").node;
  }

  /**
   * Creates a folder and its missing ancestors.
   * @throws AppError name_taken | not_a_folder | path_too_long | quota_exceeded | idempotency_key; not_found |
   *   share_permission for the share
   */
  async create(user: User, input: FolderInput, request: KeyedRequest | undefined): Promise<FolderNode> {
    const { writer, treeWriter, permissions, idempotency } = this.#options;
    const { parentPath, name, description, share } = input;
    const metadata: Record<string, string> = description === undefined || description === "" ? {} : { description };
    return writer.run((tx) => {
      const target = permissions.location(user, parentPath, share);
      return idempotency.once(request, () =>
        this.#write(user, target, () =>
          treeWriter.createFolder(tx, { accountId: target.owner.id, parentPath: target.path, name, metadata }),
        ),
      );
    });
  }

  /**
   * Renames, moves or describes a folder. A path is in its tree, as the user sees it.
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
      if (isMoved || name !== node.name) permissions.folder(user, folderId, "manage");
      const to = isMoved ? permissions.locationInSameTree(user, permitted, folderPath).path : undefined;
      return this.#write(user, permitted, () => treeWriter.updateFolder(tx, node, { ...changes, folderPath: to }));
    });
  }

  /**
   * Deletes a folder permanently; with content only if `isRecursive`.
   * @returns the folder and its owner
   * @throws AppError not_found | share_permission | folder_not_empty
   */
  async delete(user: User, folderId: string, isRecursive: boolean): Promise<PermittedNode<FolderNode>> {
    const { writer, treeWriter, permissions, onDetached } = this.#options;
    return writer.run((tx) => {
      const permitted = permissions.folder(user, folderId, "manage");
      const { node: folder } = permitted;
      if (folder.itemCount > 0 && !isRecursive) {
        throw new AppError(
          "folder_not_empty",
          say`The folder contains ${plural(folder.itemCount, { one: "# item", other: "# items" })}. Empty it first, or add ?recursive=true to delete everything.`,
          { itemCount: folder.itemCount },
        );
      }
      this.#userTreeWriter.write(user, permitted, () => treeWriter.deleteFolder(tx, folder));
      tx.afterCommit(onDetached);
      return permitted;
    });
  }

  /** Changes a tree on behalf of the user and returns the folder as they see it. Inside a transaction. */
  #write(user: User, target: WriteTarget, change: () => FolderNode): FolderNode {
    return target.view.show(this.#userTreeWriter.write(user, target, change));
  }
}
