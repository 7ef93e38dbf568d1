// Reads dropped or pasted files and folders as a stream, so that a tree of a hundred thousand files starts to upload
// while it is still being read.
import type { UploadSource } from "./types.ts";

/** A file, or a folder without any. */
export type WalkedItem = UploadSource | { readonly emptyFolder: string };

/** A dropped item. It must be taken during the event, because the browser clears the transfer afterwards. */
type DroppedItem =
  | { readonly kind: "handle"; readonly handle: Promise<FileSystemHandle | null>; readonly file: File | null }
  | { readonly kind: "entry"; readonly entry: FileSystemEntry }
  | { readonly kind: "file"; readonly file: File };

declare global {
  interface DataTransferItem {
    /** Chromium only (File System Access). */
    getAsFileSystemHandle?(): Promise<FileSystemHandle | null>;
  }
}

/** Whether a drag or a paste contains files. */
export function carriesFiles(transfer: DataTransfer | null): boolean {
  return transfer?.types.includes("Files") ?? false;
}

/**
 * Walks through all dropped or pasted items. Must be called during the event; the stream may be read afterwards.
 * Unreadable items are skipped and reported to `onUnreadable`.
 */
export function walkTransfer(transfer: DataTransfer, onUnreadable: (path: string) => void): AsyncGenerator<WalkedItem> {
  const dropped: DroppedItem[] = [];
  for (const item of transfer.items) {
    if (item.kind !== "file") continue;
    const file = item.getAsFile();
    const entry = item.webkitGetAsEntry();
    const handle = item.getAsFileSystemHandle?.().catch(() => null);
    if (entry?.isDirectory === true) dropped.push({ kind: "entry", entry });
    else if (handle !== undefined) dropped.push({ kind: "handle", handle, file });
    else if (file !== null) dropped.push({ kind: "file", file });
  }
  return walkDropped(dropped, onUnreadable);
}

async function* walkDropped(dropped: DroppedItem[], onUnreadable: (path: string) => void): AsyncGenerator<WalkedItem> {
  for (const one of dropped) {
    if (one.kind === "entry") yield* walkEntry(one.entry, one.entry.name, onUnreadable);
    else if (one.kind === "file") yield { file: one.file, path: one.file.name };
    else {
      const handle = await one.handle;
      if (one.file !== null)
        yield { file: one.file, path: one.file.name, handle: isFileHandle(handle) ? handle : undefined };
    }
  }
}

async function* walkEntry(
  entry: FileSystemEntry,
  path: string,
  onUnreadable: (path: string) => void,
): AsyncGenerator<WalkedItem> {
  if (isFileEntry(entry)) {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject)).catch(() => undefined);
    if (file === undefined) onUnreadable(path);
    else yield { file, path };
    return;
  }
  if (!isDirectoryEntry(entry)) return;
  const reader = entry.createReader();
  let isEmpty = true;
  for (;;) {
    // Returns at most a hundred at a time, and none at the end.
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    ).catch(() => undefined);
    if (entries === undefined) {
      onUnreadable(path);
      return;
    }
    if (entries.length === 0) break;
    isEmpty = false;
    for (const child of entries) yield* walkEntry(child, `${path}/${child.name}`, onUnreadable);
  }
  if (isEmpty) yield { emptyFolder: path };
}

/** Walks through a folder that was chosen with the browser's picker. The paths begin with its name. */
export async function* walkDirectory(
  directory: FileSystemDirectoryHandle,
  onUnreadable: (path: string) => void,
  path: string = directory.name,
): AsyncGenerator<WalkedItem> {
  const children = await childrenOf(directory).catch(() => undefined);
  if (children === undefined) onUnreadable(path);
  if (children?.length === 0) yield { emptyFolder: path };
  for (const child of children ?? []) {
    const below = `${path}/${child.name}`;
    if (isDirectoryHandle(child)) yield* walkDirectory(child, onUnreadable, below);
    if (!isFileHandle(child)) continue;
    const file = await child.getFile().catch(() => undefined);
    if (file === undefined) onUnreadable(below);
    else yield { file, path: below, handle: child };
  }
}

async function childrenOf(directory: FileSystemDirectoryHandle): Promise<FileSystemHandle[]> {
  const children: FileSystemHandle[] = [];
  for await (const child of directory.values()) children.push(child);
  return children;
}

function isDirectoryHandle(handle: FileSystemHandle): handle is FileSystemDirectoryHandle {
  return handle.kind === "directory";
}

function isFileHandle(handle: FileSystemHandle | null): handle is FileSystemFileHandle {
  return handle?.kind === "file";
}

function isFileEntry(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}

function isDirectoryEntry(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}
