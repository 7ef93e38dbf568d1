// Applies the server's changes to the phone. Changes by the phone's user stay, and are sent with the next request to
// sync/files.
import type { LocalFile, PhoneDisk } from "./disk.ts";
import { type ApiResponse, maybeText, textOf, valueAt } from "./http.ts";
import { type LocalFolder, joinPath } from "./local-folder.ts";
import type { PhoneSession } from "./session.ts";

/** A file in a sync response. */
interface RemoteFile {
  id: string;
  path: string;
  checksum: string;
  size: number;
}

/** Applies remote changes to the local folder. */
export class Mirror {
  constructor(
    private readonly disk: PhoneDisk,
    private readonly folder: LocalFolder,
    private readonly session: PhoneSession,
    private readonly now: () => string,
  ) {}

  /** Applies one page of changes. @returns the number of files that changed on the phone */
  async applyPage(data: unknown, response: ApiResponse): Promise<number> {
    let received = 0;
    for (const deleted of listOf(data, "changes.deleted")) {
      if (this.applyDeleted(textOf(deleted, "id"))) received += 1;
    }
    for (const entry of [...listOf(data, "changes.created"), ...listOf(data, "changes.updated")]) {
      // The phone has no empty folders.
      if (valueAt(entry, "type") === "folder" || maybeText(entry, "checksum") === undefined) continue;
      this.disk.state.seenSinceReset?.push(textOf(entry, "id"));
      if (await this.applyRemote(remoteFile(entry, response))) received += 1;
    }
    return received;
  }

  /** Drops files that a full sync did not report, unless they have content that the server lacks. */
  dropUnseen(): void {
    const { seenSinceReset } = this.disk.state;
    if (seenSinceReset === undefined) return;
    const seen = new Set(seenSinceReset);
    for (const file of this.folder.files)
      if (file.fileId !== undefined && !seen.has(file.fileId)) this.applyDeleted(file.fileId);
    for (const { fileId } of this.folder.deleted) if (!seen.has(fileId)) this.folder.forget(fileId);
    delete this.disk.state.seenSinceReset;
  }

  private applyDeleted(fileId: string): boolean {
    this.folder.forget(fileId);
    const file = this.folder.byId(fileId);
    if (file === undefined || this.folder.isEdited(file)) return false;
    this.folder.drop(file);
    return true;
  }

  /**
   * Applies the server's state of a file, except what the phone's user has changed.
   * @returns whether anything changed
   */
  async applyRemote(remote: RemoteFile): Promise<boolean> {
    if (this.folder.deletedById(remote.id) !== undefined) return false;
    const file = this.folder.byId(remote.id);
    if (file === undefined) return this.addRemote(remote);
    const base = file.base ?? { path: file.path, checksum: file.checksum };
    const isEdited = this.folder.isEdited(file);
    const isMoved = this.folder.isMoved(file);
    let hasChanged = false;
    if (remote.checksum !== base.checksum && file.checksum === remote.checksum) {
      file.base = { ...base, checksum: remote.checksum };
    } else if (remote.checksum !== base.checksum && !isEdited) {
      if (!(await this.download(remote))) return false;
      this.folder.write(file, remote.checksum, remote.size, this.now());
      file.base = { ...base, checksum: remote.checksum };
      hasChanged = true;
    }
    if (remote.path !== base.path) {
      if (!isMoved) this.folder.move(file, remote.path);
      file.base = { checksum: file.base?.checksum ?? base.checksum, path: remote.path };
      hasChanged = true;
    }
    return hasChanged;
  }

  /** Adds a file that the phone does not know. */
  private async addRemote(remote: RemoteFile): Promise<boolean> {
    const existing = this.folder.at(remote.path);
    // The phone's own upload, if its response was lost.
    if (existing !== undefined && existing.fileId === undefined && existing.checksum === remote.checksum) {
      this.folder.setBase(existing, remote.id, { path: remote.path, checksum: remote.checksum });
      return true;
    }
    if (!(await this.download(remote))) return false;
    const file = this.folder.create(remote.path, remote.checksum, remote.size, this.now());
    this.folder.setBase(file, remote.id, { path: remote.path, checksum: remote.checksum });
    return true;
  }

  /** Downloads content. @returns false if the file was deleted or changed: a later page reports that */
  private async download(remote: RemoteFile): Promise<boolean> {
    if (this.disk.has(remote.checksum)) return true;
    const response = await this.session.call("GET", `/api/files/${remote.id}/download`);
    if (response.status === 404) return false;
    response.expect(200);
    return this.disk.store(new Uint8Array(response.bytes)) === remote.checksum;
  }

  /** Removes the server's id from another local file that has it. That file is dropped, or is new if it was edited. */
  releaseId(fileId: string, file: LocalFile): void {
    const other = this.folder.byId(fileId);
    if (other === undefined || other === file) return;
    if (!this.folder.isEdited(other)) this.folder.drop(other);
    delete other.fileId;
    delete other.base;
  }

  /** Moves a local file to the server's path, with the server's content unless it was edited on the phone. */
  async refetch(file: LocalFile, fileId: string): Promise<void> {
    const remote = await this.findRemote(fileId);
    if (remote === undefined) {
      // Edited content that the server never had stays, as a new file.
      if (this.folder.isEdited(file)) {
        delete file.fileId;
        delete file.base;
      } else this.folder.drop(file);
      return;
    }
    const known = file.base?.checksum;
    const isEdited = this.folder.isEdited(file) && file.checksum !== remote.checksum;
    if (!isEdited && !(await this.download(remote))) return;
    this.releaseId(fileId, file);
    this.folder.move(file, remote.path);
    if (!isEdited) this.folder.write(file, remote.checksum, remote.size, this.now());
    const checksum = isEdited && known !== undefined ? known : remote.checksum;
    this.folder.setBase(file, fileId, { path: remote.path, checksum });
  }

  /** The server's state of a file; undefined if it was deleted. */
  async findRemote(fileId: string): Promise<RemoteFile | undefined> {
    const response = await this.session.call("GET", `/api/files/${fileId}`);
    return response.status === 404 ? undefined : remoteFile(response.expect(200).at("data"), response);
  }
}

function listOf(data: unknown, path: string): unknown[] {
  const list = valueAt(data, path);
  if (!Array.isArray(list)) throw new Error(`${path} is no list in ${JSON.stringify(data)}`);
  return list;
}

function remoteFile(record: unknown, response: ApiResponse): RemoteFile {
  const size = valueAt(record, "size");
  if (typeof size !== "number") throw response.unexpected("an entry without a size");
  return {
    id: textOf(record, "id"),
    path: joinPath(textOf(record, "folder"), textOf(record, "name")),
    checksum: textOf(record, "checksum"),
    size,
  };
}
