import * as fs from "node:fs";
import { type Disk, translateDiskError, tryDisk } from "./disk.ts";
import type { SyncQueue } from "./sync-queue.ts";

/** Dependencies of a {@link SharedFile}. */
interface SharedFileOptions {
  readonly fd: number;
  readonly disk: Disk;
  readonly syncQueue: SyncQueue;
  readonly isSmall: boolean;
  /** Folders whose entries are not yet on the device. */
  readonly folders: () => string[];
  /** Called when the entries are on the device. */
  readonly onDurableEntry: () => void;
}

/** From so many unsynced bytes on a sync begins in the background, so that the one at the end finds little to do. */
const WRITE_BACK_BYTES = 8 * 1024 * 1024;

/**
 * One descriptor for all concurrent writers of a staged file. A sync that is requested while another one runs shares the
 * next one, so that several connections which fill one file cost no more than one.
 */
export class SharedFile {
  readonly #options: SharedFileOptions;
  /** The running sync, and the one that will follow it for bytes that were written since it began. */
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

  write(bytes: Uint8Array, position: number): void {
    tryDisk(() => this.#options.disk.writeAt(this.#options.fd, bytes, position));
    this.#unsyncedBytes += bytes.length;
    if (this.#unsyncedBytes < WRITE_BACK_BYTES || this.#running !== undefined || this.#next !== undefined) return;
    this.sync().catch(() => {}); // reported to callers that wait for a sync of their own
  }

  /** @returns undefined if the file ends before */
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
    // The running sync may have begun before the last write; all callers from now on share the one after it.
    this.#next = this.#running.then(
      () => this.#begin(),
      () => this.#begin(),
    );
    return this.#next;
  }

  close(): void {
    if (!this.#options.isSmall) this.#options.syncQueue.countLargeUpload(-1);
    // A sync may still use the descriptor.
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
    const { fd, disk, syncQueue, isSmall, folders, onDurableEntry } = this.#options;
    if (this.#failure !== undefined) throw this.#failure;
    try {
      const entries = folders();
      if (!isSmall) await disk.dataSync(fd);
      if (isSmall || entries.length > 0) await syncQueue.sync({ fd, folders: entries });
      onDurableEntry();
    } catch (error) {
      this.#failure = translateDiskError(error);
      throw this.#failure;
    }
  }
}
