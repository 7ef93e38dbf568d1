/**
 * The offline queue: operations that a device recorded while it had no connection. Operations are rows. The server executes
 * a delete in the transaction that changes its status, so that it runs exactly once, even after a crash. An upload only
 * waits: any file that is stored at its path completes it, in the same transaction.
 *
 * A queued operation fails after 30 days, a finished one is removed after 7 days. The same id sent later counts as a new
 * operation. That does no harm, because ids of files are never reused, and an upload finds its file.
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
import type { UserService } from "../../accounts/users/service.ts";
import type { User } from "../../accounts/users/types.ts";
import { type OperationRow, queueQueries, rankOf, STATUS, toOperation, writeError } from "./queries.ts";
import type { AddedOperation, NewOperation, Operation, OperationStatus } from "./types.ts";

/** What {@link QueueService} works with. */
export interface QueueServiceOptions {
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

/** Operations taken down in one deed: a few milliseconds. */
const ADD_SLICE = 100;
/** What one device may have waiting. */
const QUEUED_MAX = 20_000;
/** Tries of an operation that fails for no reason of its own. */
const ATTEMPTS_MAX = 3;
const WAITING_MS = 30 * 24 * 60 * 60 * 1000;
const FINISHED_MS = 7 * 24 * 60 * 60 * 1000;
const SWEEP_ROWS = 200;
const SETTLED_AT_ONCE = 50;
/** Waiting deletions that the brake is told of beside the one at hand. */
const LOOKED_AHEAD = 1_000;
/** Reasons that pass by themselves: the operation is as good as before. */
const PASSING: ReadonlySet<string> = new Set(["disk_full", "database_busy", "database_error", "store_missing"]);

/** See the head of this file. */
export class QueueService {
  readonly #options: QueueServiceOptions;
  readonly #queries;
  /** Accounts of which is known that no upload waits. Every other is looked up. */
  readonly #idle = new Set<number>();
  /** Devices whose operations are being taken down, and in how many calls: none runs before all of a call are there. */
  readonly #adding = new Map<number, number>();
  #wake = () => {};

  constructor(options: QueueServiceOptions) {
    this.#options = options;
    this.#queries = queueQueries(options.sqlite);
  }

  /** Lets `wake` be called whenever there may be something to carry out. */
  onRunnable(wake: () => void): void {
    this.#wake = wake;
  }

