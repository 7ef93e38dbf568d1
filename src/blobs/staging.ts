/**
 * `uploads/`: files that arrive in chunks, in any order. Each chunk is written at its position in one file. Bytes are durable
 * once `sync` resolved; before that, a crash may leave anything in their place.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import type { Log } from "../lib/log.ts";
import { type Disk, realDisk, translateDiskError, tryDisk } from "./disk.ts";
import { PrefixHasher, type FileHashes } from "./prefix-hasher.ts";
import { SharedFile } from "./shared-file.ts";
import type { SyncQueue } from "./sync-queue.ts";
import { errorCode } from "../lib/error.ts";

/** An open file of the staging area. */
export interface StagedFile {
  /** Writes bytes at a position, synchronously. @throws AppError disk_full | storage_error */
  write(bytes: Uint8Array, position: number): void;
  /** Whether the file has these bytes at the position already. @throws AppError storage_error */
  contains(bytes: Uint8Array, position: number): boolean;
  /** Reads bytes that were written before. @throws AppError storage_error */
  read(lengthBytes: number, position: number): Buffer<ArrayBuffer>;
  /**
   * Resolves when all bytes that were written before the call are on the device, and so is the file's folder entry.
   * @throws AppError disk_full | storage_error; from then on for all users of the open file, because what a failed sync
   *   left on the device is unknown
   */
  sync(): Promise<void>;
  /** Call once for each `open`. */
  release(): void;
}

/** Bytes that replace others once they are whole; a file next to the staged one. */
export interface ReplacementFile {
  /** Appends bytes, synchronously. @throws AppError disk_full | storage_error */
  append(bytes: Uint8Array): void;
  /** Makes the file durable under its final name. @throws AppError disk_full | storage_error */
  commit(name: string): Promise<void>;
  /** Deletes the file, unless it was committed. Never throws. */
  abort(): void;
}

/** Dependencies of {@link Staging}. */
interface StagingOptions {
  /** `uploads/`, which exists. */
  readonly directory: string;
  /** Makes small files and folder entries durable in batches. */
  readonly syncQueue: SyncQueue;
  readonly log: Log;
  readonly disk?: Disk;
}

/** Files up to this size are synced in a batch with others; larger ones on their own. */
const SMALL_BYTES_MAX = 256 * 1024;
const COPY_BYTES = 1024 * 1024;

/** The only writer of `uploads/`. File names are ids that the server made, never input of a user. */
export class Staging {
  readonly #options: StagingOptions;
  readonly #disk: Disk;
  readonly #hasher = new PrefixHasher();
  readonly #open = new Map<string, SharedFile>();
  /** Files whose folder entry is on the device. */
  readonly #durableEntries = new Set<string>();
  /** How often the bytes of a file were changed after they were hashed. */
  readonly #generations = new Map<string, number>();
  #replacements = 0;

  constructor(options: StagingOptions) {
    this.#options = options;
    this.#disk = options.disk ?? realDisk;
  }

