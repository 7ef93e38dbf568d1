// The server's side of a sync, put onto the phone: what changed there is made so here, and what the user changed
// meanwhile is left for the next call of sync/files.
import type { LocalFile, PhoneDisk } from "./disk.ts";
import { type ApiResponse, maybeText, textOf, valueAt } from "./http.ts";
import { type LocalFolder, joinPath } from "./local-folder.ts";
import type { PhoneSession } from "./session.ts";

/** An entry of a sync answer. */
export interface RemoteFile {
  id: string;
  path: string;
  checksum: string;
  size: number;
}

/** Makes the local folder like the server's. */
export class Mirror {
  constructor(
    private readonly disk: PhoneDisk,
    private readonly folder: LocalFolder,
    private readonly session: PhoneSession,
    private readonly now: () => string,
  ) {}

  /** Takes in one answer. @returns how many files that changed here */
  async applyPage(data: unknown, response: ApiResponse): Promise<number> {
    let received = 0;
    for (const deleted of listOf(data, "changes.deleted")) {
      if (this.applyDeleted(textOf(deleted, "id"))) received += 1;
    }
    for (const entry of [...listOf(data, "changes.created"), ...listOf(data, "changes.updated")]) {
      // Folders are made by what is in them; this phone keeps no empty ones.
      if (valueAt(entry, "type") === "folder" || maybeText(entry, "checksum") === undefined) continue;
      this.disk.state.metSinceBegin?.push(textOf(entry, "id"));
      if (await this.applyRemote(remoteFile(entry, response))) received += 1;
    }
    return received;
  }

  /** After everything was told anew: what was not told of is gone, unless it has something that the server lacks. */
  dropUnmet(): void {
    const { metSinceBegin } = this.disk.state;
    if (metSinceBegin === undefined) return;
    const met = new Set(metSinceBegin);
    for (const file of this.folder.files)
      if (file.fileId !== undefined && !met.has(file.fileId)) this.applyDeleted(file.fileId);
    for (const { fileId } of this.folder.gone) if (!met.has(fileId)) this.folder.forget(fileId);
    delete this.disk.state.metSinceBegin;
  }

  private applyDeleted(fileId: string): boolean {
    this.folder.forget(fileId);
    const file = this.folder.byId(fileId);
    if (file === undefined || this.folder.isEdited(file)) return false;
    this.folder.drop(file);
    return true;
  }

  /** Makes the local file as the server has it, as far as its user did not change it meanwhile. */
  async applyRemote(remote: RemoteFile): Promise<boolean> {
    const gone = this.folder.goneById(remote.id);
    if (gone !== undefined) return false;
    const file = this.folder.byId(remote.id);
    if (file === undefined) return this.takeIn(remote);
    const base = file.base ?? { path: file.path, checksum: file.checksum };
    const isEdited = this.folder.isEdited(file);
    const isMoved = this.folder.isMoved(file);
    let hasChanged = false;
    if (remote.checksum !== base.checksum && file.checksum === remote.checksum) {
      file.base = { ...base, checksum: remote.checksum };
    } else if (remote.checksum !== base.checksum && !isEdited) {
      if (!(await this.fetch(remote))) return false;
      this.folder.write(file, remote.checksum, remote.size, this.now());
      file.base = { ...base, checksum: remote.checksum };
      hasChanged = true;
    }
    if (remote.path !== base.path) {
      if (!isMoved) this.folder.place(file, remote.path);
      file.base = { checksum: file.base?.checksum ?? base.checksum, path: remote.path };
      hasChanged = true;
    }
    return hasChanged;
  }

  /** A file that the phone does not know. */
  private async takeIn(remote: RemoteFile): Promise<boolean> {
    const there = this.folder.at(remote.path);
    // Its own photo, whose answer it never heard.
    const isOwn = there !== undefined && there.fileId === undefined && there.checksum === remote.checksum;
    if (there !== undefined && isOwn) {
      this.folder.settle(there, remote.id, { path: remote.path, checksum: remote.checksum });
      return true;
    }
    if (!(await this.fetch(remote))) return false;
    const file = this.folder.create(remote.path, remote.checksum, remote.size, this.now());
    this.folder.settle(file, remote.id, { path: remote.path, checksum: remote.checksum });
    return true;
  }

  /** Downloads a content. False where the file is gone or has another by now: then that is told later. */
  private async fetch(remote: RemoteFile): Promise<boolean> {
    if (this.disk.has(remote.checksum)) return true;
    const response = await this.session.call("GET", `/api/files/${remote.id}/download`);
    if (response.status === 404) return false;
    response.expect(200);
    return this.disk.keep(new Uint8Array(response.bytes)) === remote.checksum;
  }

  /** Two local files turned out to be one of the server's: the other goes, or, with a content of its own, is new. */
  yieldId(fileId: string, file: LocalFile): void {
    const other = this.folder.byId(fileId);
    if (other === undefined || other === file) return;
    if (!this.folder.isEdited(other)) this.folder.drop(other);
    delete other.fileId;
    delete other.base;
  }

  /** Puts a local file where the server has it, with the content from there unless it was edited here. */
  async refetch(file: LocalFile, fileId: string): Promise<void> {
    const remote = await this.look(fileId);
    if (remote === undefined) {
      // An edited content that the server never had stays, as a new file.
      if (this.folder.isEdited(file)) {
        delete file.fileId;
        delete file.base;
      } else this.folder.drop(file);
      return;
    }
    const known = file.base?.checksum;
    const isEdited = this.folder.isEdited(file) && file.checksum !== remote.checksum;
    if (!isEdited && !(await this.fetch(remote))) return;
    this.yieldId(fileId, file);
    this.folder.place(file, remote.path);
    if (!isEdited) this.folder.write(file, remote.checksum, remote.size, this.now());
    const checksum = isEdited && known !== undefined ? known : remote.checksum;
    this.folder.settle(file, fileId, { path: remote.path, checksum });
  }

  /** A file as it stands on the server; undefined where it is gone. */
  async look(fileId: string): Promise<RemoteFile | undefined> {
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
