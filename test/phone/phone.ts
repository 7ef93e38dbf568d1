// A phone: a local folder that its user changes, mostly offline, and that is synced with the server. It uses the server
// only over HTTP and imports nothing of it, so that it can also test later servers.
import type { Change, LocalFile, Operation, PendingUpload, PhoneDisk } from "./disk.ts";
import { type ApiResponse, maybeText, textOf, valueAt } from "./http.ts";
import type { Ledger } from "./ledger.ts";
import { LocalFolder, joinPath, splitPath } from "./local-folder.ts";
import { Mirror } from "./mirror.ts";
import type { Random } from "./random.ts";
import { PhoneCrashed, PhoneSession, type PhoneSetup } from "./session.ts";
import { type UploadEnd, type UploadHabits, Uploader, defaultHabits } from "./uploader.ts";

/** Options of {@link Phone}. */
interface PhoneOptions extends PhoneSetup {
  ledger: Ledger;
  /** How much the phone's clock differs from the server's, in ms. */
  clockSkewMs: number;
  /** Share of steps after which the app crashes. */
  crashes: number;
  habits?: UploadHabits;
  /** Whether its user accepts holds; by default true. */
  acceptsHolds?: boolean;
  /** Send all changes in one request to sync/files, and none through the queue. */
  sendsAtOnce?: boolean;
}

/** What a sync changed; nothing if phone and server were equal already. */
interface SyncCounts {
  sent: number;
  received: number;
}

const sharedNames = ["note.txt", "list.txt", "plan.txt", "draft.txt"];
const pagesMax = 500;

/** The app on a phone, from its start to its crash; only its disk survives. */
export class Phone {
  readonly session: PhoneSession;
  readonly folder: LocalFolder;
  readonly uploader: Uploader;
  /** The number of conflicts, except those of taken names. */
  conflictCount = 0;
  nameConflictCount = 0;
  /** The holds that its user has decided. */
  readonly decidedHolds = new Set<string>();
  private readonly mirror: Mirror;
  private readonly random: Random;
  private readonly ledger: Ledger;

  constructor(
    readonly disk: PhoneDisk,
    private readonly options: PhoneOptions,
  ) {
    this.random = options.random;
    this.ledger = options.ledger;
    this.session = new PhoneSession(disk, options);
    this.folder = new LocalFolder(disk);
    this.mirror = new Mirror(disk, this.folder, this.session, () => this.now());
    const { random, ledger, habits = defaultHabits } = options;
    this.uploader = new Uploader({ disk, session: this.session, random, ledger, habits });
  }

  get name(): string {
    return this.disk.state.deviceId;
  }

  /** The time of the phone's clock. */
  now(): string {
    return new Date(Date.now() + this.options.clockSkewMs).toISOString();
  }

  /** The checksums of the phone's files by path. */
  contents(): Map<string, string> {
    return new Map(this.folder.files.map(({ path, checksum }) => [path, checksum]));
  }

  // ── actions of its user, offline ──

  /** Performs a random action on the phone's files. */
  use(): void {
    const action = this.random.fraction();
    const file = this.random.pick(this.folder.files);
    if (action < 0.45 || file === undefined) this.takePhoto();
    else if (action < 0.6) this.edit(file);
    else if (action < 0.72)
      this.folder.move(file, this.folder.freePath(joinPath(splitPath(file.path).folder, this.newName())));
    else if (action < 0.84)
      this.folder.move(file, this.folder.freePath(joinPath(this.anyFolder(), splitPath(file.path).name)));
    else if (action < 0.9) this.moveOutsideTheApp(file);
    else this.remove(file);
    this.disk.save();
  }

  /** Creates a file with unique content. */
  takePhoto(sizeBytes = this.random.between(1, 30_000), requestedPath?: string): LocalFile {
    const checksum = this.disk.store(this.random.bytes(sizeBytes + 8));
    this.ledger.created(checksum, `${this.name} created it`);
    // All phones use some of the same names.
    const path =
      requestedPath ??
      (this.random.chance(0.25)
        ? joinPath("/Shared", this.random.pick(sharedNames) ?? "note.txt")
        : joinPath(this.anyFolder(), this.newName()));
    const file = this.folder.create(this.folder.freePath(path), checksum, sizeBytes + 8, this.now());
    if (this.random.chance(0.2)) this.queue({ type: "upload", localPath: "/DCIM/1.jpg", remotePath: file.path });
    this.disk.save();
    return file;
  }

