/**
 * Blobs on the local disk: `blobs/sha256/ab/cd/<hex>`.
 *
 * The way of a content: small ones wait in memory until their digest is known, larger ones are written to
 * `blobs/incoming/` as they come; then rename to the final place, sync of content and folders, and only then the caller's row. The
 * rename comes before the sync, so a name in `blobs/` proves nothing by itself: what counts is the committed row.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { AppError } from "../errors.ts";
import type { Log } from "../lib/log.ts";
import {
  type BlobIndex,
  type BlobRef,
  type BlobStore,
  contentDamaged,
  contentMissing,
  type BlobLease,
  type BlobWriter,
  type PutOptions,
} from "./blob-store.ts";
import { type Digest, toDigest } from "./digest.ts";
import { type Disk, errorCode, realDisk, translateDiskError } from "./disk.ts";
import { Layout } from "./layout.ts";
import { type RemoteStore, RemoteReader } from "./remote.ts";
import { SyncQueue } from "./sync-queue.ts";

/** What a {@link DiskBlobStore} works on. */
export interface DiskBlobStoreOptions {
  readonly layout: Layout;
  readonly index: BlobIndex;
  readonly log: Log;
  /** Throws where the store's disk is not the one it was at start (D7). Called before content is given a name. */
  readonly checkStore: () => void;
  /** Reads each new blob back before it is acknowledged (D4). */
  readonly verifyAfterWrite?: boolean;
  /** Where contents may lie that are not on this disk any more. */
  readonly remote?: RemoteStore | undefined;
  /** Takes room for a copy of what lies there. @returns what gives it back @throws AppError disk_full */
  readonly reserveCopy?: (bytes: number) => () => void;
  /** Reported of a content that could not be read, or was asked for though it is known to be damaged. Must not throw. */
  readonly onFailure?: (digest: Digest) => void;
  readonly disk?: Disk;
}

/** Contents up to this size wait in memory for their digest, and are then written at once. */
const IN_MEMORY_BYTES_MAX = 256 * 1024;
/** A large content is written back piece by piece, so that its final sync, and everybody else's, finds little to do. */
const WRITE_BACK_BYTES = 8 * 1024 * 1024;
const HEAD_BYTES = 4_100;
/** Copied at once, where a content can't be taken over without copying. */
const COPY_BYTES = 1024 * 1024;

/** The one writer of `blobs/`. */
export class DiskBlobStore implements BlobStore {
  readonly #layout: Layout;
  readonly #index: BlobIndex;
  readonly #log: Log;
  readonly #disk: Disk;
  readonly #syncQueue: SyncQueue;
  readonly #checkStore: () => void;
  readonly #verifyAfterWrite: boolean;
  readonly #onFailure: (digest: Digest) => void;
  /** Contents that an upload holds: how many hold it, and when its bytes will be durable. */
  readonly #arriving = new Map<
    Digest,
    { holders: number; isNamed: boolean; isNew: boolean; stored: Promise<boolean> }
  >();
  /** Folders known to exist with their entry on the device. Bounded by the fan-out: 65,536. */
  readonly #folders = new Set<string>();
  readonly #otherQueues: SyncQueue[] = [];
  readonly #remote: RemoteReader | undefined;
  #stagedFiles = 0;

  constructor(options: DiskBlobStoreOptions) {
    this.#layout = options.layout;
    this.#index = options.index;
    this.#log = options.log;
    this.#disk = options.disk ?? realDisk;
    this.#checkStore = options.checkStore;
    this.#verifyAfterWrite = options.verifyAfterWrite ?? false;
    this.#onFailure = options.onFailure ?? (() => {});
    this.#syncQueue = new SyncQueue(options.layout.root, options.log);
    const { remote: place, index, reserveCopy: reserve = () => () => {} } = options;
    if (place !== undefined)
      this.#remote = new RemoteReader({ remote: place, index, reserve, begin: (asked) => this.begin(asked) });
  }

