/** Completes an upload: the staged file becomes the blob without a copy, and one transaction does the rest. */
import type { BlobStore, BlobLease } from "../../../blobs/blob-store.ts";
import { type Digest, toChecksum } from "../../../blobs/digest.ts";
import type { Transaction } from "../../../db/transaction.ts";
import { AppError, withPlan, notFound } from "../../../errors.ts";
import type { Uploader } from "../../accounts/auth/principal.ts";
import { detectMediaType, MEDIA_TYPE_HEAD_BYTES } from "../../library/files/media-type.ts";
import { joinPath } from "../../../lib/path.ts";
import type { StorageLimits } from "../../library/files/storage-limits.ts";
import type { TransferCounters } from "../../accounts/plans/transfers.ts";
import type { ThumbnailService } from "../../media/thumbnails/service.ts";
import { summarizeFile } from "../../../tree/model/file-summary.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FileNode, StoredBlob } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";
import type { User } from "../../accounts/users/types.ts";
import type { ActiveUpload } from "./active.ts";
import { type ExifData, EXIF_HEAD_BYTES, readExif } from "../../media/metadata/exif.ts";
import { deletedByYou, findSameFile, type KnownContents } from "./known-contents.ts";
import type { ChunkReceiver } from "./receive-chunk.ts";
import type { UploadStore } from "./store.ts";
import type { Upload } from "./types.ts";

/** The fields of a request to complete an upload. */
export interface Completion {
  /** Expected digest of the whole file. */
  readonly digest: Digest | undefined;
  /** As sent by the client; missing values are read from the photo. */
  readonly exif: ExifData;
}

/** Dependencies of {@link Completer}. */
interface CompleterOptions {
  readonly store: UploadStore;
  readonly receiver: ChunkReceiver;
  readonly blobs: BlobStore;
  readonly tree: TreeReader;
  readonly contents: KnownContents;
  readonly transfers: TransferCounters;
  readonly thumbnails: Pick<ThumbnailService, "schedule">;
  readonly limitsOf: (user: User) => StorageLimits;
}

/** The blob of an upload, ready to become a file. */
interface UploadedContent {
  readonly blob: StoredBlob;
  readonly head: Uint8Array<ArrayBuffer>;
  /** Set if it was stored just now. */
  readonly lease: BlobLease | undefined;
}

/** A blob, with the media type and EXIF data of its file. */
interface FileContent {
  readonly blob: StoredBlob;
  readonly mediaType: string;
  readonly exif: ExifData;
  readonly lease: BlobLease | undefined;
}

/** Completes uploads. */
export class Completer {
  readonly #options: CompleterOptions;

  constructor(options: CompleterOptions) {
    this.#options = options;
  }

  /**
   * Creates the file, unless an equal one exists (see {@link findSameFile}). Durable when this returns. Repeated and
   * concurrent calls return the same file. After any error the upload is unchanged.
   * @throws what `uploader.confirm` throws; AppError upload_state with `missingChunks`; checksum_mismatch;
   *   upload_expired; version_conflict if the file no longer has the content that this upload replaces;
   *   deleted_by_you; name_taken, quota_exceeded, disk_full, storage_error; not_found if the created file was deleted
   */
  async complete(uploader: Uploader, uploadId: number, completion: Completion): Promise<FileNode> {
    const { store, receiver } = this.#options;
    for (;;) {
      const done = store.rows.get(uploadId);
      if (done?.status === "completed") return this.#fileOf(done);
      const upload = store.getOpen(uploadId);
      const active = await receiver.ready(upload);
      if (active.completing !== undefined) {
        // Another request is completing it. Check again after that, successful or not.
        await active.completing.catch(() => {});
        continue;
      }
      const work = this.#complete(uploader, upload, active, completion);
      active.completing = work;
      try {
        return await work;
      } finally {
        active.completing = undefined;
      }
    }
  }

