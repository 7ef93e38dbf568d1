/**
 * Conflicts: changes of a device that contradict changes by others. A conflict belongs to its device until it is
 * resolved, by a decision or by the upload of the device's content. The content of the other side stays as an earlier
 * version.
 */
import type { Database } from "bun:sqlite";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError, invalidField, notFound, withPlan } from "../../../errors.ts";
import type { DeviceFacts, EventOf } from "../../../events/catalogue.ts";
import type { Clock } from "../../../lib/clock.ts";
import { newId } from "../../../lib/id.ts";
import type { DeviceRef } from "../../accounts/auth/principal.ts";
import { confirmationRequired, type MassChangeGuard } from "../mass-change/mass-change-guard.ts";
import { fingerprintOf } from "../mass-change/fingerprint.ts";
import type { LocalChange } from "../mass-change/types.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import { say } from "../../../translations/say.ts";
import type { User } from "../../accounts/users/types.ts";
import { KeepLocal } from "./keep-local.ts";
import { type ConflictRow, conflictQueries, toConflict } from "./queries.ts";
import type { Conflict, NewConflict, OpenConflict, ResolveRequest } from "./types.ts";

/** Options of {@link ConflictService}. */
interface ConflictServiceOptions {
  readonly sqlite: Database;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  /** Plan and quota of an account. */
  readonly limitsOf: (user: User) => { readonly plan: string; readonly quotaBytes: number | null };
  /** Called for each deleted file, after the commit. */
  readonly onDeleted: (nodeId: number) => void;
  readonly massChangeGuard: Pick<MassChangeGuard, "admit">;
}

/** The result of one resolution. */
export type ResolveOutcome =
  | { readonly conflictId: string; readonly status: "resolved" | "upload_required"; readonly fileId: string | null }
  | { readonly conflictId: string; readonly status: "rejected"; readonly error: AppError };

/** The maximum length of a list of conflicts. */
const LISTED_MAX = 1_000;
/** The maximum of open conflicts of a device. */
const OPEN_MAX = 10_000;
const RESOLVED_RETENTION_MS = 30 * 24 * 60 * 60 * 1000;

/** Records, lists and resolves conflicts. */
export class ConflictService {
  readonly #options: ConflictServiceOptions;
  readonly #queries: ReturnType<typeof conflictQueries>;
  readonly #keepLocal: KeepLocal;

  constructor(options: ConflictServiceOptions) {
    this.#options = options;
    this.#queries = conflictQueries(options.sqlite);
    this.#keepLocal = new KeepLocal(options);
  }

