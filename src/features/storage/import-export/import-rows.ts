import type { BlobStore } from "../../../blobs/blob-store.ts";
import type { Transaction } from "../../../db/transaction.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import { numberedName } from "../../../tree/tables/names.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import type { User } from "../../accounts/users/types.ts";
import type { FavoriteService } from "../../library/favorites/service.ts";
import type { StorageLimits } from "../../library/files/storage-limits.ts";
import type { SourceFile, SourceFolder } from "./source-walk.ts";
import type { ImportRequest, ImportResult } from "./types.ts";

/** A file whose bytes are in the store. */
export interface ReadFile {
  readonly file: SourceFile;
  readonly blob: Extract<ImportResult, { digest: unknown }>;
  /** Whether the blob was written a second time, because the first one was deleted in between. */
  readonly isRetry: boolean;
}

/** The rows written for a file. */
export interface WrittenFile {
  readonly outcome: "new" | "version" | "renamed" | "unchanged" | "other_content" | "content_gone";
  /** The new file, or the file that has a new version. */
  readonly node?: FileNode;
}

/** Dependencies of {@link ImportRows}. */
interface ImportRowsOptions {
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  readonly favorites: Pick<FavoriteService, "set">;
  readonly blobs: Pick<BlobStore, "stat">;
  readonly user: User;
  readonly request: ImportRequest;
  readonly limits: StorageLimits;
}

/** Writes the rows of imported files and folders. Every method is called inside a transaction. */
export class ImportRows {
  readonly #options: ImportRowsOptions;

  constructor(options: ImportRowsOptions) {
    this.#options = options;
  }

  /** Makes a folder. @returns false if it exists already */
  writeFolder(tx: Transaction, { treePath: path, labels }: SourceFolder): boolean {
    const { tree, treeWriter, favorites, user } = this.#options;
    const isNew = tree.findFolderByPath(user.id, path) === undefined;
    const folder = treeWriter.ensureFolder(tx, user.id, path);
    if (isNew && labels?.metadata !== undefined) treeWriter.updateFolder(tx, folder, { metadata: labels.metadata });
    if (isNew && labels?.isFavorite === true) favorites.set(tx, user, folder, true);
    return isNew;
  }

  /** Makes a file or a version of one, unless the file exists with this content. */
  writeFile(tx: Transaction, { file, blob }: ReadFile): WrittenFile {
    const { tree, treeWriter, favorites, blobs, user, request, limits } = this.#options;
    const { onConflict } = request;
    const existing = tree.findFileNamed(user.id, file.folder, file.name);
    if (existing?.digest === blob.digest) return { outcome: "unchanged" };
    if (existing !== undefined && onConflict === "skip") return { outcome: "other_content" };
    if (blob.method === "hashed") return { outcome: "content_gone" };
    if (existing !== undefined && onConflict === "rename" && this.#hasNumbered(file, blob.digest)) {
      return { outcome: "unchanged" };
    }
    // Garbage collection of a running server may have removed the blob since; then it is imported again.
    const isGone = request.hasServer && blobs.stat(blob.digest)?.sizeBytes !== blob.sizeBytes;
    if (isGone) return { outcome: "content_gone" };
    const { labels } = file;
    const { file: node, isNew } = treeWriter.createFile(tx, {
      accountId: user.id,
      createdBy: user.id,
      folderPath: file.folder,
      name: file.name,
      blob: { digest: blob.digest, sizeBytes: blob.sizeBytes, crc32: blob.crc32, isNew: blob.method !== "there" },
      mediaType: blob.mediaType,
      tags: labels?.tags ?? [],
      metadata: labels?.metadata ?? {},
      originalName: labels?.originalName,
      fileModifiedAt: modificationTimeOf(blob.modifiedAtMs, labels?.fileModifiedAt),
      capturedAt: labels?.capturedAt,
      isPublic: false,
      onConflict: onConflict === "skip" ? "error" : onConflict,
      quotaBytes: limits.quotaBytes,
    });
    if (labels?.isFavorite === true) favorites.set(tx, user, node, true);
    return { outcome: isNew ? (node.name === file.name ? "new" : "renamed") : "version", node };
  }

  /** Whether an earlier import stored this content under a numbered name. */
  #hasNumbered(file: SourceFile, digest: string): boolean {
    const { tree, user } = this.#options;
    for (let number = 1; ; number++) {
      const numbered = tree.findFileNamed(user.id, file.folder, numberedName(file.name, number));
      if (numbered === undefined) return false;
      if (numbered.digest === digest) return true;
    }
  }
}

/**
 * The modification time of a file on disk, as the manifest writes it if that is the same instant; undefined for one that is
 * outside of the range of dates.
 */
function modificationTimeOf(ms: number, text: string | undefined): string | undefined {
  if (text !== undefined && Date.parse(text) === ms) return text;
  return Math.abs(ms) <= 8.64e15 ? toTimestamp(ms) : undefined;
}