  /** Path of a file, which may be missing. */
  pathOf(name: string): string {
    return join(this.#options.directory, name);
  }

  /** Size of a file on disk, or undefined if it is missing. */
  sizeOf(name: string): number | undefined {
    const stats = fs.lstatSync(this.pathOf(name), { throwIfNoEntry: false });
    return stats?.isFile() ? stats.size : undefined;
  }

  /**
   * Whether a file has a second name: the blob store took it over, so its bytes must not change any more. Without hard
   * links, the store has a copy.
   */
  isTaken(name: string): boolean {
    const stats = fs.lstatSync(this.pathOf(name), { throwIfNoEntry: false });
    return stats !== undefined && stats.nlink > 1;
  }

  /**
   * Opens a file for writing and reading, and creates a missing one (mode 0600).
   * @param sizeBytes size of the complete file
   * @throws AppError disk_full | storage_error
   */
  open(name: string, sizeBytes: number): StagedFile {
    const shared = this.#open.get(name);
    const file = shared !== undefined && !shared.isBroken ? shared : this.#openFile(name, sizeBytes);
    file.users++;
    let isReleased = false;
    return {
      write: (bytes, position) => file.write(bytes, position),
      contains: (bytes, position) => file.read(bytes.length, position)?.equals(bytes) ?? false,
      read: (lengthBytes, position) => {
        const bytes = file.read(lengthBytes, position);
        if (bytes === undefined)
          throw translateDiskError(new Error("a staged file is shorter than the bytes that were written to it"));
        return bytes;
      },
      sync: () => file.sync(),
      release: () => {
        if (isReleased) return;
        isReleased = true;
        this.#release(name, file);
      },
    };
  }

  /** Begins a file whose name ends in `.part`, so that the next sweep deletes what a crash leaves of it. @throws AppError */
  beginReplacement(): ReplacementFile {
    const path = this.pathOf(`${process.pid}-${++this.#replacements}.part`);
    const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW } = fs.constants;
    const disk = this.#disk;
    let fd: number | undefined = tryDisk(() => this.#openPath(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW));
    const close = () => {
      if (fd !== undefined) disk.close(fd);
      fd = undefined;
    };
    return {
      append: (bytes) => tryDisk(() => fd !== undefined && disk.write(fd, bytes)),
      commit: async (name) => {
        try {
          if (fd === undefined) return;
          await disk.dataSync(fd);
          disk.rename(path, this.pathOf(name));
          await this.#options.syncQueue.sync({ fd, folders: [this.#options.directory] });
        } catch (error) {
          throw translateDiskError(error);
        } finally {
          close();
        }
      },
      abort: () => {
        close();
        this.#unlink(path);
      },
    };
  }

  /**
   * Copies a file into another one at a position, a buffer at a time; durable on return. Safe to repeat.
   * @returns false if the source is missing
   */
  async copyInto(from: string, file: StagedFile, position: number): Promise<boolean> {
    const sizeBytes = this.sizeOf(from);
    if (sizeBytes === undefined) return false;
    const source = this.open(from, sizeBytes);
    try {
      for (let at = 0; at < sizeBytes; at += COPY_BYTES) {
        file.write(source.read(Math.min(COPY_BYTES, sizeBytes - at), at), position + at);
        await new Promise(setImmediate);
      }
      await file.sync();
    } finally {
      source.release();
    }
    return true;
  }

  /**
   * Cuts a file to a size: deletes bytes after its end that arrived and were not counted. Durable on return.
   * @throws AppError disk_full | storage_error
   */
  async truncate(name: string, sizeBytes: number): Promise<void> {
    if ((this.sizeOf(name) ?? 0) <= sizeBytes) return;
    const { O_RDWR, O_NOFOLLOW } = fs.constants;
    const fd = tryDisk(() => this.#disk.open(this.pathOf(name), O_RDWR | O_NOFOLLOW));
    try {
      fs.ftruncateSync(fd, sizeBytes);
      await this.#disk.dataSync(fd);
    } catch (error) {
      throw translateDiskError(error);
    } finally {
      this.#disk.close(fd);
    }
  }

  /** Starts hashing the bytes that arrived from the start of the file without a gap, in the background. */
  hashAhead(name: string, prefixBytes: number): void {
    this.#hasher.ahead(this.#keyOf(name), this.pathOf(name), prefixBytes);
  }

  /** Digest and CRC-32 of a whole file. Only bytes that were not hashed ahead are read. @throws AppError storage_error */
  async hashWhole(name: string, sizeBytes: number): Promise<FileHashes> {
    try {
      return await this.#hasher.whole(this.#keyOf(name), this.pathOf(name), sizeBytes);
    } catch (error) {
      throw translateDiskError(error);
    }
  }

  /** Call when bytes changed that may have been hashed already. */
  invalidate(name: string): void {
    this.#hasher.forget(this.#keyOf(name));
    this.#generations.set(name, (this.#generations.get(name) ?? 0) + 1);
  }

  /** Deletes a file and its hashes. Never throws; the next sweep finds a file that stays. */
  remove(name: string): void {
    this.#hasher.forget(this.#keyOf(name));
    this.#generations.delete(name);
    this.#durableEntries.delete(name);
    this.#unlink(this.pathOf(name));
  }

  /** The names of all staged files. */
  list(): string[] {
    return fs.readdirSync(this.#options.directory);
  }

  /** Ends the thread that hashes. No upload may be in progress. */
  close(): void {
    this.#hasher.close();
  }

  #unlink(path: string): void {
    try {
      this.#disk.unlink(path);
    } catch (error) {
      if (errorCode(error) === "ENOENT") return;
      this.#options.log.warn("Could not remove an unfinished upload; the next clean-up removes it.", { error });
    }
  }

  #openFile(name: string, sizeBytes: number): SharedFile {
    const { O_CREAT, O_RDWR, O_NOFOLLOW } = fs.constants;
    try {
      const fd = this.#openPath(this.pathOf(name), O_CREAT | O_RDWR | O_NOFOLLOW);
      const file = new SharedFile({
        fd,
        disk: this.#disk,
        syncQueue: this.#options.syncQueue,
        isSmall: sizeBytes <= SMALL_BYTES_MAX,
        folders: () => (this.#durableEntries.has(name) ? [] : [this.#options.directory]),
        onDurableEntry: () => this.#durableEntries.add(name),
      });
      this.#open.set(name, file);
      return file;
    } catch (error) {
      throw translateDiskError(error);
    }
  }

  /** Opens a file. Makes the folder again where somebody deleted it: clients must send its files again in any case. */
  #openPath(path: string, flags: number): number {
    try {
      return this.#disk.open(path, flags);
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error;
      this.#options.log.error("The directory uploads/ was missing; created it again.");
      this.#durableEntries.clear();
      this.#disk.makeFolder(this.#options.directory);
      return this.#disk.open(path, flags);
    }
  }

  #release(name: string, file: SharedFile): void {
    if (--file.users > 0) return;
    if (this.#open.get(name) === file) this.#open.delete(name);
    file.close();
  }

  #keyOf(name: string): string {
    return `${name}.${this.#generations.get(name) ?? 0}`;
  }
}