  /** The open conflicts of a device, oldest first, at most 1,000. */
  listOpen(deviceId: number): OpenConflict[] {
    const { tree } = this.#options;
    return this.#queries.open.all(deviceId, LISTED_MAX).map((row) => {
      const remote = tree.findFile(row.accountId, row.remoteFileId);
      const sender = remote?.contentDeviceId ?? null;
      const device = sender === null ? null : this.#queries.device.get(sender);
      // The file may have been deleted since the conflict was detected.
      const type = remote === undefined && row.type === "modified" ? "deleted" : row.type;
      return { ...toConflict(row), type, remote, remoteDeviceId: device?.publicId };
    });
  }

  /** The conflict that this change caused earlier, open or resolved. */
  findByChange(deviceId: number, fingerprint: Uint8Array): Conflict | undefined {
    const row = this.#queries.byChange.get(deviceId, fingerprint);
    return row === null ? undefined : toConflict(row);
  }

  /** Whether nobody has decided yet which side of this conflict is kept. */
  isUndecided(deviceId: number, conflictId: string): boolean {
    const row = this.#queries.byPublicId.get(deviceId, conflictId);
    return row !== null && row.resolution === null && row.awaitsContent === 0;
  }

  /**
   * Ends an open conflict whose change was applied after all, or is no longer needed. Nobody decided it: if the change
   * is sent again, it is decided as if there had been no conflict. Call it inside a transaction.
   */
  endAsApplied(_tx: Transaction, conflict: Conflict, fileId: string): void {
    this.#end(conflict.id, fileId);
    this.#queries.detach.run(conflict.id);
  }

  /**
   * Ends the device's open conflicts about a file after a change of it was applied. A deletion ends all except uploads
   * of other local files with its name; any other change ends conflicts of the same kind. Call it inside a transaction.
   */
  endAllOfFile(_tx: Transaction, deviceId: number, fileId: string, change: LocalChange): void {
    for (const row of this.#queries.openOfFile.all(deviceId, fileId)) {
      const earlier = toConflict(row).change;
      const isEnded = change.action === "delete" ? earlier.action !== "upload" : isOfKind(earlier, change);
      if (isEnded) this.#end(row.id, fileId);
    }
  }

  /** Marks an open conflict: the upload of the device's content will end it. Call it inside a transaction. */
  awaitContent(_tx: Transaction, conflict: Conflict): void {
    this.#queries.await.run(conflict.id, JSON.stringify(conflict.change));
  }

  /**
   * Records a conflict. If an open one of the same kind about the same file exists, the change replaces that one's
   * change, because the device has only one state of a file. Call it inside a transaction.
   * @returns its id
   * @throws AppError overloaded if the device has too many open conflicts
   */
  record(_tx: Transaction, device: DeviceRef, accountId: number, found: NewConflict): string {
    const { type, fileId, remoteFileId, change } = found;
    const fingerprint = fingerprintOf(change);
    const { tree, clock } = this.#options;
    const file = tree.findFile(accountId, fileId);
    const same = this.#queries.byChange.get(device.id, fingerprint);
    const earlier = same?.resolvedAtMs === null ? same : this.#findOpen(device.id, fileId, change);
    // Name and folder are needed to create the file again. If it was deleted, the earlier conflict may have them.
    const { name, folder } = file ?? (earlier === undefined ? change : toConflict(earlier).change);
    const json = JSON.stringify({ ...change, name: change.name ?? name, folder: change.folder ?? folder });
    if (same !== null && same.id !== earlier?.id) this.#queries.remove.run(same.id);
    if (earlier !== undefined) {
      this.#queries.supersede.run(earlier.id, fingerprint, type, fileId, remoteFileId, json);
      return earlier.publicId;
    }
    if (this.#queries.hasMoreOpen.get(device.id, OPEN_MAX - 1) !== null) {
      throw new AppError(
        "overloaded",
        say`This device has ${OPEN_MAX} unresolved conflicts. Resolve some of them first.`,
      );
    }
    const nowMs = clock.nowMs();
    const publicId = newId("cfl", nowMs);
    this.#queries.insert.run(publicId, accountId, device.id, fingerprint, type, fileId, remoteFileId, json, nowMs);
    return publicId;
  }

  /** Resolves conflicts of a device, each separately, in order; durable on return. */
  resolve(user: User, device: DeviceRef, requests: readonly ResolveRequest[]): Promise<ResolveOutcome[]> {
    const { writer, treeWriter, limitsOf } = this.#options;
    return Promise.all(
      requests.map(async (request): Promise<ResolveOutcome> => {
        try {
          return await writer.run((tx) => treeWriter.by(device.id, () => this.#resolveOne(tx, user, device, request)));
        } catch (error) {
          if (!(error instanceof AppError)) throw error;
          return { conflictId: request.conflictId, status: "rejected", error: withPlan(error, limitsOf(user).plan) };
        }
      }),
    );
  }

  /** Drops the open conflicts of a removed device. Call it inside the transaction of the removal. */
  dropDevice(_tx: Transaction, deviceId: number): void {
    this.#queries.dropOpen.run(deviceId);
  }

  /**
   * Applies keep_local. If the content is missing, the conflict waits for its upload. Call it inside a transaction.
   * @throws AppError quota_exceeded | not_a_folder | name_taken
   */
  keepLocal(tx: Transaction, user: User, device: DeviceFacts, conflict: Conflict): ResolveOutcome {
    const { id, publicId: conflictId, change } = conflict;
    const result = this.#keepLocal.keep(tx, user, device, conflict);
    if ("hold" in result) return { conflictId, status: "rejected", error: confirmationRequired(result.hold) };
    const { fileId, needsContent } = result;
    if (needsContent) this.#queries.await.run(id, JSON.stringify(change));
    else this.#end(id, fileId);
    return { conflictId, status: needsContent ? "upload_required" : "resolved", fileId };
  }

  /**
   * Ends the conflicts of a device about the content of a file after it uploaded new content for it. The device has seen
   * the server's side then, or was requested to send its own. A conflict about another local file with this name stays
   * open.
   */
  onFileUpdated(_tx: Transaction, event: EventOf<"file.updated">): void {
    const { deviceId, file } = event;
    if (deviceId === null) return;
    for (const row of this.#queries.openOfFile.all(deviceId, file.publicId)) {
      const { action, digest = file.digest } = toConflict(row).change;
      const isEnded = action === "update" || (action === "upload" && digest === file.digest);
      if (isEnded) this.#end(row.id, file.publicId);
    }
  }

  /** Ends the conflicts that wait for the content of a new file and have no other file for it. */
  onFileCreated(_tx: Transaction, event: EventOf<"file.created">): void {
    const { accountId, deviceId, file } = event;
    if (deviceId === null) return;
    for (const row of this.#queries.awaiting.all(deviceId)) {
      const { action, digest, name, folder } = toConflict(row).change;
      if (action !== "upload" && this.#options.tree.findFile(accountId, row.fileId) !== undefined) continue;
      const isEnded = digest === undefined ? name === file.name && folder === file.folder : digest === file.digest;
      if (isEnded) this.#end(row.id, file.publicId);
    }
  }

  /** Removes conflicts resolved a month ago, at most `limit`. Call it inside a transaction. @returns how many */
  sweep(limit: number): number {
    return this.#queries.sweep.run(this.#options.clock.nowMs() - RESOLVED_RETENTION_MS, limit).changes;
  }

  #resolveOne(tx: Transaction, user: User, device: DeviceRef, request: ResolveRequest): ResolveOutcome {
    const row = this.#queries.byPublicId.get(device.id, request.conflictId);
    if (row === null) throw notFound(say`The conflict was not found.`);
    const conflict = toConflict(row);
    checkFits(conflict, request);
    const { publicId: conflictId } = conflict;
    const done = (fileId: string | null): ResolveOutcome => ({ conflictId, status: "resolved", fileId });
    if (conflict.resolution === request.resolution) return done(conflict.outcomeFileId);
    if (conflict.resolution !== null) {
      const message = say`This conflict was already resolved as ${conflict.resolution}. Make a new change instead.`;
      throw new AppError("version_conflict", message, { conflictId, resolution: conflict.resolution });
    }
    if (request.resolution === "keep_remote") {
      const fileId = this.#options.tree.findFile(user.id, conflict.remoteFileId)?.publicId ?? null;
      this.#queries.resolve.run(conflict.id, "keep_remote", this.#options.clock.nowMs(), fileId);
      return done(fileId);
    }
    const error = this.#checkSeen(user, conflict);
    if (error !== undefined) return { conflictId, status: "rejected", error };
    return this.keepLocal(tx, user, device, { ...conflict, change: withLocalData(conflict.change, request) });
  }

  /**
   * The error if a deletion must not be applied yet. A deletion leaves no versions, and the person may not have seen
   * content that is newer than the conflict. Their next decision is assumed to consider it.
   */
  #checkSeen({ id: accountId }: User, { id, publicId, change, fileId, detectedAtMs }: Conflict): AppError | undefined {
    const file = change.action === "delete" ? this.#options.tree.findFile(accountId, fileId) : undefined;
    if (file === undefined || file.contentAtMs <= detectedAtMs) return undefined;
    this.#queries.setDetectedAt.run(id, file.contentAtMs);
    const message = say`The file changed after this conflict was found. Review the file, then resolve the conflict again.`;
    return new AppError("version_conflict", message, { conflictId: publicId });
  }

  #findOpen(deviceId: number, fileId: string, change: LocalChange): ConflictRow | undefined {
    return this.#queries.openOfFile.all(deviceId, fileId).find((row) => isOfKind(toConflict(row).change, change));
  }

  #end(conflictId: number, fileId: string | null): void {
    this.#queries.resolve.run(conflictId, "keep_local", this.#options.clock.nowMs(), fileId);
  }
}

/** @throws AppError invalid_field if the request names another file */
function checkFits(conflict: Conflict, { fileId }: ResolveRequest): void {
  if (fileId === undefined || fileId === conflict.fileId || fileId === conflict.remoteFileId) return;
  throw invalidField(
    "fileId",
    say`This conflict is about another file. Send the fileId of the conflict, or leave it out.`,
    {
      expected: conflict.fileId,
    },
  );
}

/**
 * Whether a later change of a file replaces the earlier one. Uploads of other local files with the same name do not.
 */
function isOfKind(earlier: LocalChange, later: LocalChange): boolean {
  return earlier.action === later.action && (later.action !== "upload" || earlier.localId === later.localId);
}

/** The change with the local data of the request. */
function withLocalData(change: LocalChange, { localName, localModifiedAt }: ResolveRequest): LocalChange {
  return {
    ...change,
    ...(localName !== undefined && { name: localName }),
    ...(localModifiedAt !== undefined && { lastModified: localModifiedAt }),
  };
}
