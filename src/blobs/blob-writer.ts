import { crc32 } from "node:zlib";
import type { Log } from "../lib/log.ts";
import type { BlobLease, BlobRef, BlobWriter, PutOptions } from "./blob-store.ts";
import { type Digest, toDigest } from "./digest.ts";
import { type Disk, translateDiskError } from "./disk.ts";
import { CREATE_FLAGS, writeByRename } from "./new-file.ts";
import type { SyncQueue } from "./sync-queue.ts";

/** The bytes of a blob that has no name yet. */
export interface StagedBlob {
  /** The bytes, if they are in memory. */
  readonly buffers: readonly Uint8Array<ArrayBuffer>[] | undefined;
  /** Moves the bytes to a path, by a rename, and returns the descriptor that is open on them. */
  readonly moveTo: (path: string) => number;
}

/** Dependencies of {@link DiskBlobWriter}. */
interface DiskBlobWriterOptions extends PutOptions {
  readonly disk: Disk;
  readonly log: Log;
  readonly syncQueue: SyncQueue;
  /** An unused path in `blobs/incoming/`. */
  readonly newStagingPath: () => string;
  /** Makes the staged bytes durable under their digest. */
  readonly lease: (blob: BlobRef, staged: StagedBlob) => Promise<BlobLease>;
}

/** Blobs up to this size wait in memory for their digest. */
const IN_MEMORY_BYTES_MAX = 256 * 1024;
/** A large blob is synced as it grows, so that its final sync, and everybody else's, finds little to do. */
const WRITE_BACK_BYTES = 8 * 1024 * 1024;
const HEAD_BYTES = 4_100;

/** Stages the bytes of one blob: small ones in memory, larger ones in a file of `blobs/incoming/`. */
export class DiskBlobWriter implements BlobWriter {
  readonly #options: DiskBlobWriterOptions;
  readonly #hasher = new Bun.CryptoHasher("sha256");
  #buffers: Uint8Array<ArrayBuffer>[] = [];
  #head: Uint8Array | undefined;
  #crc32 = 0;
  #digest: Digest | undefined;
  #staged: { readonly path: string; readonly fd: number } | undefined;
  #unsyncedBytes = 0;
  #writeBack: Promise<void> | undefined;
  sizeBytes = 0;

  constructor(options: DiskBlobWriterOptions) {
    this.#options = options;
  }

  get head(): Uint8Array {
    return this.#head ?? joinBuffers(this.#buffers).subarray(0, HEAD_BYTES);
  }

  write(bytes: Uint8Array): Promise<void> | void {
    if (this.sizeBytes + bytes.length > this.#options.limitBytes) throw this.#options.tooLarge();
    this.sizeBytes += bytes.length;
    this.#hasher.update(bytes);
    this.#crc32 = crc32(bytes, this.#crc32);
    try {
      if (this.#staged === undefined) {
        if (this.sizeBytes <= IN_MEMORY_BYTES_MAX) {
          this.#buffers.push(new Uint8Array(bytes));
          return;
        }
        this.#beginFile(bytes);
      }
      return this.#append(bytes);
    } catch (error) {
      throw translateDiskError(error);
    }
  }

  digest(): Digest {
    this.#digest ??= toDigest(this.#hasher.digest("hex"));
    return this.#digest;
  }

  async commit(): Promise<BlobLease> {
    const { disk, lease } = this.#options;
    const blob = { digest: this.digest(), sizeBytes: this.sizeBytes, crc32: this.#crc32 };
    try {
      await this.#writeBack;
      // Most bytes reach the device here, so that small files in the same batch don't wait for them.
      if (this.#staged !== undefined) await disk.dataSync(this.#staged.fd);
      const buffers = this.#staged === undefined ? this.#buffers : undefined;
      const leased = await lease(blob, { buffers, moveTo: (path) => this.#moveStaged(path) });
      this.abort(); // deletes the staged file if the blob was stored already
      return leased;
    } catch (error) {
      this.abort();
      throw translateDiskError(error);
    }
  }

  abort(): void {
    const { disk, log, syncQueue } = this.#options;
    this.#buffers = [];
    const staged = this.#staged;
    if (staged === undefined) return;
    this.#staged = undefined;
    syncQueue.countLargeUpload(-1);
    // A write-back may still use the descriptor.
    void Promise.allSettled([this.#writeBack]).then(() => {
      try {
        disk.close(staged.fd);
        disk.unlink(staged.path);
      } catch (error) {
        log.warn("Could not remove an unfinished upload; the next start removes it.", { error });
      }
    });
  }

  /** Moves the buffers from memory to a file in `incoming/`. @param next the bytes that follow them */
  #beginFile(next: Uint8Array): void {
    const { disk, syncQueue } = this.#options;
    const staged = this.#createFile();
    this.#staged = staged;
    syncQueue.countLargeUpload(1);
    const buffered = joinBuffers(this.#buffers);
    this.#head = Buffer.concat([buffered.subarray(0, HEAD_BYTES), next.subarray(0, HEAD_BYTES)]).subarray(
      0,
      HEAD_BYTES,
    );
    this.#buffers = [];
    disk.write(staged.fd, buffered);
    this.#unsyncedBytes = buffered.length;
  }

  #append(bytes: Uint8Array): Promise<void> | void {
    const { disk } = this.#options;
    if (this.#staged === undefined) return;
    const { fd } = this.#staged;
    disk.write(fd, bytes);
    this.#unsyncedBytes += bytes.length;
    if (this.#unsyncedBytes < WRITE_BACK_BYTES) return;
    // One write-back runs while the next bytes arrive. The sender waits when the device lags by two.
    const previous = this.#writeBack;
    this.#unsyncedBytes = 0;
    const next = (previous ?? Promise.resolve()).then(() => disk.dataSync(fd));
    next.catch(() => {}); // reported where it is awaited: at the next write-back or by `commit`
    this.#writeBack = next;
    return previous?.catch((error: unknown) => {
      throw translateDiskError(error);
    });
  }

  #moveStaged(path: string): number {
    const { disk, syncQueue } = this.#options;
    if (this.#staged === undefined) {
      const temporaryPath = this.#options.newStagingPath();
      return writeByRename(disk, { buffers: this.#buffers, path, temporaryPath });
    }
    const { fd, path: from } = this.#staged;
    disk.rename(from, path);
    this.#staged = undefined;
    syncQueue.countLargeUpload(-1);
    return fd;
  }

  #createFile(): { readonly path: string; readonly fd: number } {
    const path = this.#options.newStagingPath();
    return { path, fd: this.#options.disk.open(path, CREATE_FLAGS) };
  }
}

function joinBuffers(buffers: readonly Uint8Array[]): Uint8Array {
  const [only] = buffers;
  return buffers.length === 1 && only !== undefined ? only : Buffer.concat(buffers);
}
