// The folder that a phone keeps equal to the server's, and what its user did to it since.
import type { Base, GoneFile, LocalFile, PhoneDisk } from "./disk.ts";

/** Folder and name of a path. */
export function splitPath(path: string): { folder: string; name: string } {
  const at = path.lastIndexOf("/");
  return { folder: at <= 0 ? "/" : path.slice(0, at), name: path.slice(at + 1) };
}

/** The path of a name in a folder. */
export function joinPath(folder: string, name: string): string {
  return folder === "/" ? `/${name}` : `${folder}/${name}`;
}

/** Files by path. Whatever is done here is on the phone's disk with its next save. */
export class LocalFolder {
  constructor(private readonly disk: PhoneDisk) {}

  get files(): LocalFile[] {
    return this.disk.state.files;
  }

  get gone(): GoneFile[] {
    return this.disk.state.gone;
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

  goneById(fileId: string): GoneFile | undefined {
    return this.gone.find((file) => file.fileId === fileId);
  }

  /** A new file; whatever stood at its path makes room. */
  create(path: string, checksum: string, size: number, modifiedAt: string): LocalFile {
    this.makeRoom(path);
    this.disk.state.made += 1;
    const file = { key: `item-${this.disk.state.made}`, path, checksum, size, modifiedAt };
    this.files.push(file);
    return file;
  }

  /** A new content for a file. */
  write(file: LocalFile, checksum: string, size: number, modifiedAt: string): void {
    file.checksum = checksum;
    file.size = size;
    file.modifiedAt = modifiedAt;
  }

  /** Gives an edit up: the content is again the one that the server last told of. */
  revert(file: LocalFile): void {
    if (file.base !== undefined) file.checksum = file.base.checksum;
  }

  /** Another place for a file; whatever stood there makes room. */
  place(file: LocalFile, path: string): void {
    if (file.path === path) return;
    this.makeRoom(path);
    file.path = path;
  }

  /** Takes a file away without remembering it: the server knows, or never knew. */
  drop(file: LocalFile): void {
    this.disk.state.files = this.files.filter((other) => other !== file);
  }

  /** Its user deletes a file: the server is to be told if it knows it. */
  remove(file: LocalFile): void {
    this.drop(file);
    if (file.fileId !== undefined && file.base !== undefined) this.gone.push({ fileId: file.fileId, ...file.base });
  }

  /** Nothing is left to tell of a deleted file. */
  forget(fileId: string): void {
    this.disk.state.gone = this.gone.filter((file) => file.fileId !== fileId);
  }

  /** A free path near the wished one. */
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

  /** Whether the user changed its content since the server last told of it. */
  isEdited(file: LocalFile): boolean {
    return file.base !== undefined && file.checksum !== file.base.checksum;
  }

  isMoved(file: LocalFile): boolean {
    return file.base !== undefined && file.path !== file.base.path;
  }

  /**
   * Whoever stands at a path goes elsewhere. A file that is as the server last told stands aside only for now: the server
   * has something else there, so it will tell where that file went. Any other gets a new name, which will be sent.
   */
  private makeRoom(path: string): void {
    const there = this.at(path);
    if (there === undefined) return;
    const isClean = there.base !== undefined && !this.isEdited(there) && !this.isMoved(there);
    if (isClean && there.base !== undefined) {
      there.path = `/.aside/${there.fileId ?? there.key}`;
      there.base = { path: there.path, checksum: there.base.checksum };
    } else {
      there.path = this.freePath(path);
    }
  }

  /** Notes what the server has of a file. */
  settle(file: LocalFile, fileId: string, base: Base): void {
    file.fileId = fileId;
    file.base = base;
  }
}
