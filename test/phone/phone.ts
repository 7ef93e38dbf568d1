// A phone: a local folder that its user works on, mostly offline, and that it keeps equal to the server's. It knows the
// server by HTTP alone and imports nothing of it, so that it can be kept as it is and held against later servers.
import type { Change, LocalFile, Operation, PendingUpload, PhoneDisk } from "./disk.ts";
import { type ApiResponse, maybeText, textOf, valueAt } from "./http.ts";
import type { Ledger } from "./ledger.ts";
import { LocalFolder, joinPath, splitPath } from "./local-folder.ts";
import { Mirror } from "./mirror.ts";
import type { Random } from "./random.ts";
import { PhoneCrashed, PhoneSession, type PhoneSetup } from "./session.ts";
import { type UploadEnd, type UploadHabits, Uploader, usualHabits } from "./uploader.ts";

/** How a phone is used. */
export interface PhoneOptions extends PhoneSetup {
  ledger: Ledger;
  /** How far the phone's clock is off, in ms. */
  clockSkewMs: number;
  /** Share of steps at which the app dies. */
  crashes: number;
  habits?: UploadHabits;
  /** What its user says when asked whether a mass change is meant; yes where it isn't given. */
  acceptsHolds?: boolean;
  /** Everything goes in one call of sync/files, and nothing by the queue. */
  sendsAtOnce?: boolean;
}

/** What a round of sync did: nothing at all means that phone and server were equal already. */
export interface SyncCounts {
  sent: number;
  received: number;
}

const sharedNames = ["note.txt", "list.txt", "plan.txt", "draft.txt"];
const pagesMax = 500;

