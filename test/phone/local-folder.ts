// The folder of a phone that is synced with the server, and the changes of its user since the last sync.
import type { Base, DeletedFile, LocalFile, PhoneDisk } from "./disk.ts";

/** Folder and name of a path. */
export function splitPath(path: string): { folder: string; name: string } {
  const at = path.lastIndexOf("/");
  return { folder: at <= 0 ? "/" : path.slice(0, at), name: path.slice(at + 1) };
}

/** The path of a name in a folder. */
export function joinPath(folder: string, name: string): string {
  return folder === "/" ? `/${name}` : `${folder}/${name}`;
}

/** The files of a phone. Changes are persisted by the next save of its disk. */
export class LocalFolder {
  constructor(private readonly disk: PhoneDisk) {}

  get files(): LocalFile[] {
    return this.disk.state.files;
  }

  get deleted(): DeletedFile[] {
    return this.disk.state.deleted;
  }

  at(path: string): LocalFile | undefined {
    return this.files.find((file) => file.path === path);
  }

  byId(fileId: string): LocalFile | undefined {
    return this.files.find((file) => file.fileId === fileId);
  }

  byKey(key: string): LocalFile | undefined {
    return this.files.find((file) => file.key === key);
  }

  deletedById(fileId: string): DeletedFile | undefined {
    return this.deleted.find((file) => file.fileId === fileId);
  }

  /** Creates a file. A file at its path is moved away. */
  create(path: string, checksum: string, size: number, modifiedAt: string): LocalFile {
    this.clearPath(path);
    this.disk.state.createdCount += 1;
    const file = { key: `item-${this.disk.state.createdCount}`, path, checksum, size, modifiedAt };
    this.files.push(file);
    return file;
  }

  /** Replaces the content of a file. */
  write(file: LocalFile, checksum: string, size: number, modifiedAt: string): void {
    file.checksum = checksum;
    file.size = size;
    file.modifiedAt = modifiedAt;
  }

  /** Discards an edit: restores the content that the server last reported. */
  revert(file: LocalFile): void {
    if (file.base !== undefined) file.checksum = file.base.checksum;
  }

  /** Moves or renames a file. A file at the new path is moved away. */
  move(file: LocalFile, path: string): void {
    if (file.path === path) return;
    this.clearPath(path);
    file.path = path;
  }

  /** Removes a file without recording a deletion: the server knows, or never had the file. */
  drop(file: LocalFile): void {
    this.disk.state.files = this.files.filter((other) => other !== file);
  }

  /** Deletes a file for the user, and records the deletion if the server has the file. */
  remove(file: LocalFile): void {
    this.drop(file);
    if (file.fileId !== undefined && file.base !== undefined) this.deleted.push({ fileId: file.fileId, ...file.base });
  }

  /** Drops the record of a deletion. */
  forget(fileId: string): void {
    this.disk.state.deleted = this.deleted.filter((file) => file.fileId !== fileId);
  }

  /** The path, or a numbered one if it is taken. */
  freePath(path: string): string {
    if (this.at(path) === undefined) return path;
    const { folder, name } = splitPath(path);
    const dot = name.lastIndexOf(".");
    const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ""];
    for (let number = 1; ; number++) {
      const next = joinPath(folder, `${stem} [${number}]${extension}`);
      if (this.at(next) === undefined) return next;
    }
  }

  /** Whether the user changed the content since the server last reported it. */
  isEdited(file: LocalFile): boolean {
    return file.base !== undefined && file.checksum !== file.base.checksum;
  }

  isMoved(file: LocalFile): boolean {
    return file.base !== undefined && file.path !== file.base.path;
  }

  /**
   * Moves a file at this path away. An unchanged file gets a temporary path: the server has another file there, so it
   * will report the new path of this one. A changed file gets a new name, which is sent to the server.
   */
  private clearPath(path: string): void {
    const file = this.at(path);
    if (file === undefined) return;
    if (file.base !== undefined && !this.isEdited(file) && !this.isMoved(file)) {
      file.path = `/.aside/${file.fileId ?? file.key}`;
      file.base = { path: file.path, checksum: file.base.checksum };
    } else {
      file.path = this.freePath(path);
    }
  }

  /** Records the server's state of a file. */
  setBase(file: LocalFile, fileId: string, base: Base): void {
    file.fileId = fileId;
    file.base = base;
  }
}
