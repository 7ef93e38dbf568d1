/**
 * Blobs on the local disk: `blobs/sha256/ab/cd/<hex>`.
 *
 * A durable write has this order:
 * 1. Stage: a small blob waits in memory for its digest, a larger one is written to `blobs/incoming/`.
 * 2. Write the small blob to its final path, or rename the staged file to it.
 * 3. Sync the bytes and the folders that have a new entry, in one batch with other uploads.
 * 4. Send the blob to the remote store, if uploads are acknowledged only then.
 * 5. The caller commits a row that names the blob.
 * 6. The caller responds to the client.
 *
 * A blob has its final path before it is durable. So after a crash a file in `blobs/` proves nothing: only a committed row
 * does.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import { AppError } from "../errors.ts";
import type { Log } from "../lib/log.ts";
import { BlobFolders } from "./blob-folders.ts";
import {
  type BlobIndex,
  type BlobLease,
  type BlobRef,
  type BlobStore,
  type BlobWriter,
  contentDamaged,
  contentMissing,
  type PutOptions,
} from "./blob-store.ts";
import { DiskBlobWriter, type StagedBlob } from "./blob-writer.ts";
import { type Digest, toDigest } from "./digest.ts";
import { type Disk, realDisk, translateDiskError } from "./disk.ts";
import { Layout } from "./layout.ts";
import { BlobLeases, type EndedLease, type WrittenBlob } from "./leases.ts";
import { linkOrCopy } from "./link-or-copy.ts";
import { makeMissing } from "./new-file.ts";
import { Quarantine } from "./quarantine.ts";
import { RemoteReader, type RemoteStore } from "./remote.ts";
import { SyncQueue } from "./sync-queue.ts";
import { errorCode } from "../lib/error.ts";
import { say } from "../translations/say.ts";

/** Dependencies of {@link DiskBlobStore}. */
interface DiskBlobStoreOptions {
  readonly layout: Layout;
  readonly index: BlobIndex;
  readonly log: Log;
  /** Throws if the store's disk is not the one that was mounted at start. Called before a blob gets its name. */
  readonly checkStore: () => void;
  /** Reads each new blob back before the upload is acknowledged. */
  readonly verifyAfterWrite?: boolean;
  /** Store of blobs that are not on this disk any more. */
  readonly remote?: RemoteStore | undefined;
  /** Reserves space on this disk for a copy of a remote blob. @returns what releases it @throws AppError disk_full */
  readonly reserveCopy?: (bytes: number) => () => void;
  /** Called for a blob that could not be read, or was requested although it is known to be damaged. Must not throw. */
  readonly onFailure?: (digest: Digest) => void;
  readonly disk?: Disk;
}

/** The only writer of `blobs/`. */
export class DiskBlobStore implements BlobStore {
  readonly #layout: Layout;
  readonly #index: BlobIndex;
  readonly #log: Log;
  readonly #disk: Disk;
  readonly #syncQueue: SyncQueue;
  readonly #checkStore: () => void;
  readonly #verifyAfterWrite: boolean;
  readonly #onFailure: (digest: Digest) => void;
  readonly #leases = new BlobLeases((digest, end) => this.#onLeaseEnd(digest, end));
  readonly #folders: BlobFolders;
  readonly #quarantine: Quarantine;
  readonly #otherQueues: SyncQueue[] = [];
  readonly #remote: RemoteReader | undefined;
  #stagedFiles = 0;

  constructor(options: DiskBlobStoreOptions) {
    const { layout, index, log, remote, reserveCopy: reserve = () => () => {} } = options;
    this.#layout = layout;
    this.#index = index;
    this.#log = log;
    this.#disk = options.disk ?? realDisk;
    this.#checkStore = options.checkStore;
    this.#verifyAfterWrite = options.verifyAfterWrite ?? false;
    this.#onFailure = options.onFailure ?? (() => {});
    this.#syncQueue = new SyncQueue(layout.root, log, { disk: this.#disk, checkDisk: this.#checkStore });
    this.#folders = new BlobFolders(layout);
    this.#quarantine = new Quarantine(layout, this.#disk, log);
    if (remote !== undefined)
      this.#remote = new RemoteReader({ remote, index, reserve, begin: (limits) => this.begin(limits) });
  }

