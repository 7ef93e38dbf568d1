/**
 * Completes an upload: the staged file becomes the blob without a copy, and one transaction does the rest.
 * `chunked/complete.ts` does the same for chunks.
 */
import type { BlobStore } from "../../../blobs/blob-store.ts";
import { AppError } from "../../../errors.ts";
import type { PendingUpload } from "../../library/files/service.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";
import { emptyUpload, stagedUpload } from "../chunked/staged-upload.ts";
import type { UploadStore } from "../chunked/store.ts";
import type { ActiveTusUploads } from "./active.ts";
import { readMetadata } from "./metadata.ts";
import type { TusRows } from "./queries.ts";
import type { CreationHooks, TusSender, TusUpload } from "./types.ts";

/** Dependencies of {@link TusCompleter}. */
interface TusCompleterOptions {
  readonly store: UploadStore;
  readonly rows: TusRows;
  readonly active: ActiveTusUploads;
  readonly blobs: BlobStore;
}

/** Creates the files of uploads whose bytes are all received. */
export class TusCompleter {
  readonly #options: TusCompleterOptions;

  constructor(options: TusCompleterOptions) {
    this.#options = options;
  }

  /**
   * Creates the file. Concurrent and repeated calls create it once. After an error the upload is unchanged. Only an
   * upload with a wrong checksum ends, because it can't be repaired.
   * @returns undefined if it was created before
   * @throws AppError as an upload in one request
   */
  async finish(sender: TusSender, tus: TusUpload): Promise<FileNode | undefined> {
    const { active: all } = this.#options;
    const { id } = tus.upload;
    for (;;) {
      const current = this.#options.store.rows.get(id);
      if (current === undefined || current.status === "completed") return undefined;
      const active = all.get(tus);
      if (active.finishing !== undefined) {
        // Another request is completing it. Check again after that, successful or not.
        await active.finishing.catch(() => {});
        continue;
      }
      const work = this.#finish(sender, tus);
      active.finishing = work;
      try {
        return await work;
      } finally {
        active.finishing = undefined;
        all.release(id);
      }
    }
  }

  async #finish(sender: TusSender, tus: TusUpload): Promise<FileNode> {
    const { store, active } = this.#options;
    const { upload } = tus;
    store.getOpen(upload.id);
    const pendingUpload = await this.#pendingUploadOf(tus);
    try {
      return await sender.createFile(pendingUpload, readMetadata(tus.metadata), this.#creationHooks(tus));
    } catch (error) {
      if (error instanceof AppError && error.reason === "checksum_mismatch") {
        await store.writer.run((tx) => {
          store.end(tx, store.getOpen(upload.id), "cancelled");
          tx.afterCommit(() => active.drop(upload.id));
        });
      }
      throw error;
    } finally {
      pendingUpload.discard();
    }
  }

  /**
   * In the transaction that creates the file: ends the upload and its parts, and releases their reservations for the
   * file.
   */
  #creationHooks(tus: TusUpload): CreationHooks {
    const { store, rows, active } = this.#options;
    const { treeWriter } = store;
    const ids = () => [
      tus.upload.id,
      ...tus.parts.map((publicId) => {
        const part = rows.find(publicId);
        if (part !== undefined) return part.upload.id;
        throw new AppError("upload_state", say`A part of this upload no longer exists. Start the upload again.`, {
          part: publicId,
        });
      }),
    ];
    return {
      before: (tx) => {
        for (const id of ids()) {
          const { accountId, reservedBytes } = store.getOpen(id);
          treeWriter.reserveBytes(tx, accountId, -reservedBytes, null);
        }
      },
      onDone: (tx, file) => {
        for (const id of ids()) {
          const isPart = id !== tus.upload.id;
          store.end(tx, { ...store.getOpen(id), reservedBytes: 0 }, "completed", isPart ? null : file.publicId);
          if (isPart) rows.setJoined(id, tus.upload.publicId);
          tx.afterCommit(() => active.drop(id));
        }
      },
    };
  }

  /** The staged file as a pending upload of one request, without a copy. */
  async #pendingUploadOf({ upload: { id, publicId, sizeBytes } }: TusUpload): Promise<PendingUpload> {
    const { store, blobs } = this.#options;
    if (sizeBytes === 0) return emptyUpload(blobs);
    // If the length came late, there may be bytes after it that do not count.
    await store.staging.truncate(publicId, sizeBytes);
    const hashes = await store.staging.hashWhole(publicId, sizeBytes);
    // Without this check, the file of an ended upload would be created again.
    store.getOpen(id);
    return stagedUpload(store, blobs, { name: publicId, sizeBytes, hashes });
  }
}