  edit(file: LocalFile): void {
    this.abandonUnlessSent(file, "edited before it was sent");
    const size = this.random.between(1, 20_000) + 8;
    const checksum = this.disk.store(this.random.bytes(size));
    this.ledger.created(checksum, `${this.name} edited ${file.path}`);
    this.folder.write(file, checksum, size, this.now());
  }

  remove(file: LocalFile): void {
    this.abandonUnlessSent(file, "deleted before it was sent");
    const { fileId } = file;
    this.folder.remove(file);
    if (fileId === undefined) return;
    this.ledger.willDelete(fileId, this.name);
    const deleted = this.folder.deletedById(fileId);
    const isQueued = this.options.sendsAtOnce !== true && this.random.chance(0.4);
    if (deleted !== undefined && isQueued) deleted.operationId = this.queue({ type: "delete", fileId });
  }

  /** Records an operation for the queue. @returns its id */
  private queue(operation: Pick<Operation, "type" | "fileId" | "localPath" | "remotePath">): string {
    const { state } = this.disk;
    state.createdCount += 1;
    const id = `op-${state.createdCount}`;
    const priority = this.random.choose("high", "normal", "low");
    state.operations.push({ id, priority, createdAt: this.now(), ...operation });
    return id;
  }

  /** Another program moves a file: the app sees a deletion, and a new file with the same content. */
  private moveOutsideTheApp(file: LocalFile): void {
    if (this.folder.isEdited(file)) return;
    const path = this.folder.freePath(joinPath(this.anyFolder(), splitPath(file.path).name));
    if (file.fileId !== undefined) this.ledger.willDelete(file.fileId, this.name);
    this.folder.remove(file);
    this.folder.create(path, file.checksum, file.size, this.now());
    // The old file may be deleted, but its content must still exist.
    this.ledger.reclaim(file.checksum);
    this.ledger.intendedDuplicates.add(file.checksum);
  }

  private abandonUnlessSent(file: LocalFile, why: string): void {
    if (file.base?.checksum !== file.checksum) this.ledger.abandoned(file.checksum, `${this.name}: ${why}`);
  }

  private newName(): string {
    return `IMG_${this.name}_${this.random.between(1, 1_000_000)}.jpg`;
  }

  private anyFolder(): string {
    return this.random.choose("/Camera", "/Albums/Summer", "/Albums/Ünïcode", "/Shared", "/");
  }

  // ── sync ──

  /** Sends the phone's changes and fetches the server's. */
  async sync(): Promise<SyncCounts> {
    let received = this.disk.state.syncToken === undefined ? await this.syncDown() : 0;
    let sent = await this.finishUploads();
    sent += await this.syncUp();
    sent += await this.finishUploads();
    sent += await this.sendOperations();
    received += await this.syncDown();
    return { sent, received };
  }

  /** Sends all changes of the phone to sync/files. Changes that got no response are sent again first. */
  async syncUp(): Promise<number> {
    const { state } = this.disk;
    if (state.changes.length === 0) {
      state.changes = this.changes();
      this.disk.save();
      this.step();
    }
    let count = 0;
    while (state.changes.length > 0) {
      const batch = state.changes.slice(0, this.options.sendsAtOnce === true ? 1000 : this.random.between(1, 20));
      const response = await this.session.call("POST", "/api/mobile/sync/files", {
        syncToken: state.syncToken,
        localChanges: batch.map((change) => toRequest(change)),
      });
      this.step();
      if (response.status === 400 && response.at("error.details.field") === "syncToken") throw response.unexpected();
      response.expect(200);
      const conflicts = response.records("data.conflicts");
      for (const result of response.records("data.results")) {
        const change = batch.find(({ localId }) => localId === result["localId"]);
        if (change === undefined) throw response.unexpected("a result for an unknown change");
        this.ledger.note(`${this.name} offers ${JSON.stringify(change)}: ${JSON.stringify(result)}`);
        await this.handleResult(change, result, conflicts, response);
        state.changes = state.changes.filter((other) => other !== change);
        this.disk.save();
        count += 1;
        this.step();
      }
      if (batch.some((change) => state.changes.includes(change)))
        throw response.unexpected("a change without a result");
      // The phone can use either token without missing changes.
      if (state.syncToken !== undefined && this.random.chance(0.5))
        state.syncToken = response.text("data.nextSyncToken");
      this.disk.save();
    }
    return count;
  }

