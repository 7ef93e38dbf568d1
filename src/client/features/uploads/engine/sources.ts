// Where the bytes of an upload come from: the chosen file, a copy saved in the browser, or a handle.
import type { SavedUpload, UploadDatabase } from "./upload-db.ts";
import type { Upload, UploadSource } from "./types.ts";

declare global {
  interface FileSystemHandle {
    /** Chromium only (File System Access). */
    queryPermission?(descriptor: { mode: "read" }): Promise<PermissionState>;
    /** Requires a click or a key press. */
    requestPermission?(descriptor: { mode: "read" }): Promise<PermissionState>;
  }
}

/** The file of each upload of this page, as far as it can be read. */
export class UploadSources {
  private readonly files = new Map<string, File>();
  private readonly handles = new Map<string, FileSystemFileHandle>();
  private readonly database: Pick<UploadDatabase, "findBytes">;

  constructor(database: Pick<UploadDatabase, "findBytes">) {
    this.database = database;
  }

  set(id: string, source: Pick<UploadSource, "file" | "handle">): void {
    this.files.set(id, source.file);
    if (source.handle !== undefined) this.handles.set(id, source.handle);
  }

  findFile(id: string): File | undefined {
    return this.files.get(id);
  }

  findHandle(id: string): FileSystemFileHandle | undefined {
    return this.handles.get(id);
  }

  forget(id: string): void {
    this.files.delete(id);
    this.handles.delete(id);
  }

  /** The file has changed, or can no longer be read. */
  drop(id: string): void {
    this.files.delete(id);
  }

  /**
   * Finds the bytes of an upload of an earlier page without asking the person.
   * @returns whether it did
   */
  async recover(saved: SavedUpload): Promise<boolean> {
    const { upload, handle } = saved;
    if (handle !== undefined) this.handles.set(upload.id, handle);
    const bytes = await this.database.findBytes(upload.id);
    return this.accept(upload, bytes === undefined ? await readIfGranted(handle) : fileOf(upload, bytes));
  }

  /**
   * Asks the person for permission to read the file again; only within a click or key press.
   * @returns whether it is the same file
   */
  async requestAccess(upload: Upload): Promise<boolean> {
    const handle = this.handles.get(upload.id);
    if (handle === undefined) return false;
    const permission = (await handle.requestPermission?.({ mode: "read" })) ?? "granted";
    if (permission !== "granted") return false;
    return this.accept(upload, await handle.getFile().catch(() => undefined));
  }

  /**
   * Accepts a file for this upload if it is the same one as before.
   * @returns whether it is
   */
  accept(upload: Upload, file: File | undefined): boolean {
    if (file === undefined || !isSameFile(upload, file)) return false;
    this.files.set(upload.id, file);
    return true;
  }
}

/** Whether a file is the one that an upload started with, by name, size and date. */
export function isSameFile(upload: Pick<Upload, "name" | "size" | "lastModified">, file: File): boolean {
  return file.name === upload.name && file.size === upload.size && file.lastModified === upload.lastModified;
}

function fileOf({ name, mimeType, lastModified }: Upload, bytes: Blob): File {
  return new File([bytes], name, { type: mimeType, lastModified });
}

async function readIfGranted(handle: FileSystemFileHandle | undefined): Promise<File | undefined> {
  if (handle === undefined) return undefined;
  try {
    const permission = (await handle.queryPermission?.({ mode: "read" })) ?? "granted";
    return permission === "granted" ? await handle.getFile() : undefined;
  } catch {
    // Moved or deleted since: the person must choose it again.
    return undefined;
  }
}
