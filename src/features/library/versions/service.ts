/** The versions of a file: lists, sends, restores and deletes them. */
import type { Writer } from "../../../db/transaction.ts";
import { AppError, notFound } from "../../../errors.ts";
import type { StorageLimits } from "../files/storage-limits.ts";
import { actingDevice, type Permissions, type PermittedNode } from "../permissions/permissions.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FileNode, FileVersion, Precondition } from "../../../tree/model/types.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import { say } from "../../../translations/say.ts";
import type { User } from "../../accounts/users/types.ts";

/** Dependencies of {@link VersionService}. */
export interface VersionServiceOptions {
  readonly writer: Writer;
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  readonly permissions: Permissions;
  readonly limitsOf: (user: User) => Pick<StorageLimits, "quotaBytes" | "plan">;
  /** A user by row id; undefined if the account no longer exists. */
  readonly findUser: (id: number) => User | undefined;
}

/** A version of a file, with its author. */
export interface StoredVersion extends FileVersion {
  /** Undefined if that account no longer exists. */
  readonly author: User | undefined;
  readonly isCurrent: boolean;
}

/** Lists, restores and deletes versions. */
export class VersionService {
  readonly #options: VersionServiceOptions;

  constructor(options: VersionServiceOptions) {
    this.#options = options;
  }

  /** The versions of a file, newest (current) first. @throws AppError not_found | share_permission */
  list(user: User, fileId: string): StoredVersion[] {
    const { permissions, tree, findUser } = this.#options;
    const { node } = permissions.file(user, fileId, "versions");
    return tree.listVersions(node).map((version) => {
      const author = version.createdBy === null ? undefined : findUser(version.createdBy);
      return {
        ...version,
        // An erased account has no name.
        author: author === undefined || author.email === "" ? undefined : author,
        isCurrent: version.version === node.version,
      };
    });
  }

  /**
   * The file with the content of one of its versions in place of the current one.
   * @throws AppError not_found | share_permission
   */
  open(user: User, fileId: string, version: number): FileNode {
    const { permissions, tree } = this.#options;
    const file = tree.findVersion(permissions.file(user, fileId, "versions").node, version);
    if (file === undefined) throw notFound(say`This version was not found.`);
    return file;
  }

  /**
   * Stores the content of a version as the new content of the file. Restoring the current version changes nothing. Durable
   * on return.
   * @throws AppError not_found | share_permission | precondition_failed | quota_exceeded
   */
  async restore(
    user: User,
    fileId: string,
    version: number,
    precondition: Precondition | undefined,
  ): Promise<FileNode> {
    const { writer, treeWriter, limitsOf } = this.#options;
    const { owner } = this.#writable(user, fileId);
    const { quotaBytes, plan } = limitsOf(owner);
    try {
      return await writer.run((tx) => {
        const permitted = this.#writable(user, fileId);
        const ref = { accountId: permitted.owner.id, publicId: fileId };
        return permitted.view.run(() =>
          treeWriter.by(actingDevice(user, permitted), () =>
            permitted.view.show(
              treeWriter.restoreVersion(tx, ref, version, { createdBy: user.id, quotaBytes, precondition }),
            ),
          ),
        );
      });
    } catch (error) {
      if (!(error instanceof AppError) || error.reason !== "quota_exceeded") throw error;
      // A quota error names the plan.
      throw new AppError(error.reason, error.text, { ...error.details, plan });
    }
  }

  /**
   * Deletes an earlier version permanently.
   * @returns the version, and the owner of the file
   * @throws AppError not_found | share_permission; version_conflict for the current one
   */
  async delete(user: User, fileId: string, version: number): Promise<{ dropped: FileVersion; owner: User }> {
    const { writer, treeWriter } = this.#options;
    return writer.run((tx) => {
      const { owner } = this.#writable(user, fileId);
      const dropped = treeWriter.deleteVersion(tx, { accountId: owner.id, publicId: fileId }, version);
      return { dropped, owner };
    });
  }

  /** A file whose versions the user may see and change. @throws AppError not_found | share_permission */
  #writable(user: User, fileId: string): PermittedNode<FileNode> {
    this.#options.permissions.file(user, fileId, "versions");
    return this.#options.permissions.file(user, fileId, "write");
  }
}