  /** Adds operations to the server's queue. The uploads that they announce are sent separately. */
  private async sendOperations(): Promise<number> {
    const { state } = this.disk;
    const waiting = state.operations.filter(({ status }) => status !== "completed" && status !== "failed");
    if (waiting.length === 0) return 0;
    const response = await this.session.call("POST", "/api/mobile/queue/add", {
      operations: waiting.map(({ status: _status, isFulfilled: _isFulfilled, ...operation }) => operation),
    });
    this.step();
    let moved = 0;
    for (const result of response.expect(200).records("data.results")) {
      const operation = waiting.find(({ id }) => id === result["id"]);
      if (operation === undefined) throw response.unexpected("a result for an unknown operation");
      const status = textOf(result, "status");
      if (status !== operation.status) moved += 1;
      operation.status = status;
      const isFinished = status === "completed" || status === "failed";
      if (isFinished && operation.fileId !== undefined) this.folder.forget(operation.fileId);
    }
    this.disk.save();
    return moved;
  }

  /** Describes queued operations that should be finished. */
  overdue(): string[] {
    return this.disk.state.operations
      .filter(({ type, status, isFulfilled }) => status !== "completed" && (type === "delete" || isFulfilled === true))
      .filter(({ type, status }) => type === "upload" || status !== "failed")
      .map((operation) => `${this.name} waits for ${JSON.stringify(operation)}`);
  }

  /** Fetches all changes since the last sync, page by page. */
  async syncDown(): Promise<number> {
    const { state } = this.disk;
    let received = 0;
    for (let page = 0; page < pagesMax; page++) {
      const query = new URLSearchParams({ limit: String(this.random.choose(1, 2, 3, 5, 17, 500)) });
      if (state.syncToken !== undefined) query.set("syncToken", state.syncToken);
      else state.seenSinceReset ??= [];
      const isShort = this.random.chance(0.5);
      const response = await this.session.call(
        "GET",
        `/api/mobile/sync${isShort ? "/status" : ""}?${query.toString()}`,
      );
      response.expect(200);
      this.step();
      const data = response.at(isShort ? "data" : "syncData");
      this.ledger.note(`${this.name} reads from ${state.syncToken ?? "the start"}: ${JSON.stringify(data)}`);
      if (valueAt(data, "resetRequired") === true) {
        delete state.syncToken;
        state.seenSinceReset = [];
        continue;
      }
      received += await this.mirror.applyPage(data, response);
      const next = maybeText(data, "nextSyncToken");
      if (next === undefined) throw response.unexpected("no nextSyncToken");
      state.syncToken = next;
      const hasMore = valueAt(data, "hasMore");
      if (hasMore === false) this.mirror.dropUnseen();
      this.disk.save();
      this.step();
      if (hasMore === false) return received;
      if (hasMore !== true) throw response.unexpected("hasMore is neither true nor false");
    }
    throw new Error(`${this.name}: sync does not end after ${pagesMax} pages`);
  }

  /** Drops the sync token, as after a new installation: the next sync lists all files. */
  resetSync(): void {
    delete this.disk.state.syncToken;
    delete this.disk.state.seenSinceReset;
    this.disk.save();
  }

  // ── changes of the phone ──