  #fileOf(upload: Upload): FileNode {
    const file = upload.fileId === undefined ? undefined : this.#options.tree.findFile(upload.accountId, upload.fileId);
    if (file === undefined) throw notFound(say`The uploaded file was not found.`);
    return file;
  }

  async #complete(uploader: Uploader, upload: Upload, active: ActiveUpload, completion: Completion): Promise<FileNode> {
    // From here on, no chunk can begin. Complete chunks may still count; incomplete ones are superseded.
    for (const incomingChunk of active.incoming.values()) {
      if (incomingChunk.isCommitting) await incomingChunk.ended;
      else incomingChunk.isSuperseded = true;
    }
    const { blob, head, lease } = await this.#contentOf(upload, active, completion);
    let isCreated = false;
    try {
      const { transfers, thumbnails, limitsOf } = this.#options;
      const mediaType = await detectMediaType(head.subarray(0, MEDIA_TYPE_HEAD_BYTES), upload.mediaType, upload.name);
      const exif = await addMissingExif(completion.exif, head, mediaType);
      const { user, confirm } = uploader;
      const { plan } = limitsOf(user);
      const { file, isNew } = await this.#options.store.writer
        .run((tx) => {
          confirm();
          return this.#createFile(tx, user, upload, { blob, mediaType, exif, lease });
        })
        .catch((error: unknown) => {
          throw withPlan(error, plan);
        });
      isCreated = true;
      if (isNew) transfers.noteUpload(user.id, upload.sizeBytes);
      thumbnails.schedule(blob.digest, mediaType);
      return file;
    } finally {
      lease?.release(isCreated);
    }
  }

  async #contentOf(upload: Upload, active: ActiveUpload, { digest }: Completion): Promise<UploadedContent> {
    const { blobs, store } = this.#options;
    const { sizeBytes, publicId } = upload;
    if (!active.chunks.isWhole) return this.#ownContent(upload, active, digest);
    if (sizeBytes === 0) {
      const incoming = blobs.begin({
        limitBytes: 0,
        tooLarge: () => new AppError("file_too_large", say`The body must be empty.`),
      });
      try {
        checkDigests(upload, digest, incoming.digest());
        const lease = await incoming.commit();
        return { blob: lease, lease, head: new Uint8Array() };
      } finally {
        incoming.abort();
      }
    }
    const hashes = await store.staging.hashWhole(publicId, sizeBytes);
    checkDigests(upload, digest, hashes.digest);
    const staged = store.staging.open(publicId, sizeBytes);
    let head: Uint8Array<ArrayBuffer>;
    try {
      head = staged.read(Math.min(sizeBytes, EXIF_HEAD_BYTES), 0);
    } finally {
      staged.release();
    }
    const lease = await blobs.adopt(store.staging.pathOf(publicId), { ...hashes, sizeBytes });
    return { blob: lease, lease, head };
  }

  /** Uses content that the account already has, so the device does not have to send it. */
  async #ownContent(upload: Upload, { chunks }: ActiveUpload, digest: Digest | undefined): Promise<UploadedContent> {
    const { tree, contents, blobs } = this.#options;
    const { accountId, sizeBytes, digest: announced } = upload;
    const blob =
      announced !== undefined && contents.isStored(accountId, announced, sizeBytes) && tree.findBlob(announced);
    if (announced === undefined || !blob) {
      const missingChunks = chunks.list(false);
      throw new AppError(
        "upload_state",
        say`${missingChunks.length} of ${upload.totalChunks} chunks are missing. Send them, then complete the upload again.`,
        { missingChunks },
      );
    }
    checkDigests(upload, digest, announced);
    const head = await blobs.read(announced, 0, Math.min(sizeBytes, EXIF_HEAD_BYTES));
    return { blob: { digest: announced, sizeBytes, crc32: blob.crc32 }, head, lease: undefined };
  }

  /**
   * Inside the transaction: releases the reserved quota, creates, replaces or finds the file, ends the upload, and emits
   * the event. If an equal file was found, `isNew` is false.
   */
  #createFile(tx: Transaction, user: User, { id }: Upload, content: FileContent): { file: FileNode; isNew: boolean } {
    const { store, contents } = this.#options;
    const { treeWriter, events } = store;
    const upload = store.getOpen(id);
    const { accountId, deviceId, sizeBytes, publicId } = upload;
    if (content.lease === undefined && !contents.isStored(accountId, content.blob.digest, sizeBytes)) {
      throw new AppError("upload_state", say`The server no longer has this file content. Send the chunks.`, {
        missingChunks: store.activeOf(upload).chunks.list(false),
      });
    }
    // Frees the reservation of the upload, which the file needs.
    treeWriter.reserveBytes(tx, accountId, -upload.reservedBytes, null);
    const same = this.#findSame(upload, content);
    if (same === undefined && upload.isAutomatic && contents.wasDeleted(accountId, content.blob.digest)) {
      throw deletedByYou(content.blob.digest);
    }
    const file = same ?? treeWriter.by(deviceId, () => this.#write(tx, user, upload, content));
    store.end(tx, { ...upload, reservedBytes: 0 }, "completed", file.publicId);
    // The file may have been moved; its new content goes to its current location.
    const path =
      upload.targetId === undefined ? joinPath(upload.folderPath, upload.name) : joinPath(file.folder, file.name);
    events.emit(tx, "upload.completed", { accountId, deviceId, uploadId: publicId, file: summarizeFile(file), path });
    return { file, isNew: same === undefined };
  }

  /** The file that already has this content, if none has to be created. */
  #findSame(upload: Upload, { blob, lease }: FileContent): FileNode | undefined {
    const { tree, contents } = this.#options;
    const { accountId, targetId, baseDigest } = upload;
    const { digest } = blob;
    if (targetId === undefined) {
      const same = findSameFile(tree, { ...upload, digest });
      if (same !== undefined && lease?.isNew === true) contents.markWhole(digest);
      return same;
    }
    const target = tree.findFile(accountId, targetId);
    // It already has the new content, from a repeated request or another client.
    return target?.digest === digest && baseDigest !== undefined && baseDigest !== digest ? target : undefined;
  }

  #write(tx: Transaction, user: User, upload: Upload, { blob, mediaType, exif }: FileContent): FileNode {
    const { store, tree, limitsOf } = this.#options;
    const { treeWriter } = store;
    const { accountId, targetId, baseDigest } = upload;
    const { quotaBytes } = limitsOf(user);
    const metadata = exifMetadata(exif);
    const given = { blob, mediaType, createdBy: user.id, quotaBytes, capturedAt: exif.capturedAt };
    if (targetId === undefined) {
      return treeWriter.createFile(tx, {
        ...given,
        accountId,
        folderPath: upload.folderPath,
        name: upload.name,
        tags: [],
        metadata,
        originalName: upload.name,
        isPublic: false,
        onConflict: upload.onConflict,
      }).file;
    }
    const current = tree.findFile(accountId, targetId);
    if (current === undefined || (baseDigest !== undefined && current.digest !== baseDigest)) {
      throw new AppError(
        "version_conflict",
        say`The file was changed or deleted since you last synced. Sync, then resolve the conflict.`,
        { fileId: targetId, ...(current !== undefined && { checksum: toChecksum(current.digest) }) },
      );
    }
    const target = { accountId, publicId: targetId };
    const file = treeWriter.replaceContent(tx, { ...given, file: target });
    return Object.keys(metadata).length === 0 ? file : treeWriter.updateFile(tx, target, { metadata });
  }
}

/** Adds time and location to the metadata of a file. */
export function exifMetadata({ location, capturedAt }: ExifData): Record<string, string> {
  return { ...(location !== undefined && { location }), ...(capturedAt !== undefined && { capturedAt }) };
}

/** Fills values that the client did not send from the photo's EXIF data. */
export async function addMissingExif(
  given: ExifData,
  head: Uint8Array<ArrayBuffer>,
  mediaType: string,
): Promise<ExifData> {
  if (given.capturedAt !== undefined && given.location !== undefined) return given;
  const found = await readExif(head, mediaType);
  return { capturedAt: given.capturedAt ?? found.capturedAt, location: given.location ?? found.location };
}

/** @throws AppError checksum_mismatch */
function checkDigests(upload: Upload, atCompletion: Digest | undefined, actual: Digest): void {
  const expected = [upload.digest, atCompletion].find((digest) => digest !== undefined && digest !== actual);
  if (expected === undefined) return;
  throw new AppError(
    "checksum_mismatch",
    say`The uploaded data does not match its checksum. Compare the chunks, then send the wrong ones again.`,
    { field: "checksum", expected: toChecksum(expected), actual: toChecksum(actual) },
  );
}
