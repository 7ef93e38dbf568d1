/** Dropped or chosen items as files with their paths. */

/** A file, and its path below the dropped folder. */
export interface PickedFile {
  readonly file: File;
  readonly path: string;
}

/** The files of a file input; a folder input has paths. */
export function filesFromList(files: FileList | readonly File[]): PickedFile[] {
  return [...files].map((file) => ({ file, path: file.webkitRelativePath || file.name }));
}

/** Dropped files. */
export interface DroppedFiles {
  readonly picked: readonly PickedFile[];
  /** How many files and folders could not be read. */
  readonly unreadable: number;
}

/**
 * Reads dropped files and folders. The entries must be taken before the first await, because the browser clears the
 * transfer afterwards.
 */
export async function filesFromTransfer(transfer: DataTransfer): Promise<DroppedFiles> {
  const entries = [...transfer.items].flatMap((item) => {
    const entry = item.kind === "file" ? item.webkitGetAsEntry() : null;
    return entry === null ? [] : [entry];
  });
  if (entries.length === 0) return { picked: filesFromList(transfer.files), unreadable: 0 };
  const picked: PickedFile[] = [];
  let unreadable = 0;
  for (const entry of entries) unreadable += await readEntry(entry, picked);
  return { picked, unreadable };
}

/** @returns how many entries could not be read; the others are still read */
async function readEntry(entry: FileSystemEntry, found: PickedFile[]): Promise<number> {
  try {
    return await readFiles(entry, found);
  } catch (error) {
    if (error instanceof DOMException) return 1;
    throw error;
  }
}

async function readFiles(entry: FileSystemEntry, found: PickedFile[]): Promise<number> {
  let unreadable = 0;
  if (entry instanceof FileSystemFileEntry) {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject));
    found.push({ file, path: entry.fullPath.replace(/^\//, "") });
  } else if (entry instanceof FileSystemDirectoryEntry) {
    const reader = entry.createReader();
    for (;;) {
      // Browsers return a hundred at a time, and none at the end.
      const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
      if (some.length === 0) break;
      for (const each of some) unreadable += await readEntry(each, found);
    }
  }
  return unreadable;
}