  private changes(): Change[] {
    const changes: Change[] = [];
    const add = (change: Omit<Change, "localId" | "name" | "folder">) => {
      this.disk.state.createdCount += 1;
      const localId = `${this.name}-change-${this.disk.state.createdCount}`;
      // Some apps send no base, so that the server has to decide by the sync token.
      if (change.baseChecksum !== undefined && this.random.chance(0.2)) delete change.baseChecksum;
      changes.push({ localId, ...splitPath(change.path), ...change });
    };
    for (const { fileId, path, checksum, operationId } of this.folder.deleted) {
      if (operationId !== undefined) continue;
      add({
        action: "delete",
        key: "",
        path,
        checksum,
        size: 0,
        lastModified: this.now(),
        fileId,
        baseChecksum: checksum,
      });
    }
    for (const file of this.folder.files) {
      const { key, path, checksum, size, fileId, base } = file;
      if (this.disk.state.uploads.some((upload) => upload.key === key)) continue;
      const common = { key, path, checksum, size, lastModified: file.modifiedAt };
      if (fileId === undefined || base === undefined) {
        add({ ...common, action: "upload" });
        continue;
      }
      const known = { fileId, baseChecksum: base.checksum };
      // Moves come before edits: once the content has changed, the base is outdated.
      const from = splitPath(base.path);
      const to = splitPath(path);
      if (to.folder !== from.folder) add({ ...common, ...known, action: "move" });
      if (to.name !== from.name) add({ ...common, ...known, action: "rename" });
      if (this.folder.isEdited(file)) add({ ...common, ...known, action: "update" });
    }
    // A careful app sends deletions first, so that no name is taken; others send changes in any order.
    if (this.options.crashes === 0 || this.random.chance(0.5)) return changes;
    return rotated(changes, this.random.between(0, changes.length));
  }

  private async handleResult(
    change: Change,
    result: Record<string, unknown>,
    conflicts: Record<string, unknown>[],
    response: ApiResponse,
  ): Promise<void> {
    switch (result["status"]) {
      case "applied":
      case "already_stored":
        this.noteApplied(change, maybeText(result, "fileId"));
        return;
      case "upload_required":
        this.expectUpload(change, { fileId: change.fileId, baseChecksum: change.baseChecksum });
        return;
      case "conflict": {
        const conflict = conflicts.find(({ conflictId }) => conflictId === result["conflictId"]);
        if (conflict === undefined) throw response.unexpected("a conflict without its record");
        if (conflict["type"] === "name") this.nameConflictCount += 1;
        else this.conflictCount += 1;
        await this.resolve(change, conflict);
        return;
      }
      case "rejected":
        await this.handleRejection(change, result, response);
        return;
      default:
        throw response.unexpected(`status ${String(result["status"])}`);
    }
  }

  private noteApplied(change: Change, fileId: string | undefined): void {
    if (change.action === "delete") {
      this.folder.forget(change.fileId ?? "");
      return;
    }
    const file = this.folder.byKey(change.key);
    if (change.action === "rename" || change.action === "move") {
      if (file?.base === undefined) return;
      const { folder, name } = splitPath(file.base.path);
      const path = change.action === "move" ? joinPath(change.folder, name) : joinPath(folder, change.name);
      file.base = { ...file.base, path };
      return;
    }
    if (fileId === undefined) throw new Error(`${change.action} was applied without a file id`);
    this.ledger.stored(change.checksum, fileId);
    this.noteStored(change.key, fileId, { path: change.path, checksum: change.checksum });
  }

  /** Records that the server has this content as this file; the local file may have changed since. */
  private noteStored(key: string, fileId: string, base: { path: string; checksum: string }): void {
    const file = this.folder.byKey(key);
    // It was deleted on the phone during the upload: the deletion has to be sent.
    if (file === undefined) {
      if (this.folder.byId(fileId) === undefined && this.folder.deletedById(fileId) === undefined) {
        this.ledger.willDelete(fileId, this.name);
        this.folder.deleted.push({ fileId, ...base });
      }
      return;
    }
    this.mirror.releaseId(fileId, file);
    this.folder.forget(fileId);
    const isUnmoved = file.base === undefined ? file.path !== base.path : file.path === file.base.path;
    this.folder.setBase(file, fileId, base);
    if (isUnmoved && file.path !== base.path) this.folder.move(file, base.path);
  }