  /**
   * Takes operations down, each by itself; durable on return. One that is known already (the same id of the same
   * device) gives its present status and is not queued twice. What is too much beside what waits already is answered
   * `overloaded`.
   * @throws AppError revoked_token where the device was removed meanwhile
   */
  async add(user: User, device: DeviceRef, operations: readonly NewOperation[]): Promise<AddedOperation[]> {
    const { writer } = this.#options;
    const added: AddedOperation[] = [];
    this.#adding.set(device.id, (this.#adding.get(device.id) ?? 0) + 1);
    try {
      for (let from = 0; from < operations.length; from += ADD_SLICE) {
        const slice = operations.slice(from, from + ADD_SLICE);
        added.push(...(await writer.run((tx) => this.#addSlice(tx, user.id, device.id, slice))));
      }
    } finally {
      const others = (this.#adding.get(device.id) ?? 1) - 1;
      if (others > 0) this.#adding.set(device.id, others);
      else this.#adding.delete(device.id);
      this.#wake();
    }
    return added;
  }

  /**
   * A page of a device's operations: what waits, what failed, what is done; each in the order in which it is served.
   */
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

  /** The device after this one, in turn, that has something to carry out. */
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
   * How many operations of a device wait to be carried out, as far as the brake looks ahead. Asked once for many of
   * them: it counts rows.
   */
  countRunnable(deviceId: number): number {
    return this.#queries.runnable.get(deviceId, LOOKED_AHEAD)?.count ?? 0;
  }

  /**
   * Carries out the next operation of a device, if there is one; durable on return.
   * @param following how many more wait after it: deletions that wait together are weighed together
   * @returns whether there was one
   * @throws AppError where the server can't do anything at present; nothing has happened then
   */
  async serveNext(deviceId: number, following: number): Promise<boolean> {
    const { writer, log } = this.#options;
    let tried: OperationRow | undefined;
    try {
      return await writer.run((tx) => {
        tried = this.#queries.next.get(deviceId) ?? undefined;
        if (tried !== undefined) this.#carryOut(tx, tried, following);
        return tried !== undefined;
      });
    } catch (error) {
      if (tried === undefined || (error instanceof AppError && PASSING.has(error.reason))) throw error;
      const failed = tried;
      log.error("An operation of the offline queue failed.", { operation: failed.id, error });
      await writer.run(() => this.#noteFault(failed, error));
      return true;
    }
  }

  /**
   * Looks what became of operations that wait for a person's word: confirmed ones run, declined and forgotten
   * ones fail. @returns whether any still waits
   */
  async settleHeld(): Promise<boolean> {
    const { massChangeGuard, writer, clock } = this.#options;
    let isAnyLeft = false;
    for (const { holdId, accountId } of this.#queries.holds.all()) {
      const hold = massChangeGuard.find(accountId, holdId);
      if (hold !== undefined && hold.decision === null && hold.expiresAtMs > clock.nowMs()) isAnyLeft = true;
      else while (await writer.run(() => this.#settleSome(holdId, hold))) await Bun.sleep(0);
    }
    return isAnyLeft;
  }

  /** A file came to be at this path: completes the uploads that waited for it. Inside the deed that brings it. */
  noteArrival(tx: Transaction, accountId: number, path: () => string): void {
    if (this.#idle.has(accountId)) return;
    for (const { id } of this.#queries.waiting.all(accountId, path())) this.#finish(id, "completed");
    // By what is committed then: what this deed saw may be undone, and others may follow in the same commit.
    tx.afterCommit(() => {
      if (this.#queries.isAnyWaiting.get(accountId) === null) this.#idle.add(accountId);
    });
  }

  /** A device was removed: what it has waiting is dropped. Inside that deed. */
  dropDevice(_tx: Transaction, deviceId: number): void {
    this.#queries.dropQueued.run(deviceId);
  }

  /** Forgets what is kept in memory: another process wrote. */
  dropCaches(): void {
    this.#idle.clear();
  }

  /**
   * Ends what has waited too long and forgets what was finished long ago. A job's piece.
   * @returns what was done, in words
   */
  async sweep(signal: AbortSignal): Promise<string> {
    const { writer, clock } = this.#options;
    const nowMs = clock.nowMs();
    const why = writeError(
      new AppError(
        "upload_expired",
        "No file was uploaded to remotePath within 30 days. Queue the upload again, then send the file.",
      ),
    );
    const each = async (deed: () => number) => {
      let total = 0;
      while (!signal.aborted) {
        const count = await writer.run(deed);
        total += count;
        if (count < SWEEP_ROWS) break;
      }
      return total;
    };
    const expired = await each(() => this.#queries.expire.run(nowMs - WAITING_MS, why, nowMs, SWEEP_ROWS).changes);
    const forgotten = await each(() => this.#queries.forget.run(nowMs - FINISHED_MS, SWEEP_ROWS).changes);
    const found = await this.#recheck(signal);
    return `${expired} expired, ${found} found, ${forgotten} forgotten`;
  }

  /** Completes uploads whose files came with a folder: moving one tells nothing of the files below it. */
  async #recheck(signal: AbortSignal): Promise<number> {
    const { writer } = this.#options;
    let found = 0;
    let at: readonly [accountId: number, path: string, id: number] = [0, "", 0];
    while (!signal.aborted) {
      const rows = this.#queries.waitingAfter.all(...at, SWEEP_ROWS);
      const last = rows.at(-1);
      if (last?.remotePath == null) break;
      at = [last.accountId, last.remotePath, last.id];
      found += await writer.run(() => {
        const arrived = rows.filter((row) =>
          this.#hasArrived(row.accountId, row.remotePath ?? ROOT_PATH, row.createdAt),
        );
        for (const { id } of arrived) this.#finish(id, "completed");
        return arrived.length;
      });
    }
    return found;
  }

  #addSlice(_tx: Transaction, accountId: number, deviceId: number, slice: readonly NewOperation[]): AddedOperation[] {
    if (this.#queries.device.get(deviceId) === null) {
      throw new AppError("revoked_token", "This device was removed. Register it again.");
    }
    const queued = this.#queries.count.get(deviceId, STATUS.queued, STATUS.queued)?.total ?? 0;
    const room = { left: QUEUED_MAX - queued };
    return slice.map((operation) => this.#addOne(accountId, deviceId, operation, room));
  }

  /** @param room how many more may wait; what is queued is taken off */
  #addOne(accountId: number, deviceId: number, operation: NewOperation, room: { left: number }): AddedOperation {
    const { id, type, priority, fileId = null } = operation;
    try {
      const remotePath = type === "upload" ? filePath(operation.remotePath ?? "") : null;
      const known = this.#queries.named.get(deviceId, id);
      if (known !== null) {
        if (known.type !== type || known.remotePath !== remotePath || known.fileId !== fileId) throw usedOtherwise(id);
        const { status, error } = toOperation(known);
        return { id, status, error };
      }
      const receivedAt = this.#options.clock.nowMs();
      // A phone's clock may be ahead; what it did, it did before it told us.
      const createdAt = Math.min(operation.createdAtMs, receivedAt);
      const isDone = remotePath !== null && this.#hasArrived(accountId, remotePath, createdAt);
      if (!isDone && room.left-- <= 0) {
        throw new AppError(
          "overloaded",
          `At most ${QUEUED_MAX} operations can be queued. Wait until some are finished.`,
        );
      }
      const status = isDone ? STATUS.completed : STATUS.queued;
      const [attempts, finishedAt] = isDone ? [1, receivedAt] : [0, null];
      const rank = rankOf(priority);
      this.#queries.insert.run(
        ...([accountId, deviceId, id, type, rank, createdAt, receivedAt] as const),
        ...([remotePath, fileId, status, attempts, finishedAt] as const),
      );
      // At once: the next deed of the same commit may bring the file.
      if (type === "upload" && !isDone) this.#idle.delete(accountId);
      return { id, status: isDone ? "completed" : "queued", error: undefined };
    } catch (error) {
      if (error instanceof AppError) return { id, status: "failed", error };
      throw error;
    }
  }

  #hasArrived(accountId: number, path: string, sinceMs: number): boolean {
    const file = this.#options.tree.findFileNamed(accountId, parentPath(path), baseName(path));
    return file !== undefined && file.contentAtMs >= sinceMs;
  }

  #carryOut(tx: Transaction, operation: OperationRow, following: number): void {
    const { tree, users } = this.#options;
    const { id, accountId, fileId } = operation;
    const fault = rejectionOf(users.findById(accountId));
    const file = fileId === null ? undefined : tree.findFile(accountId, fileId);
    if (fault !== undefined) this.#finish(id, "failed", fault);
    else if (file !== undefined) this.#delete(tx, operation, file, following);
    // What was held and then confirmed is carried out with the rest of its hold.
    else if (toOperation(operation).error?.reason === "confirmation_required") this.#finish(id, "completed");
    else this.#finish(id, "failed", notFound("The file"));
  }

  #delete(tx: Transaction, { id, deviceId, operationId }: OperationRow, file: FileNode, following: number): void {
    const { treeWriter, access, massChangeGuard } = this.#options;
    const device = this.#queries.device.get(deviceId);
    invariant(device !== null, "what a removed device had waiting was dropped");
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
    // What was counted of it is not to be written any more.
    tx.afterCommit(() => access.forget(file.id));
  }

  /** A deed. @returns whether there are more */
  #settleSome(holdId: string, hold: Hold | undefined): boolean {
    const rows = this.#queries.held.all(holdId, SETTLED_AT_ONCE);
    for (const row of rows) {
      if (hold?.decision === "accepted") this.#queries.release.run(row.id);
      else this.#finish(row.id, "failed", hold === undefined ? toOperation(row).error : confirmationRequired(hold));
    }
    this.#wake();
    return rows.length === SETTLED_AT_ONCE;
  }

  #noteFault(operation: OperationRow, error: unknown): void {
    const known =
      error instanceof AppError
        ? error
        : new AppError("unexpected", "Something went wrong on the server. Queue the operation again with a new ID.");
    if (operation.attempts + 1 >= ATTEMPTS_MAX) this.#finish(operation.id, "failed", known);
    else this.#queries.noteFault.run(operation.id, writeError(known));
  }

  #finish(id: number, status: "completed" | "failed", error?: AppError): void {
    const text = error === undefined ? null : writeError(error);
    this.#queries.finish.run(id, STATUS[status], text, this.#options.clock.nowMs());
  }
}

/** The path of a file in its one stored form. @throws AppError invalid_path */
function filePath(text: string): string {
  const path = normalizePath(text, "remotePath");
  if (path === ROOT_PATH) {
    throw new AppError("invalid_path", 'remotePath must be the path of a file, such as "/photos/2026/IMG_1.jpg".', {
      field: "remotePath",
    });
  }
  return path;
}

/** Why nothing is done for this account any more. */
function rejectionOf(user: User | undefined): AppError | undefined {
  if (user === undefined || user.disabledAtMs !== null) {
    return new AppError("account_disabled", "The account is disabled. Ask your administrator to enable it.");
  }
  if (user.role !== "viewer") return undefined;
  return new AppError(
    "role",
    "Your account can view files but not change them. Ask your administrator for another role.",
  );
}

function usedOtherwise(id: string): AppError {
  return new AppError("idempotency_key", `The ID ${id} belongs to another operation. Choose a new ID.`, {
    field: "id",
  });
}

/** The path of a file by its folder and name, as {@link QueueService.noteArrival} takes it. */
export function pathOfFile(file: { readonly folder: string; readonly name: string }): string {
  return joinPath(file.folder, file.name);
}
