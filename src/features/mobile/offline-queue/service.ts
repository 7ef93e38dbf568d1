/**
 * The offline queue: operations that a device recorded while it had no connection. Operations are rows. The server
 * executes a delete in the transaction that changes its status, so that it runs exactly once, even after a crash. An
 * upload only waits: any file that is stored at its path completes it, in the same transaction.
 *
 * A queued operation fails after 30 days, a finished one is removed after 7 days. The same id sent later counts as a
 * new operation. That does no harm, because ids of files are never reused, and an upload finds its file.
 */
import type { Database } from "bun:sqlite";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError, notFound } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { invariant } from "../../../lib/invariant.ts";
import type { Log } from "../../../lib/log.ts";
import { baseName, joinPath, normalizePath, parentPath, ROOT_PATH } from "../../../lib/path.ts";
import type { DeviceRef } from "../../accounts/auth/principal.ts";
import { confirmationRequired, type MassChangeGuard } from "../mass-change/mass-change-guard.ts";
import type { Hold } from "../mass-change/types.ts";
import type { AccessCounters } from "../../accounts/plans/access-counters.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import { say } from "../../../translations/say.ts";
import type { UserService } from "../../accounts/users/service.ts";
import type { User } from "../../accounts/users/types.ts";
import { type OperationRow, queueQueries, priorityNumber, STATUS, toOperation, writeError } from "./queries.ts";
import type { AddedOperation, NewOperation, Operation, OperationStatus } from "./types.ts";

/** Options of {@link QueueService}. */
interface QueueServiceOptions {
  readonly sqlite: Database;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  readonly users: Pick<UserService, "findById">;
  readonly access: Pick<AccessCounters, "forget">;
  readonly massChangeGuard: Pick<MassChangeGuard, "admit" | "find">;
}

/** Operations added in one transaction; it takes a few milliseconds. */
const ADD_BATCH = 100;
/** The maximum of queued operations of a device. */
const QUEUED_MAX = 20_000;
/** The maximum of attempts for an operation that fails because of a server error. */
const ATTEMPTS_MAX = 3;
const QUEUED_RETENTION_MS = 30 * 24 * 60 * 60 * 1000;
const FINISHED_RETENTION_MS = 7 * 24 * 60 * 60 * 1000;
const SWEEP_ROWS = 200;
const DECISION_BATCH = 50;
/** The maximum of queued deletions that the mass-change guard counts in advance. */
const FOLLOWING_MAX = 1_000;
/** Temporary errors of the server: the operation is retried, and the attempt does not count. */
const TEMPORARY: ReadonlySet<string> = new Set(["disk_full", "database_busy", "database_error", "store_missing"]);

/** Adds, lists, executes and expires the queued operations of devices. */
export class QueueService {
  readonly #options: QueueServiceOptions;
  readonly #queries;
  /** Accounts that have no queued upload. Any other account is looked up. */
  readonly #accountsWithoutUploads = new Set<number>();
  /** Devices that are adding operations, with the number of calls. No operation runs before its call is complete. */
  readonly #adding = new Map<number, number>();
  #wake = () => {};

  constructor(options: QueueServiceOptions) {
    this.#options = options;
    this.#queries = queueQueries(options.sqlite);
  }

  /** Sets the function that is called when an operation may have become executable. */
  onExecutable(wake: () => void): void {
    this.#wake = wake;
  }