  private expectUpload(change: Change, known: { fileId: string | undefined; baseChecksum: string | undefined }): void {
    const { localId, key, path, checksum, size } = change;
    const { state } = this.disk;
    state.uploads = state.uploads.filter((upload) => upload.key !== key);
    state.uploads.push({
      localId,
      key,
      path,
      checksum,
      size,
      ...(known.fileId === undefined ? {} : { fileId: known.fileId }),
      ...(known.baseChecksum === undefined ? {} : { baseChecksum: known.baseChecksum }),
    });
  }

  private async handleRejection(change: Change, result: Record<string, unknown>, response: ApiResponse): Promise<void> {
    const reason = maybeText(result, "error.details.reason");
    const file = this.folder.byKey(change.key);
    switch (reason) {
      case "not_found":
        // Someone else deleted it: a file that was only moved is dropped, an edited one is uploaded as a new file.
        if (change.action === "delete") this.folder.forget(change.fileId ?? "");
        else if (file !== undefined) await this.mirror.refetch(file, change.fileId ?? "");
        return;
      case "version_conflict":
        // The conflict was resolved before, and the response was lost.
        await this.keepRemote(change, file);
        return;
      case "name_taken":
        if (file !== undefined)
          this.folder.move(file, this.folder.freePath(joinPath(splitPath(file.path).folder, this.newName())));
        return;
      case "confirmation_required":
        // Declined: the phone fetches the server's version of deleted and replaced files.
        if (valueAt(result, "error.details.declined") === true) await this.keepRemote(change, file);
        else await this.decide(result, response);
        return;
      default:
        throw response.unexpected(`rejected: ${JSON.stringify(result)}`);
    }
  }

  /** Decides a hold. The changes are sent again with the next sync. */
  private async decide(result: Record<string, unknown>, response: ApiResponse): Promise<void> {
    const holdId = maybeText(result, "error.details.holdId");
    if (holdId === undefined) throw response.unexpected("no holdId");
    if (this.decidedHolds.has(holdId)) return;
    const accept = this.options.acceptsHolds ?? true;
    const decided = await this.session.call("POST", `/api/mobile/devices/${this.name}/holds/${holdId}`, { accept });
    decided.expect(200, 404);
    this.decidedHolds.add(holdId);
  }

  // ── uploads ──

  private async finishUploads(): Promise<number> {
    const { state } = this.disk;
    let count = 0;
    const unplanned = state.uploads.filter(({ uploadId }) => uploadId === undefined);
    if (unplanned.length > 0) {
      for (const [upload, end] of await this.uploader.plan(unplanned)) await this.handleUploadEnd(upload, end);
      this.step();
    }
    for (const upload of this.random.shuffled(state.uploads)) {
      if (upload.uploadId === undefined) continue;
      const end = await this.uploader.finish(upload);
      this.step();
      await this.handleUploadEnd(upload, end);
      this.step();
      count += 1;
    }
    return count;
  }

  private async handleUploadEnd(upload: PendingUpload, end: UploadEnd): Promise<void> {
    const { state } = this.disk;
    state.uploads = state.uploads.filter((other) => other !== upload);
    this.ledger.note(`${this.name} sent ${JSON.stringify({ ...upload, chunks: [] })}: ${JSON.stringify(end)}`);
    if (end.kind === "stored") {
      this.noteStored(upload.key, end.fileId, { path: end.path, checksum: upload.checksum });
      const file = this.folder.byKey(upload.key);
      // It was completed before, the response was lost, and someone has changed the file since.
      if (end.checksum !== upload.checksum && file !== undefined) await this.mirror.refetch(file, end.fileId);
      for (const operation of state.operations)
        if (operation.remotePath === end.path && operation.status !== undefined) operation.isFulfilled = true;
    }
    // If the file was changed or deleted, the next sync shows what to do.
    else if (
      end.kind === "rejected" &&
      !["version_conflict", "not_found", "precondition_failed", "name_taken"].includes(end.reason)
    )
      throw new Error(`${this.name}: ${upload.path} was rejected: ${end.reason} ${JSON.stringify(end.details)}`);
    this.disk.save();
  }

