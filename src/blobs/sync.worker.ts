/**
 * The thread that syncs files, and writes small ones. Both can take from a fraction of a millisecond to seconds, and here
 * they block no request. One syncfs makes a whole batch of small files durable, with their folders.
 */
import * as fs from "node:fs";
import { errorCode } from "../lib/error.ts";
import { realDisk } from "./disk.ts";
import { type NewFile, writeNewFile } from "./new-file.ts";
import { loadSyncfs } from "./syncfs.ts";

/** One batch: files that are written first, and what makes them and others durable. */
export interface SyncRequest {
  readonly id: number;
  readonly newFiles: readonly NewFile[];
  readonly sync:
    | { readonly kind: "fileSystem"; readonly fileSystemFd: number }
    /** These files and folders, and those of the new files, one by one. */
    | { readonly kind: "each"; readonly fds: readonly number[]; readonly folders: readonly string[] };
}

/** An error of the system, as a message between threads. */
export interface SystemError {
  readonly message: string;
  readonly code: string;
}

/**
 * A reply. `failed` has the error of each new file that could not be written, by its index; `error` says that the sync
 * failed. `ready` is sent once, before all others.
 */
export type SyncReply =
  | { readonly kind: "ready"; readonly canSyncFileSystem: boolean }
  | {
      readonly kind: "done";
      readonly id: number;
      readonly failed: readonly (readonly [index: number, error: SystemError])[];
      readonly error?: SystemError;
    };

declare const self: Worker;

const syncfs = loadSyncfs();

self.onmessage = (event: MessageEvent<SyncRequest>) => self.postMessage(handle(event.data));
self.postMessage({ kind: "ready", canSyncFileSystem: syncfs !== undefined } satisfies SyncReply);

function handle({ id, newFiles, sync }: SyncRequest): SyncReply {
  const failed: [number, SystemError][] = [];
  const fds: number[] = [];
  const folders: string[] = [];
  newFiles.forEach((file, index) => {
    try {
      fds.push(writeNewFile(realDisk, file));
      folders.push(...file.folders);
    } catch (error) {
      failed.push([index, toSystemError(error)]);
    }
  });
  try {
    if (sync.kind === "fileSystem") {
      if (syncfs === undefined || syncfs(sync.fileSystemFd) !== 0) throw new Error("syncfs failed");
    } else {
      for (const fd of [...sync.fds, ...fds]) fs.fdatasyncSync(fd);
      new Set([...sync.folders, ...folders]).forEach(syncFolder);
    }
    return { kind: "done", id, failed };
  } catch (error) {
    return { kind: "done", id, failed, error: toSystemError(error) };
  } finally {
    fds.forEach(fs.closeSync);
  }
}

function syncFolder(folder: string): void {
  const fd = fs.openSync(folder, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

function toSystemError(error: unknown): SystemError {
  return { message: String(error), code: errorCode(error) ?? "EIO" };
}