  /**
   * Adds operations, each separately; durable on return. If the device already added an operation with this id, the
   * result is its current status, and it is not queued twice. An operation that exceeds the limit gets `overloaded`.
   * @throws AppError revoked_token if the device was removed during the call
   */
  async add(user: User, device: DeviceRef, operations: readonly NewOperation[]): Promise<AddedOperation[]> {
    const { writer } = this.#options;
    const added: AddedOperation[] = [];
    this.#adding.set(device.id, (this.#adding.get(device.id) ?? 0) + 1);
    try {
      for (let from = 0; from < operations.length; from += ADD_BATCH) {
        const batch = operations.slice(from, from + ADD_BATCH);
        added.push(...(await writer.run(() => this.#addBatch(user.id, device.id, batch))));
      }
    } finally {
      const others = (this.#adding.get(device.id) ?? 1) - 1;
      if (others > 0) this.#adding.set(device.id, others);
      else this.#adding.delete(device.id);
      this.#wake();
    }
    return added;
  }

  /** A page of a device's operations: queued, then failed, then completed ones, each in the order of execution. */
  list(
    device: DeviceRef,
    query: { status: OperationStatus | undefined; offset: number; limit: number },
  ): { operations: Operation[]; total: number } {
    const { status, offset, limit } = query;
    if (status === "running") return { operations: [], total: 0 };
    const [from, to] = status === undefined ? [STATUS.queued, STATUS.completed] : [STATUS[status], STATUS[status]];
    return {
      operations: this.#queries.list.all(device.id, from, to, limit, offset).map(toOperation),
      total: this.#queries.count.get(device.id, from, to)?.total ?? 0,
    };
  }

  /** The next device after this one, in rotation, that has an executable operation. */
  findNextDevice(afterId: number): number | undefined {
    const seek = (fromId: number, untilId: number): number | undefined => {
      for (let at = fromId; ; ) {
        const found = this.#queries.nextDevice.get(at)?.deviceId;
        if (found === undefined || found > untilId) return undefined;
        if (!this.#adding.has(found)) return found;
        at = found;
      }
    };
    return seek(afterId, Number.MAX_SAFE_INTEGER) ?? seek(0, afterId);
  }

  /**
   * The number of executable operations of a device, up to the maximum that the mass-change guard considers. It counts
   * rows: call it once for many operations.
   */
  countExecutable(deviceId: number): number {
    return this.#queries.countExecutable.get(deviceId, FOLLOWING_MAX)?.count ?? 0;
  }

  /**
   * Executes the next operation of a device, if there is one; durable on return.
   * @param following how many more are queued after it: the mass-change guard considers them together
   * @returns whether there was one
   * @throws AppError for a temporary error of the server; nothing was changed then
   */
  async executeNext(deviceId: number, following: number): Promise<boolean> {
    const { writer, log } = this.#options;
    let tried: OperationRow | undefined;
    try {
      return await writer.run((tx) => {
        tried = this.#queries.next.get(deviceId) ?? undefined;
        if (tried !== undefined) this.#execute(tx, tried, following);
        return tried !== undefined;
      });
    } catch (error) {
      if (tried === undefined || (error instanceof AppError && TEMPORARY.has(error.reason))) throw error;
      const failed = tried;
      if (!isLocked(error)) log.error("An operation of the offline queue failed.", { operation: failed.id, error });
      await writer.run(() => this.#recordFailure(failed, error));
      return true;
    }
  }

  /**
   * Checks the holds of operations: those of an accepted hold become executable, those of a declined or dropped hold
   * fail. @returns whether any hold still waits for a decision
   */
  async checkHolds(): Promise<boolean> {
    const { massChangeGuard, writer, clock } = this.#options;
    let isAnyOpen = false;
    for (const { holdId, accountId } of this.#queries.holds.all()) {
      const hold = massChangeGuard.find(accountId, holdId);
      if (hold !== undefined && hold.decision === null && hold.expiresAtMs > clock.nowMs()) isAnyOpen = true;
      else while (await writer.run(() => this.#applyDecision(holdId, hold))) await Bun.sleep(0);
    }
    return isAnyOpen;
  }

  /** Completes the queued uploads for this path. Call it inside the transaction that stores the file. */
  onFileStored(tx: Transaction, accountId: number, path: () => string): void {
    if (this.#accountsWithoutUploads.has(accountId)) return;
    for (const { id } of this.#queries.uploadsForPath.all(accountId, path())) this.#finish(id, "completed");
    // After the commit, because this transaction may be rolled back, and others may follow in the same commit.
    tx.afterCommit(() => {
      if (this.#queries.anyUpload.get(accountId) === null) this.#accountsWithoutUploads.add(accountId);
    });
  }

  /** Deletes the queued operations of a removed device. Call it inside the transaction of the removal. */
  dropDevice(_tx: Transaction, deviceId: number): void {
    this.#queries.dropQueued.run(deviceId);
  }

  /** Clears what is cached in memory. Call it after another process has written to the database. */
  dropCaches(): void {
    this.#accountsWithoutUploads.clear();
  }

  /** Expires old queued operations and removes old finished ones. @returns a summary for the log */
  async sweep(signal: AbortSignal): Promise<string> {
    const { writer, clock } = this.#options;
    const nowMs = clock.nowMs();
    const error = writeError(
      new AppError(
        "upload_expired",
        say`No file was uploaded to remotePath within 30 days. Queue the upload again, then send the file.`,
      ),
    );
    const repeat = async (changeSome: () => number) => {
      let total = 0;
      while (!signal.aborted) {
        const count = await writer.run(changeSome);
        total += count;
        if (count < SWEEP_ROWS) break;
      }
      return total;
    };
    const { expire, remove } = this.#queries;
    const expiredCount = await repeat(() => expire.run(nowMs - QUEUED_RETENTION_MS, error, nowMs, SWEEP_ROWS).changes);
    const removedCount = await repeat(() => remove.run(nowMs - FINISHED_RETENTION_MS, SWEEP_ROWS).changes);
    const foundCount = await this.#recheck(signal);
    return `${expiredCount} expired, ${foundCount} found, ${removedCount} removed`;
  }

  /** Completes uploads whose files came with a moved folder: its move emits no event for the files below it. */
  async #recheck(signal: AbortSignal): Promise<number> {
    const { writer } = this.#options;
    let found = 0;
    let at: readonly [accountId: number, path: string, id: number] = [0, "", 0];
    while (!signal.aborted) {
      const rows = this.#queries.uploadsAfter.all(...at, SWEEP_ROWS);
      const last = rows.at(-1);
      if (last?.remotePath == null) break;
      at = [last.accountId, last.remotePath, last.id];
      found += await writer.run(() => {
        const done = rows.filter((row) => this.#isStored(row.accountId, row.remotePath ?? ROOT_PATH, row.createdAt));
        for (const { id } of done) this.#finish(id, "completed");
        return done.length;
      });
    }
    return found;
  }

  #addBatch(accountId: number, deviceId: number, batch: readonly NewOperation[]): AddedOperation[] {
    if (this.#queries.device.get(deviceId) === null) {
      throw new AppError("revoked_token", say`This device was removed. Register it again.`);
    }
    const queued = this.#queries.count.get(deviceId, STATUS.queued, STATUS.queued)?.total ?? 0;
    const capacity = { left: QUEUED_MAX - queued };
    return batch.map((operation) => this.#addOne(accountId, deviceId, operation, capacity));
  }

  /** @param capacity how many more can be queued; reduced by each queued operation */
  #addOne(accountId: number, deviceId: number, operation: NewOperation, capacity: { left: number }): AddedOperation {
    const { id, type, priority, fileId = null } = operation;
    try {
      const remotePath = type === "upload" ? filePath(operation.remotePath ?? "") : null;
      const known = this.#queries.byId.get(deviceId, id);
      if (known !== null) {
        if (known.type !== type || known.remotePath !== remotePath || known.fileId !== fileId) throw idInUse(id);
        const { status, error } = toOperation(known);
        return { id, status, error };
      }
      const receivedAt = this.#options.clock.nowMs();
      // A phone's clock may be ahead, but the operation was recorded before the server received it.
      const createdAt = Math.min(operation.createdAtMs, receivedAt);
      const isDone = remotePath !== null && this.#isStored(accountId, remotePath, createdAt);
      if (!isDone && capacity.left-- <= 0) {
        throw new AppError(
          "overloaded",
          say`At most ${QUEUED_MAX} operations can be queued. Wait until some are finished.`,
        );
      }
      const status = isDone ? STATUS.completed : STATUS.queued;
      const [attempts, finishedAt] = isDone ? [1, receivedAt] : [0, null];
      const rank = priorityNumber(priority);
      this.#queries.insert.run(
        ...([accountId, deviceId, id, type, rank, createdAt, receivedAt] as const),
        ...([remotePath, fileId, status, attempts, finishedAt] as const),
      );
      // Not after the commit: the next transaction of the same commit may store the file.
      if (type === "upload" && !isDone) this.#accountsWithoutUploads.delete(accountId);
      return { id, status: isDone ? "completed" : "queued", error: undefined };
    } catch (error) {
      if (error instanceof AppError) return { id, status: "failed", error };
      throw error;
    }
  }

  #isStored(accountId: number, path: string, sinceMs: number): boolean {
    const file = this.#options.tree.findFileNamed(accountId, parentPath(path), baseName(path));
    return file !== undefined && file.contentAtMs >= sinceMs;
  }

  #execute(tx: Transaction, operation: OperationRow, following: number): void {
    const { tree, users } = this.#options;
    const { id, accountId, fileId } = operation;
    const fault = rejectionOf(users.findById(accountId));
    const file = fileId === null ? undefined : tree.findFile(accountId, fileId);
    if (fault !== undefined) this.#finish(id, "failed", fault);
    else if (file !== undefined) this.#delete(tx, operation, file, following);
    // HoldService deletes the files of an accepted hold, so the operation is done.
    else if (toOperation(operation).error?.reason === "confirmation_required") this.#finish(id, "completed");
    else this.#finish(id, "failed", notFound(say`The file was not found.`));
  }

  #delete(tx: Transaction, { id, deviceId, operationId }: OperationRow, file: FileNode, following: number): void {
    const { treeWriter, access, massChangeGuard } = this.#options;
    const device = this.#queries.device.get(deviceId);
    invariant(device !== null, "the queued operations of a removed device are deleted");
    const change = { action: "delete", localId: `queue:${operationId}`, fileId: file.publicId } as const;
    const hold = massChangeGuard.admit(tx, device, file.accountId, [change], following);
    if (hold?.decision === "declined") {
      this.#finish(id, "failed", confirmationRequired(hold));
      return;
    }
    if (hold !== undefined) {
      this.#queries.hold.run(id, hold.publicId, writeError(confirmationRequired(hold)));
      return;
    }
    treeWriter.by(deviceId, () => treeWriter.deleteFile(tx, file));
    this.#finish(id, "completed");
    // The access counts of a deleted file must not be written.
    tx.afterCommit(() => access.forget(file.id));
  }

  /** Releases or fails operations of a decided or dropped hold. Call it inside a transaction. @returns whether there are more */
  #applyDecision(holdId: string, hold: Hold | undefined): boolean {
    const rows = this.#queries.ofHold.all(holdId, DECISION_BATCH);
    for (const row of rows) {
      if (hold?.decision === "accepted") this.#queries.release.run(row.id);
      else this.#finish(row.id, "failed", hold === undefined ? toOperation(row).error : confirmationRequired(hold));
    }
    this.#wake();
    return rows.length === DECISION_BATCH;
  }

  #recordFailure(operation: OperationRow, error: unknown): void {
    const failure =
      error instanceof AppError
        ? error
        : new AppError("unexpected", say`Something went wrong on the server. Queue the operation again with a new ID.`);
    // A lock lasts for up to an hour; the other operations don't wait for it.
    if (operation.attempts + 1 >= ATTEMPTS_MAX || isLocked(error)) this.#finish(operation.id, "failed", failure);
    else this.#queries.recordFailure.run(operation.id, writeError(failure));
  }

  #finish(id: number, status: "completed" | "failed", error?: AppError): void {
    const text = error === undefined ? null : writeError(error);
    this.#queries.finish.run(id, STATUS[status], text, this.#options.clock.nowMs());
  }
}

/** The normalized path of a file. @throws AppError invalid_path */
function filePath(text: string): string {
  const path = normalizePath(text, "remotePath");
  if (path === ROOT_PATH) {
    throw new AppError("invalid_path", say`remotePath must be the path of a file, such as "/photos/2026/IMG_1.jpg".`, {
      field: "remotePath",
    });
  }
  return path;
}

/** Why operations of this account must not be executed; undefined if they may. */
function rejectionOf(user: User | undefined): AppError | undefined {
  if (user === undefined || user.disabledAtMs !== null) {
    return new AppError("account_disabled", say`The account is disabled. Ask your administrator to enable it.`);
  }
  if (user.role !== "viewer") return undefined;
  return new AppError(
    "role",
    say`Your account can view files but not change them. Ask your administrator for another role.`,
  );
}

/** Whether a WebDAV client has locked the file. */
function isLocked(error: unknown): boolean {
  return error instanceof AppError && error.reason === "locked";
}

function idInUse(id: string): AppError {
  return new AppError("idempotency_key", say`The ID ${id} belongs to another operation. Choose a new ID.`, {
    field: "id",
  });
}

/** The path of a file, for {@link QueueService.onFileStored}. */
export function pathOfFile(file: { readonly folder: string; readonly name: string }): string {
  return joinPath(file.folder, file.name);
}
