/**
 * `uploads/`: files that arrive in pieces, in any order, each written at its place in one file as it comes. A piece of
 * the work is durable once `sync` resolved; what was written and not synced may be anything after a crash. Whoever asks
 * for a sync while one runs shares the next one, so that several connections that fill one file cost no more than one.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import type { Log } from "../lib/log.ts";
import { type Disk, errorCode, realDisk, translateDiskError } from "./disk.ts";
import { PrefixHasher, type FileHashes } from "./prefix-hasher.ts";
import type { SyncQueue } from "./sync-queue.ts";

/** A file of the staging area, open for as long as somebody writes to it. */
export interface StagedFile {
  /** Writes a piece at its place, at once. @throws AppError disk_full | storage_error */
  write(piece: Uint8Array, position: number): void;
  /** Whether these bytes lie there already. @throws AppError storage_error */
  contains(piece: Uint8Array, position: number): boolean;
  /** Reads so many bytes, which are there. @throws AppError storage_error */
  read(lengthBytes: number, position: number): Buffer<ArrayBuffer>;
  /**
   * Resolves when all that was written before the call is on the device, the file's own entry included.
   * @throws AppError disk_full | storage_error; from then on for everybody who has this file open: what a failed sync
   *   left is not known
   */
  sync(): Promise<void>;
  /** To be called once, by whoever opened it. */
  release(): void;
}

/** Bytes that are to take the place of others once they are whole; a file beside the staged one. */
export interface ReplacementFile {
  /** Appends a piece, at once. @throws AppError disk_full | storage_error */
  append(piece: Uint8Array): void;
  /** Makes it durable under its lasting name. @throws AppError disk_full | storage_error */
  commit(name: string): Promise<void>;
  /** Drops it, unless it was kept. Never throws. */
  abort(): void;
}

/** What {@link Staging} works with. */
export interface StagingOptions {
  /** `uploads/`, which exists. */
  readonly directory: string;
  /** Makes small files durable in company, and folder entries. */
  readonly syncQueue: SyncQueue;
  readonly log: Log;
  readonly disk?: Disk;
}

/** Files up to this size are synced in company with others; larger ones by themselves. */
const SMALL_BYTES_MAX = 256 * 1024;
/** From so many unwritten bytes on the device is set to work, so that the sync at the end finds little to do. */
const WRITE_BACK_BYTES = 8 * 1024 * 1024;
const COPY_BYTES = 1024 * 1024;

/** The one writer of `uploads/`. File names are ids of our own making (D48). */
export class Staging {
  readonly #options: StagingOptions;
  readonly #disk: Disk;
  readonly #hasher = new PrefixHasher();
  readonly #open = new Map<string, SharedFile>();
  /** Files whose entry in the folder is on the device. */
  readonly #entered = new Set<string>();
  /** How often the bytes of a file were changed after they were hashed. */
  readonly #generations = new Map<string, number>();
  #sides = 0;

  constructor(options: StagingOptions) {
    this.#options = options;
    this.#disk = options.disk ?? realDisk;
  }