  // ── conflicts ──

  private async resolve(offered: Change, conflict: Record<string, unknown>): Promise<void> {
    const conflictId = textOf(conflict, "conflictId");
    const file = this.folder.byKey(offered.key);
    // If the file was deleted on the server and uploaded again since, the conflict is about the former file.
    const isOutdated = offered.fileId !== undefined && file !== undefined && file.fileId !== offered.fileId;
    const resolution = isOutdated ? "keep_remote" : this.random.choose("keep_remote", "keep_local");
    // A new name keeps both files.
    const isRenamed = resolution === "keep_local" && conflict["type"] === "name" && this.random.chance(0.5);
    const name = isRenamed ? this.newName() : offered.name;
    const change = { ...offered, name, path: joinPath(offered.folder, name) };
    // Another phone may also create the deleted file again.
    if (resolution === "keep_local" && conflict["type"] === "deleted")
      this.ledger.intendedDuplicates.add(change.checksum);
    if (isRenamed && file !== undefined) this.folder.move(file, change.path);
    if (resolution === "keep_local" && change.action === "delete")
      this.ledger.willDelete(change.fileId ?? "", this.name);
    const response = await this.session.call("POST", "/api/mobile/conflicts/resolve", {
      conflicts: [
        {
          conflictId,
          resolution,
          fileId: maybeText(conflict, "fileId") ?? change.fileId,
          ...(resolution === "keep_local" ? { localData: { name, modifiedAt: change.lastModified } } : {}),
        },
      ],
    });
    this.step();
    const [result] = response.expect(200).records("data.results");
    if (result === undefined) throw response.unexpected("no result");
    this.ledger.note(
      `${this.name} ${change.action} ${change.path} ${String(conflict["type"])} ${resolution}: ${JSON.stringify(result)}`,
    );
    if (resolution === "keep_remote") {
      await this.keepRemote(change, file);
      return;
    }
    switch (result["status"]) {
      case "upload_required": {
        const fileId = maybeText(result, "fileId");
        const baseChecksum = fileId === undefined ? undefined : maybeText(conflict, "remote.checksum");
        this.expectUpload(change, { fileId, baseChecksum });
        return;
      }
      case "resolved":
        if (change.action === "delete") this.folder.forget(change.fileId ?? "");
        else if (file !== undefined)
          await this.mirror.refetch(file, maybeText(result, "fileId") ?? change.fileId ?? "");
        return;
      case "rejected":
        // The file has changed again: the next sync reports it.
        return;
      default:
        throw response.unexpected(`status ${String(result["status"])}`);
    }
  }

  /** Drops the local change and applies the server's state. */
  private async keepRemote(change: Change, file: LocalFile | undefined): Promise<void> {
    if (change.action === "delete") {
      const fileId = change.fileId ?? "";
      this.folder.forget(fileId);
      const remote = await this.mirror.findRemote(fileId);
      if (remote !== undefined) await this.mirror.applyRemote(remote);
      return;
    }
    if (file === undefined || (change.fileId !== undefined && change.fileId !== file.fileId)) return;
    // A further edit since then is sent with the next sync.
    const isUnchanged = file.checksum === change.checksum;
    if (change.action === "upload") {
      if (!isUnchanged) return;
      this.ledger.abandoned(change.checksum, `${this.name} chose the other version`);
      this.folder.drop(file);
      return;
    }
    if (change.action === "update" && isUnchanged) {
      this.abandonUnlessSent(file, "chose the other version");
      this.folder.revert(file);
    }
    await this.mirror.refetch(file, change.fileId ?? "");
  }

  /** The app may crash after any step. */
  private step(): void {
    if (this.random.chance(this.options.crashes)) throw new PhoneCrashed(`${this.name} crashed`);
  }
}

/** A change without the fields that only the phone needs. */
function toRequest(change: Change): Record<string, unknown> {
  const { key: _key, path: _path, ...request } = change;
  return request;
}

/** The list, rotated by a number of items. */
function rotated<T>(list: T[], by: number): T[] {
  return [...list.slice(by), ...list.slice(0, by)];
}