  begin(options: PutOptions): BlobWriter {
    return new DiskBlobWriter({
      ...options,
      disk: this.#disk,
      log: this.#log,
      syncQueue: this.#syncQueue,
      newStagingPath: () => this.#newStagingPath(),
      lease: (blob, blobBytes) => this.#lease(blob, blobBytes),
    });
  }

  async adopt(path: string, blob: BlobRef): Promise<BlobLease> {
    const staged = this.#newStagingPath();
    try {
      await linkOrCopy(this.#disk, path, staged);
      const moveTo = (target: string) => {
        const fd = this.#disk.open(staged, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
        this.#disk.rename(staged, target);
        return fd;
      };
      return await this.#lease(blob, { buffers: undefined, moveTo });
    } catch (error) {
      throw translateDiskError(error);
    } finally {
      this.#unlinkStaged(staged);
    }
  }

  pathOf(digest: Digest): string {
    return this.#layout.blob(digest);
  }

  stat(digest: Digest): { sizeBytes: number } | undefined {
    return this.statLocal(digest) ?? this.#remote?.remote.find(digest);
  }

  /** Size of the copy on this disk, or undefined if there is none. */
  statLocal(digest: Digest): { sizeBytes: number } | undefined {
    const stats = fs.lstatSync(this.#layout.blob(digest), { throwIfNoEntry: false });
    return stats?.isFile() ? { sizeBytes: stats.size } : undefined;
  }

  fetchLocal(digest: Digest): Promise<void> | undefined {
    const damage = this.#findDamage(digest);
    if (damage !== undefined) return Promise.reject(damage);
    return this.#remoteUnlessLocal(digest)?.fetchLocal(digest);
  }

  prepareRead(digest: Digest): Promise<"local" | "remote"> | undefined {
    const damage = this.#findDamage(digest);
    if (damage !== undefined) return Promise.reject(damage);
    return this.#remoteUnlessLocal(digest)?.prepareRead(digest);
  }

  async open(digest: Digest, offset: number, lengthBytes: number): Promise<AsyncIterable<Uint8Array>> {
    const remote = this.#remoteUnlessLocal(digest);
    if (remote !== undefined) return remote.open(digest, offset, lengthBytes);
    if (this.statLocal(digest) === undefined) throw contentMissing(digest);
    return Bun.file(this.pathOf(digest))
      .slice(offset, offset + lengthBytes)
      .stream();
  }

  read(digest: Digest, offset: number, lengthBytes: number): Buffer<ArrayBuffer> | Promise<Buffer<ArrayBuffer>> {
    const remote = this.#remoteUnlessLocal(digest);
    return remote?.read(digest, offset, lengthBytes) ?? this.readRange(digest, offset, lengthBytes);
  }

  readSmall(digest: Digest, sizeBytes: number, into?: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
    return this.readRange(digest, 0, sizeBytes, into);
  }

  readRange(digest: Digest, offset: number, lengthBytes: number, into?: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
    const bytes = into === undefined ? Buffer.allocUnsafeSlow(lengthBytes) : into.subarray(0, lengthBytes);
    let fd: number;
    try {
      fd = fs.openSync(this.#layout.blob(digest), fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
    } catch (error) {
      // ELOOP: a symbolic link, which is never followed.
      this.#onFailure(digest);
      const isThere = !["ENOENT", "ENOTDIR", "ELOOP"].includes(errorCode(error) ?? "");
      throw isThere ? translateDiskError(error) : contentMissing(digest);
    }
    try {
      if (fs.readSync(fd, bytes, 0, lengthBytes, offset) !== lengthBytes) throw contentMissing(digest);
    } catch (error) {
      this.#onFailure(digest);
      throw translateDiskError(error);
    } finally {
      fs.closeSync(fd);
    }
    return bytes;
  }

  async hash(digest: Digest): Promise<Digest> {
    if (this.statLocal(digest) === undefined) {
      if (this.#remote === undefined) throw contentMissing(digest);
      return this.#remote.hash(digest);
    }
    const hasher = new Bun.CryptoHasher("sha256");
    try {
      for await (const buffer of Bun.file(this.#layout.blob(digest)).stream()) hasher.update(buffer);
    } catch (error) {
      throw errorCode(error) === "ENOENT" ? contentMissing(digest) : translateDiskError(error);
    }
    return toDigest(hasher.digest("hex"));
  }

  isLeased(digest: Digest): boolean {
    return this.#leases.has(digest);
  }

  /**
   * Replaces a damaged copy on this disk by the bytes of the remote store. The blob's row must say that it is damaged.
   * Concurrent readers see the old or the new bytes.
   * @throws AppError content_missing | content_damaged | provider_unavailable | disk_full
   */
  async replaceFromRemote(digest: Digest): Promise<void> {
    if (this.#remote === undefined) throw contentMissing(digest);
    await this.#remote.replace(digest);
  }

  /** Deletes the copy on this disk of a blob; the caller made sure that the remote store has it. Skips a leased blob. */
  dropCopy(digest: Digest): void {
    if (!this.isLeased(digest) && this.statLocal(digest) !== undefined) this.#unlinkBlob(digest);
  }

  quarantine(digest: Digest): void {
    this.#quarantine.moveIn(digest);
  }

  unlinkQuarantined(digest: Digest): void {
    this.#quarantine.unlink(digest);
  }

  listFolder(firstByte: string): { digest: Digest; modifiedAtMs: number }[] {
    const top = this.#layout.firstByteFolder(firstByte);
    return listNames(top).flatMap((second) =>
      listNames(join(top, second)).flatMap((name) => {
        const digest = Layout.digestOf(name);
        const stats = digest && fs.lstatSync(join(top, second, name), { throwIfNoEntry: false });
        return digest && stats ? [{ digest, modifiedAtMs: stats.mtimeMs }] : [];
      }),
    );
  }

  /** The queue that syncs files of another folder: the store's own if both are on the same file system. */
  syncQueueFor(folder: string): SyncQueue {
    if (fs.statSync(folder).dev === fs.statSync(this.#layout.root).dev) return this.#syncQueue;
    const queue = new SyncQueue(folder, this.#log);
    this.#otherQueues.push(queue);
    return queue;
  }

  /** Makes the folders that every blob needs, if they are missing. Call once, at start. */
  makeFolders(): void {
    for (const folder of this.#layout.folders()) fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  /**
   * Deletes the staged files of uploads that a crash or a power cut ended. Call once, before the first upload.
   * @returns how many there were
   */
  sweepStaging(): number {
    const names = listNames(this.#layout.staging).filter((name) => name.endsWith(".part"));
    for (const name of names) this.#disk.unlink(join(this.#layout.staging, name));
    return names.length;
  }

  /** Makes many blobs durable at a time, although each may wait longer: for long work on which nobody waits. */
  readonly syncTogether = (): void => this.#syncQueue.alwaysGroup();

  /** Ends the thread that syncs. No upload may be in progress. */
  close(): void {
    this.#syncQueue.close();
    for (const queue of this.#otherQueues) queue.close();
  }

  #lease(blob: BlobRef, staged: StagedBlob): Promise<BlobLease> {
    return this.#leases.take(blob, () => this.#commitBlob(blob, staged));
  }

  /** Makes staged bytes durable wherever they must be before a row names them. */
  async #commitBlob(blob: BlobRef, staged: StagedBlob): Promise<WrittenBlob> {
    const isNew = await this.#writeBlob(blob, staged);
    const sending = this.#remote?.remote.sendNow?.(blob);
    if (sending !== undefined) await sending;
    return { isNew, isSent: sending !== undefined };
  }

  /** Gives staged bytes their final path and makes them durable. @returns false if a whole copy was there already */
  async #writeBlob({ digest, sizeBytes }: BlobRef, staged: StagedBlob): Promise<boolean> {
    // 1. Skip a blob that is stored already. One that is damaged, or has another size than its row, is written again.
    const row = this.#index.find(digest);
    if (row !== undefined && !row.isDamaged && this.statLocal(digest)?.sizeBytes === sizeBytes) return false;

    const folders = this.#folders.unsynced(digest);
    const { buffers } = staged;
    try {
      // 2. Give the bytes their path, and sync them with the folder entries. Nobody reads a blob without a row, so a small
      //    one is written directly.
      if (row === undefined && buffers !== undefined) await this.#writeNew(digest, buffers, folders);
      else await this.#moveStaged(digest, staged, folders, row !== undefined);

      // 3. Read the blob back, if that is configured.
      if (this.#verifyAfterWrite) await this.#checkWritten(digest);
    } catch (error) {
      // The state on the device after a failed sync is unknown, and another sync would prove nothing: forget it all. What
      // is left of the blob is removed when its last lease ends, unless a row names it by then.
      this.#folders.forget(digest, folders);
      throw error;
    }
    this.#folders.noteSynced(digest, folders);
    if (row !== undefined) this.#remote?.remote.noteUse(digest);
    return true;
  }

  #writeNew(digest: Digest, buffers: readonly Uint8Array<ArrayBuffer>[], folders: readonly string[]): Promise<void> {
    const path = this.#layout.blob(digest);
    return this.#syncQueue.write({ buffers, path, temporaryPath: this.#newStagingPath(), folders });
  }

  /** @param isReplacing whether the path may have damaged bytes, which are preserved */
  async #moveStaged(
    digest: Digest,
    staged: StagedBlob,
    folders: readonly string[],
    isReplacing: boolean,
  ): Promise<void> {
    this.#checkStore();
    makeMissing(this.#disk, folders);
    if (isReplacing) this.#quarantine.preserveDamaged(digest);
    const fd = staged.moveTo(this.#layout.blob(digest));
    try {
      await this.#syncQueue.sync({ fd, folders });
    } finally {
      this.#disk.close(fd);
    }
  }

  async #checkWritten(digest: Digest): Promise<void> {
    if ((await this.hash(digest)) === digest) return;
    const message = say`The server could not store the file correctly. Try again, or ask your administrator to check the disk.`;
    throw new AppError("storage_error", message);
  }

  #onLeaseEnd(digest: Digest, { isNamed, isNew, isSent }: EndedLease): void {
    if (isNamed && !isSent) this.#remote?.remote.noteStored(digest, isNew);
    // An upload that was rejected at the last moment (a taken name, the quota) leaves nothing behind.
    if (!isNamed && this.statLocal(digest) !== undefined && this.#index.find(digest) === undefined)
      this.#unlinkBlob(digest);
  }

  /** The error for a blob whose row says that it is damaged. */
  #findDamage(digest: Digest): AppError | undefined {
    if (this.#index.isDamaged?.(digest) !== true) return undefined;
    // Triggers a check of the blob: the operator may have replaced it by a good copy.
    this.#onFailure(digest);
    return this.stat(digest) === undefined ? contentMissing(digest) : contentDamaged(digest);
  }

  /** The remote store, for a blob that is not on this disk. A copy on this disk is noted as used. */
  #remoteUnlessLocal(digest: Digest): RemoteReader | undefined {
    if (this.#remote === undefined) return undefined;
    if (this.statLocal(digest) === undefined) return this.#remote;
    this.#remote.remote.noteUse(digest);
    return undefined;
  }

  #newStagingPath(): string {
    return `${this.#layout.staging}/${process.pid}-${++this.#stagedFiles}.part`;
  }

  /**
   * Deletes a name in `incoming/`. It is left over if the blob was stored already, and if the blob was a hard link to
   * the same bytes: rename(2) does nothing then.
   */
  #unlinkStaged(path: string): void {
    try {
      this.#disk.unlink(path);
    } catch (error) {
      if (errorCode(error) !== "ENOENT")
        this.#log.warn("Could not remove a temporary file from incoming/; the next start removes it.", { error });
    }
  }

  #unlinkBlob(digest: Digest): void {
    try {
      this.#disk.unlink(this.#layout.blob(digest));
    } catch (error) {
      if (errorCode(error) === "ENOENT") return;
      this.#log.warn("Could not remove a blob that was not stored completely; garbage collection will remove it.", {
        error,
      });
    }
  }
}

function listNames(folder: string): string[] {
  try {
    return fs.readdirSync(folder);
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return [];
    throw error;
  }
}