  /** Where a file lies. No promise that it is there. */
  pathOf(name: string): string {
    return join(this.#options.directory, name);
  }

  /** Size of a file on disk, or undefined where there is none. */
  sizeOf(name: string): number | undefined {
    const stats = fs.lstatSync(this.pathOf(name), { throwIfNoEntry: false });
    return stats?.isFile() ? stats.size : undefined;
  }

  /**
   * Opens a file for writing and reading, and makes it where there is none (mode 0600).
   * @param sizeBytes what it will be when it is whole
   * @throws AppError disk_full | storage_error
   */
  open(name: string, sizeBytes: number): StagedFile {
    const shared = this.#open.get(name);
    const file = shared !== undefined && !shared.isBroken ? shared : this.#openFile(name, sizeBytes);
    file.users++;
    let isReleased = false;
    return {
      write: (piece, position) => file.write(piece, position),
      contains: (piece, position) => file.read(piece.length, position)?.equals(piece) ?? false,
      read: (lengthBytes, position) => {
        const bytes = file.read(lengthBytes, position);
        if (bytes === undefined)
          throw translateDiskError(new Error("a staged file is shorter than what is there of it"));
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

  /** Begins a file whose name ends in `.part`: what a crash leaves of it is nobody's. @throws AppError */
  beginReplacement(): ReplacementFile {
    const path = this.pathOf(`${process.pid}-${++this.#sides}.part`);
    const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW } = fs.constants;
    const disk = this.#disk;
    let fd: number | undefined = attempt(() => this.#openPath(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW));
    const close = () => {
      if (fd !== undefined) disk.close(fd);
      fd = undefined;
    };
    return {
      append: (piece) => attempt(() => fd !== undefined && disk.write(fd, piece)),
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
   * Copies a file into another one at a place, in bounded pieces; durable on return. Done twice it does the same again.
   * @returns false where there is no such file
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
   * Takes off what lies behind the end of a file: bytes that came and did not count. Durable on return.
   * @throws AppError disk_full | storage_error
   */
  async truncate(name: string, sizeBytes: number): Promise<void> {
    if ((this.sizeOf(name) ?? 0) <= sizeBytes) return;
    const { O_RDWR, O_NOFOLLOW } = fs.constants;
    const fd = attempt(() => this.#disk.open(this.pathOf(name), O_RDWR | O_NOFOLLOW));
    try {
      fs.ftruncateSync(fd, sizeBytes);
      await this.#disk.dataSync(fd);
    } catch (error) {
      throw translateDiskError(error);
    } finally {
      this.#disk.close(fd);
    }
  }

  /** Starts hashing what has arrived from the start of the file without a gap, in the background. */
  hashAhead(name: string, prefixBytes: number): void {
    this.#hasher.ahead(this.#keyOf(name), this.pathOf(name), prefixBytes);
  }

  /** Digest and CRC-32 of a whole file; only what was not hashed ahead is still read. @throws AppError storage_error */
  async hashWhole(name: string, sizeBytes: number): Promise<FileHashes> {
    try {
      return await this.#hasher.whole(this.#keyOf(name), this.pathOf(name), sizeBytes);
    } catch (error) {
      throw translateDiskError(error);
    }
  }

  /** To be called when bytes changed that may have been hashed already. */
  invalidate(name: string): void {
    this.#hasher.forget(this.#keyOf(name));
    this.#generations.set(name, (this.#generations.get(name) ?? 0) + 1);
  }

  /** Removes a file, and all that is known of it. Never throws; a file that stays is found by the next sweep. */
  remove(name: string): void {
    this.#hasher.forget(this.#keyOf(name));
    this.#generations.delete(name);
    this.#entered.delete(name);
    this.#unlink(this.pathOf(name));
  }

  /** The names of all files there. */
  list(): string[] {
    return fs.readdirSync(this.#options.directory);
  }

  /** Ends the thread that hashes. Nothing may be arriving any more. */
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
        folders: () => (this.#entered.has(name) ? [] : [this.#options.directory]),
        onEntered: () => this.#entered.add(name),
      });
      this.#open.set(name, file);
      return file;
    } catch (error) {
      throw translateDiskError(error);
    }
  }

  /** Opens, and where somebody removed the folder, makes it again: what was in it must be sent again in any case. */
  #openPath(path: string, flags: number): number {
    try {
      return this.#disk.open(path, flags);
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error;
      this.#options.log.error("The directory uploads/ was missing; created it again.");
      this.#entered.clear();
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

/** Carries out a call to the disk, and says in our words what is wrong. */
function attempt<T>(deed: () => T): T {
  try {
    return deed();
  } catch (error) {
    throw translateDiskError(error);
  }
}

interface SharedFileOptions {
  readonly fd: number;
  readonly disk: Disk;
  readonly syncQueue: SyncQueue;
  readonly isSmall: boolean;
  /** Folders whose entries are still to reach the device, and what is called when they have. */
  readonly folders: () => string[];
  readonly onEntered: () => void;
}

/** One descriptor for all who write to a file at the same time. */
class SharedFile {
  readonly #options: SharedFileOptions;
  /** The sync that is running, and the one that will follow it for whoever wrote since it began. */
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #unsyncedBytes = 0;
  #failure: unknown;
  users = 0;

  constructor(options: SharedFileOptions) {
    this.#options = options;
    if (!options.isSmall) options.syncQueue.countLargeUpload(1);
  }

  get isBroken(): boolean {
    return this.#failure !== undefined;
  }

  write(piece: Uint8Array, position: number): void {
    try {
      this.#options.disk.writeAt(this.#options.fd, piece, position);
    } catch (error) {
      throw translateDiskError(error);
    }
    this.#unsyncedBytes += piece.length;
    if (this.#unsyncedBytes < WRITE_BACK_BYTES || this.#running !== undefined || this.#next !== undefined) return;
    this.sync().catch(() => {}); // told to whoever waits for a sync of their own
  }

  /** @returns undefined where the file ends before */
  read(lengthBytes: number, position: number): Buffer<ArrayBuffer> | undefined {
    const bytes = Buffer.allocUnsafeSlow(lengthBytes);
    try {
      for (let got = 0; got < lengthBytes; ) {
        const more = fs.readSync(this.#options.fd, bytes, got, lengthBytes - got, position + got);
        if (more === 0) return undefined;
        got += more;
      }
    } catch (error) {
      throw translateDiskError(error);
    }
    return bytes;
  }

  sync(): Promise<void> {
    if (this.#next !== undefined) return this.#next;
    if (this.#running === undefined) return this.#begin();
    // The one that runs may have begun before the last write; all who come now share the one after it.
    this.#next = this.#running.then(
      () => this.#begin(),
      () => this.#begin(),
    );
    return this.#next;
  }

  close(): void {
    if (!this.#options.isSmall) this.#options.syncQueue.countLargeUpload(-1);
    // A write-back may still be at work on the descriptor.
    void Promise.allSettled([this.#running, this.#next]).then(() => this.#options.disk.close(this.#options.fd));
  }

  #begin(): Promise<void> {
    this.#next = undefined;
    this.#unsyncedBytes = 0;
    const running = this.#sync().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }

  async #sync(): Promise<void> {
    const { fd, disk, syncQueue, isSmall, folders, onEntered } = this.#options;
    if (this.#failure !== undefined) throw this.#failure;
    try {
      const entries = folders();
      if (!isSmall) await disk.dataSync(fd);
      if (isSmall || entries.length > 0) await syncQueue.sync({ fd, folders: entries });
      onEntered();
    } catch (error) {
      this.#failure = translateDiskError(error);
      throw this.#failure;
    }
  }
}