  begin(options: PutOptions): BlobWriter {
    return new DiskBlobWriter(options, this.#disk, this.#log, this.#syncQueue, () => this.#newStagingPath(), this);
  }

  pathOf(digest: Digest): string {
    return this.#layout.blob(digest);
  }

  stat(digest: Digest): { sizeBytes: number } | undefined {
    return this.statLocal(digest) ?? this.#remote?.remote.find(digest);
  }

  fetchLocal(digest: Digest): Promise<void> | undefined {
    const rejection = this.#rejectionOf(digest);
    if (rejection !== undefined) return Promise.reject(rejection);
    return this.#findAway(digest)?.fetchLocal(digest);
  }

  prepareRead(digest: Digest): Promise<"here" | "away"> | undefined {
    const rejection = this.#rejectionOf(digest);
    if (rejection !== undefined) return Promise.reject(rejection);
    return this.#findAway(digest)?.reach(digest);
  }

  async open(digest: Digest, offset: number, lengthBytes: number): Promise<AsyncIterable<Uint8Array>> {
    const away = this.#findAway(digest);
    if (away !== undefined) return away.open(digest, offset, lengthBytes);
    if (this.statLocal(digest) === undefined) throw contentMissing(digest);
    return Bun.file(this.pathOf(digest))
      .slice(offset, offset + lengthBytes)
      .stream();
  }

  read(digest: Digest, offset: number, lengthBytes: number): Buffer<ArrayBuffer> | Promise<Buffer<ArrayBuffer>> {
    return this.#findAway(digest)?.read(digest, offset, lengthBytes) ?? this.readRange(digest, offset, lengthBytes);
  }

  /** Size of the copy on this disk, or undefined where there is none. */
  statLocal(digest: Digest): { sizeBytes: number } | undefined {
    const stats = fs.lstatSync(this.#layout.blob(digest), { throwIfNoEntry: false });
    return stats?.isFile() ? { sizeBytes: stats.size } : undefined;
  }

  readSmall(digest: Digest, sizeBytes: number): Buffer<ArrayBuffer> {
    return this.readRange(digest, 0, sizeBytes);
  }

  readRange(digest: Digest, offset: number, lengthBytes: number): Buffer<ArrayBuffer> {
    const bytes = Buffer.allocUnsafeSlow(lengthBytes);
    let fd: number;
    try {
      fd = fs.openSync(this.#layout.blob(digest), fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
    } catch (error) {
      // ELOOP: a link, which is never followed (D49).
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
      for await (const piece of Bun.file(this.#layout.blob(digest)).stream()) hasher.update(piece);
    } catch (error) {
      throw errorCode(error) === "ENOENT" ? contentMissing(digest) : translateDiskError(error);
    }
    return toDigest(hasher.digest("hex"));
  }

  isLeased(digest: Digest): boolean {
    return this.#arriving.has(digest);
  }

  /**
   * Puts the bytes of the other place where a copy on this disk was found damaged; its row must say so. Readers see the old
   * or the new bytes. @throws AppError content_missing | content_damaged | provider_unavailable | disk_full
   */
  async replaceFromRemote(digest: Digest): Promise<void> {
    if (this.#remote === undefined) throw contentMissing(digest);
    await this.#remote.replace(digest);
  }

  /**
   * Removes the copy on this disk of a content that is kept elsewhere; the caller has made sure of that. Nothing happens
   * where an upload holds it, or it is not there. Never throws: what stays is only in the way.
   */
  dropCopy(digest: Digest): void {
    if (!this.isLeased(digest) && this.statLocal(digest) !== undefined) this.#remove(this.#layout.blob(digest));
  }

  quarantine(digest: Digest): void {
    try {
      this.#disk.rename(this.#layout.blob(digest), this.#layout.quarantined(digest));
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw translateDiskError(error);
    }
  }

  unlinkQuarantined(digest: Digest): void {
    try {
      this.#disk.unlink(this.#layout.quarantined(digest));
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw translateDiskError(error);
    }
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

  /**
   * What makes files of another folder durable in batches: together with the store's own where both lie on the same file
   * system, otherwise by itself.
   */
  syncQueueFor(folder: string): SyncQueue {
    if (fs.statSync(folder).dev === fs.statSync(this.#layout.root).dev) return this.#syncQueue;
    const own = new SyncQueue(folder, this.#log);
    this.#otherQueues.push(own);
    return own;
  }

  async adopt(path: string, content: BlobRef): Promise<BlobLease> {
    const staged = this.#newStagingPath();
    try {
      await this.#linkOrCopy(path, staged);
      return await this.lease(content, (target) => {
        const fd = this.#disk.open(staged, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
        this.#disk.rename(staged, target);
        return fd;
      });
    } catch (error) {
      throw translateDiskError(error);
    } finally {
      this.#dropName(staged);
    }
  }

  /** Makes the folders that every blob needs, where they are missing. Once, at start. */
  makeFolders(): void {
    for (const folder of this.#layout.folders()) fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  /**
   * Removes what uploads left behind that a crash or a power cut ended. Call once, before the first upload.
   * @returns how many there were
   */
  sweepStaging(): number {
    const names = listNames(this.#layout.staging).filter((name) => name.endsWith(".part"));
    for (const name of names) this.#disk.unlink(join(this.#layout.staging, name));
    return names.length;
  }

  /** Ends the thread that syncs. No upload may be running any more. */
  close(): void {
    this.#syncQueue.close();
    for (const queue of this.#otherQueues) queue.close();
  }

  /**
   * Gives a written content its name and makes it durable, or finds that it is there already. For {@link BlobWriter}.
   * @param place puts the content at the given path (a rename within the file system) and gives its open descriptor
   */
  async lease(content: Omit<BlobLease, "isNew" | "release">, place: (path: string) => number): Promise<BlobLease> {
    const { digest, sizeBytes } = content;
    let isHeld = true;
    const release = (isNamed: boolean) => {
      if (isHeld) this.#letGo(digest, isNamed);
      isHeld = false;
    };
    // Another upload brings the very same bytes just now: what it stores is ours too.
    let entry = this.#arriving.get(digest);
    if (entry === undefined) {
      entry = { holders: 0, isNamed: false, isNew: false, stored: this.#write(digest, sizeBytes, place) };
      this.#arriving.set(digest, entry);
    }
    entry.holders++;
    try {
      entry.isNew = await entry.stored;
      return { ...content, isNew: entry.isNew, release };
    } catch (error) {
      release(false);
      throw translateDiskError(error);
    }
  }

  /** A second name on the store's file system for the bytes of a file; where that can't be, a copy of them. */
  async #linkOrCopy(from: string, to: string): Promise<void> {
    try {
      this.#disk.link(from, to);
    } catch (error) {
      // Another file system (EXDEV), or one that knows no second names.
      if (!["EXDEV", "EPERM", "ENOTSUP", "EOPNOTSUPP", "EMLINK", "ENOSYS"].includes(errorCode(error) ?? ""))
        throw error;
      await this.#copy(from, to);
    }
  }

  async #copy(from: string, to: string): Promise<void> {
    const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW, O_RDONLY } = fs.constants;
    const source = this.#disk.open(from, O_RDONLY | O_NOFOLLOW);
    try {
      const target = this.#disk.open(to, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW);
      try {
        const piece = Buffer.allocUnsafeSlow(COPY_BYTES);
        let unsyncedBytes = 0;
        for (let got = fs.readSync(source, piece); got > 0; got = fs.readSync(source, piece)) {
          this.#disk.write(target, piece.subarray(0, got));
          unsyncedBytes += got;
          if (unsyncedBytes >= WRITE_BACK_BYTES) {
            await this.#disk.dataSync(target);
            unsyncedBytes = 0;
          } else await new Promise(setImmediate);
        }
        await this.#disk.dataSync(target);
      } finally {
        this.#disk.close(target);
      }
    } finally {
      this.#disk.close(source);
    }
  }

  /** Takes a name in `incoming/` away. It may be gone, or stay beside the blob's where both were names of the same bytes. */
  #dropName(staged: string): void {
    try {
      this.#disk.unlink(staged);
    } catch (error) {
      if (errorCode(error) !== "ENOENT")
        this.#log.warn("Could not remove a temporary file from incoming/; the next start removes it.", { error });
    }
  }

  #rejectionOf(digest: Digest): AppError | undefined {
    if (this.#index.isDamaged?.(digest) !== true) return undefined;
    // Somebody may have put a good copy in its place.
    this.#onFailure(digest);
    return this.stat(digest) === undefined ? contentMissing(digest) : contentDamaged(digest);
  }

  #letGo(digest: Digest, isNamed: boolean): void {
    const entry = this.#arriving.get(digest);
    if (entry === undefined) return;
    entry.isNamed ||= isNamed;
    if (--entry.holders > 0) return;
    this.#arriving.delete(digest);
    if (entry.isNamed) this.#remote?.remote.noteStored(digest, entry.isNew);
    // An upload that was refused at the last moment (a taken name, the quota) leaves nothing behind.
    if (!entry.isNamed && this.statLocal(digest) !== undefined && this.#index.find(digest) === undefined) {
      this.#remove(this.#layout.blob(digest));
    }
  }

  async #write(digest: Digest, sizeBytes: number, place: (path: string) => number): Promise<boolean> {
    const known = this.#index.find(digest);
    // Content that failed its last check, or has another size than its row says, is written again (D10).
    if (known !== undefined && !known.isDamaged && this.statLocal(digest)?.sizeBytes === sizeBytes) return false;
    this.#checkStore();
    const folders = this.#makeFolders(digest);
    const path = this.#layout.blob(digest);
    if (known !== undefined) this.#keepDamaged(path, digest);
    const fd = place(path);
    try {
      await this.#syncQueue.sync({ fd, folders });
      if (this.#verifyAfterWrite && (await this.hash(digest)) !== digest) {
        throw new AppError(
          "storage_error",
          "The server could not store the file correctly. Try again, or ask your administrator to check the disk.",
        );
      }
    } catch (error) {
      // What a failed sync left is not known, and trying again would prove nothing: forget it all.
      for (const folder of folders) this.#folders.delete(folder);
      if (known === undefined) this.#remove(path);
      throw error;
    } finally {
      this.#disk.close(fd);
    }
    for (const folder of folders.slice(0, -1)) this.#folders.add(folder);
    if (known !== undefined) this.#remote?.remote.noteUse(digest);
    return true;
  }

  /** What fetches a content that is not on this disk, where there is another place; a copy here is noted as used. */
  #findAway(digest: Digest): RemoteReader | undefined {
    if (this.#remote === undefined) return undefined;
    if (this.statLocal(digest) === undefined) return this.#remote;
    this.#remote.remote.noteUse(digest);
    return undefined;
  }

  /** Gives damaged bytes a second name in quarantine/, before good ones take their place: they may be all that is left. */
  #keepDamaged(path: string, digest: Digest): void {
    try {
      this.#disk.link(path, this.#layout.damaged(digest));
    } catch (error) {
      // There are none; they are kept from before; or the file system knows no second names, and the good ones matter more.
      if (["ENOENT", "EEXIST", "ENOTDIR"].includes(errorCode(error) ?? "")) return;
      this.#log.warn("Could not move a damaged blob to quarantine/; replacing it with a good copy.", { error });
    }
  }

  /** Makes the folder of a blob. @returns it and all folders above that got a new entry which is not yet on the device. */
  #makeFolders(digest: Digest): string[] {
    const [leaf, middle, top] = this.#layout.foldersOf(digest);
    if (this.#folders.has(leaf)) return [leaf];
    if (!this.#makeFolder(leaf)) {
      this.#makeFolder(middle);
      this.#makeFolder(leaf);
    }
    return this.#folders.has(middle) ? [leaf, middle] : [leaf, middle, top];
  }

  /** @returns false where the folder above is missing */
  #makeFolder(folder: string): boolean {
    try {
      this.#disk.makeFolder(folder);
    } catch (error) {
      if (errorCode(error) === "ENOENT") return false;
      if (errorCode(error) !== "EEXIST") throw error;
    }
    return true;
  }

  #newStagingPath(): string {
    return `${this.#layout.staging}/${process.pid}-${++this.#stagedFiles}.part`;
  }

  #remove(path: string): void {
    try {
      this.#disk.unlink(path);
    } catch (error) {
      this.#log.warn("Could not remove a blob that was not stored completely; garbage collection will remove it.", {
        error,
      });
    }
  }
}

class DiskBlobWriter implements BlobWriter {
  readonly #options: PutOptions;
  readonly #disk: Disk;
  readonly #log: Log;
  readonly #syncQueue: SyncQueue;
  readonly #newStagingPath: () => string;
  readonly #store: DiskBlobStore;
  readonly #hasher = new Bun.CryptoHasher("sha256");
  #pieces: Uint8Array[] = [];
  #head: Uint8Array | undefined;
  #crc32 = 0;
  #digest: Digest | undefined;
  #staged: { readonly path: string; fd: number } | undefined;
  #unsyncedBytes = 0;
  #writeBack: Promise<void> | undefined;
  sizeBytes = 0;

  constructor(
    options: PutOptions,
    disk: Disk,
    log: Log,
    syncQueue: SyncQueue,
    newStagingPath: () => string,
    store: DiskBlobStore,
  ) {
    this.#options = options;
    this.#disk = disk;
    this.#log = log;
    this.#syncQueue = syncQueue;
    this.#newStagingPath = newStagingPath;
    this.#store = store;
  }

  get head(): Uint8Array {
    return this.#head ?? joinBuffers(this.#pieces).subarray(0, HEAD_BYTES);
  }

  write(piece: Uint8Array): Promise<void> | void {
    if (this.sizeBytes + piece.length > this.#options.limitBytes) throw this.#options.tooLarge();
    this.sizeBytes += piece.length;
    this.#hasher.update(piece);
    this.#crc32 = crc32(piece, this.#crc32);
    try {
      if (this.#staged === undefined) {
        if (this.sizeBytes <= IN_MEMORY_BYTES_MAX) {
          this.#pieces.push(piece.slice());
          return;
        }
        this.#stage(piece);
      }
      return this.#append(piece);
    } catch (error) {
      throw translateDiskError(error);
    }
  }

  digest(): Digest {
    this.#digest ??= toDigest(this.#hasher.digest("hex"));
    return this.#digest;
  }

  async commit(): Promise<BlobLease> {
    const content = { digest: this.digest(), sizeBytes: this.sizeBytes, crc32: this.#crc32 };
    try {
      await this.#writeBack;
      // The bulk reaches the device here, so that the batch that it shares with small files does not wait for it.
      if (this.#staged !== undefined) await this.#disk.dataSync(this.#staged.fd);
      const held = await this.#store.lease(content, (path) => this.#place(path));
      this.abort(); // what was not needed, because the content was there already
      return held;
    } catch (error) {
      this.abort();
      throw translateDiskError(error);
    }
  }

  abort(): void {
    this.#pieces = [];
    const staged = this.#staged;
    if (staged === undefined) return;
    this.#staged = undefined;
    this.#syncQueue.countLargeUpload(-1);
    // The descriptor may still be in use by a write-back.
    void Promise.allSettled([this.#writeBack]).then(() => {
      try {
        this.#disk.close(staged.fd);
        this.#disk.unlink(staged.path);
      } catch (error) {
        this.#log.warn("Could not remove an unfinished upload; the next start removes it.", { error });
      }
    });
  }

  /** Moves on from memory to a file in `incoming/`; `next` is what follows. */
  #stage(next: Uint8Array): void {
    const path = this.#newStagingPath();
    const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW } = fs.constants;
    const fd = this.#disk.open(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW);
    this.#staged = { path, fd };
    this.#syncQueue.countLargeUpload(1);
    const held = joinBuffers(this.#pieces);
    this.#head = Buffer.concat([held.subarray(0, HEAD_BYTES), next.subarray(0, HEAD_BYTES)]).subarray(0, HEAD_BYTES);
    this.#pieces = [];
    this.#disk.write(fd, held);
    this.#unsyncedBytes = held.length;
  }

  #append(piece: Uint8Array): Promise<void> | void {
    if (this.#staged === undefined) return;
    this.#disk.write(this.#staged.fd, piece);
    this.#unsyncedBytes += piece.length;
    if (this.#unsyncedBytes < WRITE_BACK_BYTES) return;
    // One write-back runs while the next stretch arrives; the sender waits when the device falls behind by two.
    const previous = this.#writeBack;
    const { fd } = this.#staged;
    this.#unsyncedBytes = 0;
    const next = (previous ?? Promise.resolve()).then(() => this.#disk.dataSync(fd));
    next.catch(() => {}); // reported where it is awaited: at the next write-back or at the end
    this.#writeBack = next;
    return previous?.catch((error: unknown) => {
      throw translateDiskError(error);
    });
  }

  /** Puts the content at its final path. @returns the open descriptor, which the store closes */
  #place(path: string): number {
    if (this.#staged !== undefined) {
      const { fd, path: from } = this.#staged;
      this.#disk.rename(from, path);
      this.#staged = undefined;
      this.#syncQueue.countLargeUpload(-1);
      return fd;
    }
    const from = this.#newStagingPath();
    const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW } = fs.constants;
    const fd = this.#disk.open(from, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW);
    try {
      for (const piece of this.#pieces) this.#disk.write(fd, piece);
      this.#disk.rename(from, path);
      return fd;
    } catch (error) {
      this.#disk.close(fd);
      this.#disk.unlink(from);
      throw error;
    }
  }
}

function joinBuffers(pieces: readonly Uint8Array[]): Uint8Array {
  const [only] = pieces;
  return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
}

function listNames(folder: string): string[] {
  try {
    return fs.readdirSync(folder);
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return [];
    throw error;
  }
}