/** One app on one phone, from its start to its crash; what survives it is its disk. */
export class Phone {
  readonly session: PhoneSession;
  readonly folder: LocalFolder;
  readonly uploader: Uploader;
  /** Conflicts that this app met, but for taken names. */
  conflictCount = 0;
  nameConflictCount = 0;
  /** Mass changes that its user was asked about. */
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
    this.uploader = new Uploader(disk, this.session, this.random, this.ledger, options.habits ?? usualHabits);
  }

  get name(): string {
    return this.disk.state.deviceId;
  }

  /** The phone's own time, right or wrong. */
  now(): string {
    return new Date(Date.now() + this.options.clockSkewMs).toISOString();
  }

  /** Files by path, as the phone has them. */
  contents(): Map<string, string> {
    return new Map(this.folder.files.map(({ path, checksum }) => [path, checksum]));
  }

  // ── what its user does, offline ──

  /** One thing that a person does with the files on the phone. */
  use(): void {
    const deed = this.random.fraction();
    const file = this.random.pick(this.folder.files);
    if (deed < 0.45 || file === undefined) this.takePhoto();
    else if (deed < 0.6) this.edit(file);
    else if (deed < 0.72)
      this.folder.place(file, this.folder.freePath(joinPath(splitPath(file.path).folder, this.newName())));
    else if (deed < 0.84)
      this.folder.place(file, this.folder.freePath(joinPath(this.anyFolder(), splitPath(file.path).name)));
    else if (deed < 0.9) this.moveBehindTheAppsBack(file);
    else this.remove(file);
    this.disk.save();
  }

  /** A new picture or note, that nobody else has. */
  takePhoto(sizeBytes = this.random.between(1, 30_000), wished?: string): LocalFile {
    const checksum = this.disk.keep(this.random.bytes(sizeBytes + 8));
    this.ledger.made(checksum, `${this.name} made it`);
    // Some names everybody uses.
    const path =
      wished ??
      (this.random.chance(0.25)
        ? joinPath("/Shared", this.random.pick(sharedNames) ?? "note.txt")
        : joinPath(this.anyFolder(), this.newName()));
    const file = this.folder.create(this.folder.freePath(path), checksum, sizeBytes + 8, this.now());
    if (this.random.chance(0.2)) this.note({ type: "upload", localPath: "/DCIM/1.jpg", remotePath: file.path });
    this.disk.save();
    return file;
  }

  edit(file: LocalFile): void {
    this.loseUnlessSent(file, "edited before it was sent");
    const size = this.random.between(1, 20_000) + 8;
    const checksum = this.disk.keep(this.random.bytes(size));
    this.ledger.made(checksum, `${this.name} edited ${file.path}`);
    this.folder.write(file, checksum, size, this.now());
  }

  remove(file: LocalFile): void {
    this.loseUnlessSent(file, "deleted before it was sent");
    const { fileId } = file;
    this.folder.remove(file);
    if (fileId === undefined) return;
    this.ledger.willDelete(fileId, this.name);
    const gone = this.folder.goneById(fileId);
    const isQueued = this.options.sendsAtOnce !== true && this.random.chance(0.4);
    if (gone !== undefined && isQueued) gone.operationId = this.note({ type: "delete", fileId });
  }

  /** Notes an operation for the queue. @returns its id */
  private note(operation: Pick<Operation, "type" | "fileId" | "localPath" | "remotePath">): string {
    const { state } = this.disk;
    state.made += 1;
    const id = `op-${state.made}`;
    const priority = this.random.choose("high", "normal", "low");
    state.operations.push({ id, priority, createdAt: this.now(), ...operation });
    return id;
  }

  /** Another program moves a file: the app finds one gone and a new one with the same bytes. */
  private moveBehindTheAppsBack(file: LocalFile): void {
    if (this.folder.isEdited(file)) return;
    const path = this.folder.freePath(joinPath(this.anyFolder(), splitPath(file.path).name));
    if (file.fileId !== undefined) this.ledger.willDelete(file.fileId, this.name);
    this.folder.remove(file);
    this.folder.create(path, file.checksum, file.size, this.now());
    // What stood for the bytes until now may go; they themselves are wanted more than ever.
    this.ledger.wantedAgain(file.checksum);
    this.ledger.doubledOnPurpose.add(file.checksum);
  }

  private loseUnlessSent(file: LocalFile, why: string): void {
    if (file.base?.checksum !== file.checksum) this.ledger.givenUp(file.checksum, `${this.name}: ${why}`);
  }

  private newName(): string {
    return `IMG_${this.name}_${this.random.between(1, 1_000_000)}.jpg`;
  }

  private anyFolder(): string {
    return this.random.choose("/Camera", "/Albums/Summer", "/Albums/Ünïcode", "/Shared", "/");
  }

  // ── sync ──

  /** Sends what changed here and fetches what changed there. */
  async sync(): Promise<SyncCounts> {
    let received = this.disk.state.syncToken === undefined ? await this.syncDown() : 0;
    let sent = await this.finishUploads();
    sent += await this.syncUp();
    sent += await this.finishUploads();
    sent += await this.sendOperations();
    received += await this.syncDown();
    return { sent, received };
  }

  /** POST sync/files with all that changed here, or with what was sent before and never answered. */
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
        localChanges: batch.map((change) => wireChange(change)),
      });
      this.step();
      if (response.status === 400 && response.at("error.details.field") === "syncToken") throw response.unexpected();
      response.expect(200);
      const conflicts = response.records("data.conflicts");
      for (const result of response.records("data.results")) {
        const change = batch.find(({ localId }) => localId === result["localId"]);
        if (change === undefined) throw response.unexpected("a result for nothing that was sent");
        this.ledger.note(`${this.name} offers ${JSON.stringify(change)}: ${JSON.stringify(result)}`);
        await this.settleChange(change, result, conflicts, response);
        state.changes = state.changes.filter((other) => other !== change);
        this.disk.save();
        count += 1;
        this.step();
      }
      if (batch.some((change) => state.changes.includes(change)))
        throw response.unexpected("a change without a result");
      // Either of the two tokens goes on without a gap.
      if (state.syncToken !== undefined && this.random.chance(0.5))
        state.syncToken = response.text("data.nextSyncToken");
      this.disk.save();
    }
    return count;
  }

  /** Operations that wait upload beside everything else; the others are the server's to do. */
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
      if (operation === undefined) throw response.unexpected("a result for nothing that was queued");
      const status = textOf(result, "status");
      if (status !== operation.status) moved += 1;
      operation.status = status;
      const isOver = status === "completed" || status === "failed";
      if (isOver && operation.fileId !== undefined) this.folder.forget(operation.fileId);
    }
    this.disk.save();
    return moved;
  }

  /** Operations of the queue that should be over and are not. */
  overdue(): string[] {
    return this.disk.state.operations
      .filter(({ type, status, isFulfilled }) => status !== "completed" && (type === "delete" || isFulfilled === true))
      .filter(({ type, status }) => type === "upload" || status !== "failed")
      .map((operation) => `${this.name} waits for ${JSON.stringify(operation)}`);
  }

  /** Everything that happened since the last time, page by page. */
  async syncDown(): Promise<number> {
    const { state } = this.disk;
    let received = 0;
    for (let page = 0; page < pagesMax; page++) {
      const query = new URLSearchParams({ limit: String(this.random.choose(1, 2, 3, 5, 17, 500)) });
      if (state.syncToken !== undefined) query.set("syncToken", state.syncToken);
      else state.metSinceBegin ??= [];
      const isShort = this.random.chance(0.5);
      const response = await this.session.call(
        "GET",
        `/api/mobile/sync${isShort ? "/status" : ""}?${query.toString()}`,
      );
      response.expect(200);
      this.step();
      const data = response.at(isShort ? "data" : "syncData");
      this.ledger.note(`${this.name} reads ${state.syncToken ?? "anew"}: ${JSON.stringify(data)}`);
      if (valueAt(data, "resetRequired") === true) {
        delete state.syncToken;
        state.metSinceBegin = [];
        continue;
      }
      received += await this.mirror.applyPage(data, response);
      const next = maybeText(data, "nextSyncToken");
      if (next === undefined) throw response.unexpected("no nextSyncToken");
      state.syncToken = next;
      const hasMore = valueAt(data, "hasMore");
      if (hasMore === false) this.mirror.dropUnmet();
      this.disk.save();
      this.step();
      if (hasMore === false) return received;
      if (hasMore !== true) throw response.unexpected("hasMore is neither true nor false");
    }
    throw new Error(`${this.name}: sync does not end within ${pagesMax} pages`);
  }

  /** Forgets how far it is, as after a restored app: everything is told anew. */
  beginAnew(): void {
    delete this.disk.state.syncToken;
    delete this.disk.state.metSinceBegin;
    this.disk.save();
  }

  // ── what changed here ──

  private changes(): Change[] {
    const changes: Change[] = [];
    const add = (change: Omit<Change, "localId" | "name" | "folder">) => {
      this.disk.state.made += 1;
      const localId = `${this.name}-change-${this.disk.state.made}`;
      // Now and then an app knows no base, and the server has only the cursor to judge by.
      if (change.baseChecksum !== undefined && this.random.chance(0.2)) delete change.baseChecksum;
      changes.push({ localId, ...splitPath(change.path), ...change });
    };
    for (const { fileId, path, checksum, operationId } of this.folder.gone) {
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
      // Where it is comes before what it is: once the content is another, the base is outdated.
      const from = splitPath(base.path);
      const to = splitPath(path);
      if (to.folder !== from.folder) add({ ...common, ...known, action: "move" });
      if (to.name !== from.name) add({ ...common, ...known, action: "rename" });
      if (this.folder.isEdited(file)) add({ ...common, ...known, action: "update" });
    }
    // A careful app tells what goes before what comes, so that no name is taken; another begins anywhere.
    if (this.options.crashes === 0 || this.random.chance(0.5)) return changes;
    return rotated(changes, this.random.between(0, changes.length));
  }

  private async settleChange(
    change: Change,
    result: Record<string, unknown>,
    conflicts: Record<string, unknown>[],
    response: ApiResponse,
  ): Promise<void> {
    switch (result["status"]) {
      case "applied":
      case "already_stored":
        this.settleApplied(change, maybeText(result, "fileId"));
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
        await this.settleRejected(change, result, response);
        return;
      default:
        throw response.unexpected(`status ${String(result["status"])}`);
    }
  }

  private settleApplied(change: Change, fileId: string | undefined): void {
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
    this.settleStored(change.key, fileId, { path: change.path, checksum: change.checksum });
  }

  /** The server has this content as this file; the local file may have moved on meanwhile. */
  private settleStored(key: string, fileId: string, base: { path: string; checksum: string }): void {
    const file = this.folder.byKey(key);
    // It was deleted here while it was under way: that is to be told.
    if (file === undefined) {
      if (this.folder.byId(fileId) === undefined && this.folder.goneById(fileId) === undefined) {
        this.ledger.willDelete(fileId, this.name);
        this.folder.gone.push({ fileId, ...base });
      }
      return;
    }
    this.mirror.yieldId(fileId, file);
    this.folder.forget(fileId);
    const isWhereItWas = file.base === undefined ? file.path !== base.path : file.path === file.base.path;
    this.folder.settle(file, fileId, base);
    if (isWhereItWas && file.path !== base.path) this.folder.place(file, base.path);
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

  private async settleRejected(change: Change, result: Record<string, unknown>, response: ApiResponse): Promise<void> {
    const reason = maybeText(result, "error.details.reason");
    const file = this.folder.byKey(change.key);
    switch (reason) {
      case "not_found":
        // Deleted by somebody else: what was only moved here goes as well; what was edited is offered anew.
        if (change.action === "delete") this.folder.forget(change.fileId ?? "");
        else if (file !== undefined) await this.mirror.refetch(file, change.fileId ?? "");
        return;
      case "version_conflict":
        // The conflict was resolved before, and its answer was lost.
        await this.keepRemote(change, file);
        return;
      case "name_taken":
        if (file !== undefined)
          this.folder.place(file, this.folder.freePath(joinPath(splitPath(file.path).folder, this.newName())));
        return;
      case "confirmation_required":
        // Declined: what was deleted or replaced here comes back from the server.
        if (valueAt(result, "error.details.declined") === true) await this.keepRemote(change, file);
        else await this.decide(result, response);
        return;
      default:
        throw response.unexpected(`rejected: ${JSON.stringify(result)}`);
    }
  }

  /** The server asks whether so much is really meant. The changes are sent again with the next sync. */
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
      for (const [upload, end] of await this.uploader.plan(unplanned)) await this.settleUpload(upload, end);
      this.step();
    }
    for (const upload of this.random.shuffled(state.uploads)) {
      if (upload.uploadId === undefined) continue;
      const end = await this.uploader.finish(upload);
      this.step();
      await this.settleUpload(upload, end);
      this.step();
      count += 1;
    }
    return count;
  }

  private async settleUpload(upload: PendingUpload, end: UploadEnd): Promise<void> {
    const { state } = this.disk;
    state.uploads = state.uploads.filter((other) => other !== upload);
    this.ledger.note(`${this.name} sent ${JSON.stringify({ ...upload, chunks: [] })}: ${JSON.stringify(end)}`);
    if (end.kind === "stored") {
      this.settleStored(upload.key, end.fileId, { path: end.path, checksum: upload.checksum });
      const file = this.folder.byKey(upload.key);
      // It was completed before, unheard, and somebody has changed it since.
      if (end.checksum !== upload.checksum && file !== undefined) await this.mirror.refetch(file, end.fileId);
      for (const operation of state.operations)
        if (operation.remotePath === end.path && operation.status !== undefined) operation.isFulfilled = true;
    }
    // Refused because the file is another by now, or gone: the next sync tells what to do.
    else if (
      end.kind === "refused" &&
      !["version_conflict", "not_found", "precondition_failed", "name_taken"].includes(end.reason)
    )
      throw new Error(`${this.name}: ${upload.path} was refused: ${end.reason} ${JSON.stringify(end.details)}`);
    this.disk.save();
  }

  // ── conflicts ──

  private async resolve(offered: Change, conflict: Record<string, unknown>): Promise<void> {
    const conflictId = textOf(conflict, "conflictId");
    const file = this.folder.byKey(offered.key);
    // A file that was deleted there and made anew from here is another by now: what was wanted of the old one is over.
    const isAnother = offered.fileId !== undefined && file !== undefined && file.fileId !== offered.fileId;
    const resolution = isAnother ? "keep_remote" : this.random.choose("keep_remote", "keep_local");
    // Where two want one name, another name keeps both.
    const isRenamed = resolution === "keep_local" && conflict["type"] === "name" && this.random.chance(0.5);
    const name = isRenamed ? this.newName() : offered.name;
    const change = { ...offered, name, path: joinPath(offered.folder, name) };
    // Whoever brings a deleted file back may not be the only one who does.
    if (resolution === "keep_local" && conflict["type"] === "deleted")
      this.ledger.doubledOnPurpose.add(change.checksum);
    if (isRenamed && file !== undefined) this.folder.place(file, change.path);
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
        // It changed once more meanwhile. The next sync meets it as it is then.
        return;
      default:
        throw response.unexpected(`status ${String(result["status"])}`);
    }
  }

  /** The local change is dropped; the phone takes what the server has. */
  private async keepRemote(change: Change, file: LocalFile | undefined): Promise<void> {
    if (change.action === "delete") {
      const fileId = change.fileId ?? "";
      this.folder.forget(fileId);
      const remote = await this.mirror.look(fileId);
      if (remote !== undefined) await this.mirror.applyRemote(remote);
      return;
    }
    if (file === undefined || (change.fileId !== undefined && change.fileId !== file.fileId)) return;
    // What was edited once more since it was offered is another matter: it is offered by the next sync.
    const isAsOffered = file.checksum === change.checksum;
    if (change.action === "upload") {
      if (!isAsOffered) return;
      this.ledger.givenUp(change.checksum, `${this.name} kept the other one`);
      this.folder.drop(file);
      return;
    }
    if (change.action === "update" && isAsOffered) {
      this.loseUnlessSent(file, "kept the other one");
      this.folder.revert(file);
    }
    await this.mirror.refetch(file, change.fileId ?? "");
  }

  /** Between any two steps the app may die. */
  private step(): void {
    if (this.random.chance(this.options.crashes)) throw new PhoneCrashed(`${this.name} died`);
  }
}

/** A change as it is sent. */
function wireChange(change: Change): Record<string, unknown> {
  const { key: _key, path: _path, ...wire } = change;
  return wire;
}

/** The same list from another place on, so that not always the same comes first. */
function rotated<T>(list: T[], by: number): T[] {
  return [...list.slice(by), ...list.slice(0, by)];
}
