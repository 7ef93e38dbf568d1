/**
 * The thread that syncs files. A sync takes from a fraction of a millisecond to seconds, and here it blocks no request. One
 * syncfs makes a whole batch of small files durable, with their folders.
 */
import * as fs from "node:fs";
import { loadSyncfs } from "./syncfs.ts";

/** One batch: all of the file system that holds `fileSystemFd`, or these files and folders one by one. */
export type SyncRequest =
  | { readonly id: number; readonly kind: "fileSystem"; readonly fileSystemFd: number }
  | {
      readonly id: number;
      readonly kind: "each";
      readonly fds: readonly number[];
      readonly folders: readonly string[];
    };

/** A reply; `error` says what could not be synced. `ready` is sent once, before all others. */
export type SyncReply =
  | { readonly kind: "ready"; readonly canSyncFileSystem: boolean }
  | { readonly kind: "done"; readonly id: number; readonly error?: string; readonly code?: string };

declare const self: Worker;

const syncfs = loadSyncfs();

self.onmessage = (event: MessageEvent<SyncRequest>) => self.postMessage(sync(event.data));
self.postMessage({ kind: "ready", canSyncFileSystem: syncfs !== undefined } satisfies SyncReply);

function syncFolder(folder: string): void {
  const fd = fs.openSync(folder, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

function sync(request: SyncRequest): SyncReply {
  try {
    if (request.kind === "fileSystem") {
      if (syncfs === undefined || syncfs(request.fileSystemFd) !== 0) throw new Error("syncfs failed");
    } else {
      for (const fd of request.fds) fs.fdatasyncSync(fd);
      request.folders.forEach(syncFolder);
    }
    return { kind: "done", id: request.id };
  } catch (error) {
    const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "EIO";
    return { kind: "done", id: request.id, error: String(error), code };
  }
}
