import type { Digest } from "../../../blobs/digest.ts";
import { AppError, needsMoreSpace } from "../../../errors.ts";
import { joinPath, ROOT_PATH } from "../../../lib/path.ts";
import { findExistingContent, isDamaged } from "../conflicts/existing-content.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { StorageLimits } from "../../library/files/storage-limits.ts";
import type { LocalChange } from "../mass-change/types.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { say, size } from "../../../translations/say.ts";
import type { KnownFile, ServerState } from "./decide.ts";
import type { ChangedByOthers } from "./others.ts";
import type { PairingState } from "./pair-moves.ts";
import type { LocalChangeQueries } from "./queries.ts";

/** Options of {@link AccountState}. */
interface AccountStateOptions {
  readonly tree: TreeReader;
  readonly queries: Pick<LocalChangeQueries, "wasFile">;
  readonly accountId: number;
  readonly limits: StorageLimits;
  readonly isChangedByOthers: ChangedByOthers;
}

/**
 * The state of an account, for the rules. Each method reads the current state; inside a transaction, that of the
 * transaction.
 */
export class AccountState implements ServerState, PairingState {
  readonly #options: AccountStateOptions;

  constructor(options: AccountStateOptions) {
    this.#options = options;
  }

  findFile(fileId: string): FileNode | undefined {
    return this.#options.tree.findFile(this.#options.accountId, fileId);
  }

  wasFile(fileId: string): boolean {
    return this.#options.queries.wasFile.get(this.#options.accountId, fileId) !== null;
  }

  findFileNamed(folder: string, name: string): FileNode | undefined {
    return this.#options.tree.findFileNamed(this.#options.accountId, folder, name);
  }

  hasFolder(folder: string, name: string): boolean {
    return this.#options.tree.findFolderByPath(this.#options.accountId, joinPath(folder, name)) !== undefined;
  }

  findFileWithContent(digest: Digest, sizeBytes: number | undefined): string | undefined {
    return findExistingContent(this.#options.tree, this.#options.accountId, digest, sizeBytes)?.fileId;
  }

  isDamaged(digest: Digest): boolean {
    return isDamaged(this.#options.tree, digest);
  }

  wasDeleted(digest: Digest): boolean {
    return this.#options.tree.wasDeleted(this.#options.accountId, digest);
  }

  isChangedByOthers(file: KnownFile, sinceSeq: number): boolean {
    return file.seq > sinceSeq && this.#options.isChangedByOthers(file);
  }

  rejectionOf(sizeBytes: number, isNew: boolean): AppError | undefined {
    const { limits, tree, accountId } = this.#options;
    const { plan, maxFileSizeBytes, quotaBytes } = limits;
    if (maxFileSizeBytes !== null && sizeBytes > maxFileSizeBytes) {
      const message = say`A file can have at most ${size(maxFileSizeBytes)} on the ${plan} plan. This file has ${size(sizeBytes)}.`;
      return new AppError("file_too_large", message, { limit: maxFileSizeBytes, plan });
    }
    if (!isNew || quotaBytes === null) return undefined;
    const { usedBytes } = tree.usage(accountId);
    if (usedBytes + sizeBytes <= quotaBytes) return undefined;
    const message = needsMoreSpace(sizeBytes, quotaBytes - usedBytes, quotaBytes);
    return new AppError("quota_exceeded", message, { limit: quotaBytes, used: usedBytes, required: sizeBytes, plan });
  }

  digestOf(fileId: string): Digest | undefined {
    return this.findFile(fileId)?.digest;
  }

  isStoredElsewhere({ name, folder, digest }: LocalChange, fileId: string): boolean {
    if (name === undefined) return false;
    const holder = this.findFileNamed(folder ?? ROOT_PATH, name);
    return holder !== undefined && holder.digest === digest && holder.publicId !== fileId;
  }
}
