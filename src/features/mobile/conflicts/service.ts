/**
 * Conflicts: what a device wanted and could not have because others had changed the same file. Each stays with its
 * device until it is resolved, by the device's word or by the content that it sends; the loser stays as an earlier
 * version.
 */
import type { Database } from "bun:sqlite";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError, invalidField, notFound } from "../../../errors.ts";
import type { DeviceFacts, EventOf } from "../../../events/catalogue.ts";
import type { Clock } from "../../../lib/clock.ts";
import { newId } from "../../../lib/id.ts";
import type { DeviceRef } from "../../accounts/auth/principal.ts";
import { confirmationRequired, type MassChangeGuard } from "../mass-change/mass-change-guard.ts";
import { fingerprintOf } from "../mass-change/fingerprint.ts";
import type { LocalChange } from "../mass-change/types.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import type { User } from "../../accounts/users/types.ts";
import { withPlan } from "./existing-content.ts";
import { KeepLocal } from "./keep-local.ts";
import { type ConflictRow, conflictQueries, toConflict } from "./queries.ts";
import type { Conflict, NewConflict, OpenConflict, ResolveRequest } from "./types.ts";

/** What {@link ConflictService} works with. */
export interface ConflictServiceOptions {
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

/** How one of several resolutions went. */
export type ResolveOutcome =
  | { readonly conflictId: string; readonly status: "resolved" | "upload_required"; readonly fileId: string | null }
  | { readonly conflictId: string; readonly status: "rejected"; readonly error: AppError };

/** Conflicts shown at once, oldest first. */
const LISTED_MAX = 1_000;
/** What one device may have open. */
const OPEN_MAX = 10_000;
const RESOLVED_RETENTION_MS = 30 * 24 * 60 * 60 * 1000;

/** See the head of this file. */
export class ConflictService {
  readonly #options: ConflictServiceOptions;
  readonly #queries: ReturnType<typeof conflictQueries>;
  readonly #keepLocal: KeepLocal;

  constructor(options: ConflictServiceOptions) {
    this.#options = options;
    this.#queries = conflictQueries(options.sqlite);
    this.#keepLocal = new KeepLocal(options);
  }

  /** What a device still has to resolve, oldest first, at most 1,000. */
  listOpen(deviceId: number): OpenConflict[] {
    const { tree } = this.#options;
    return this.#queries.open.all(deviceId, LISTED_MAX).map((row) => {
      const remote = tree.findFile(row.accountId, row.remoteFileId);
      const sender = remote?.contentDeviceId ?? null;
      const device = sender === null ? null : this.#queries.device.get(sender);
      // Who looks at it now is to see what it has become.
      const type = remote === undefined && row.type === "modified" ? "deleted" : row.type;
      return { ...toConflict(row), type, remote, remoteDeviceId: device?.publicId };
    });
  }

  /** The conflict that this very change raised before, open or resolved. */
  findByChange(deviceId: number, fingerprint: Uint8Array): Conflict | undefined {
    const row = this.#queries.byChange.get(deviceId, fingerprint);
    return row === null ? undefined : toConflict(row);
  }

  /** Whether a device still has to say which side of this conflict it keeps. */
  isUndecided(deviceId: number, conflictId: string): boolean {
    const row = this.#queries.byPublicId.get(deviceId, conflictId);
    return row !== null && row.resolution === null && row.awaitsContent === 0;
  }

  /**
   * Ends an open conflict whose change could be carried out after all, or was not needed any more; a deed. Nobody
   * decided it: sent again, the change is looked at as if there had been none.
   */
  settle(_tx: Transaction, conflict: Conflict, fileId: string): void {
    this.#end(conflict.id, fileId);
    this.#queries.detach.run(conflict.id);
  }

  /**
   * Ends what a device had open about a file, now that it could do the like with it: a deletion ends all but those of
   * other local files that want its name, anything else what was of its kind. A deed.
   */
  settleAll(_tx: Transaction, deviceId: number, fileId: string, change: LocalChange): void {
    for (const row of this.#queries.openOfFile.all(deviceId, fileId)) {
      const earlier = toConflict(row).change;
      const isOver = change.action === "delete" ? earlier.action !== "upload" : isOfKind(earlier, change);
      if (isOver) this.#end(row.id, fileId);
    }
  }

  /** Lets an open conflict end when its device's content arrives; a deed. */
  awaitContent(_tx: Transaction, conflict: Conflict): void {
    this.#queries.await.run(conflict.id, JSON.stringify(conflict.change));
  }

  /**
   * Notes a conflict, in the deed that found it. A later change of the same kind to the same file takes the place of an
   * earlier one that is still open, under the same id: the device has but one state of a file.
   * @returns its id
   * @throws AppError overloaded where the device has too many to resolve
   */
  record(_tx: Transaction, device: DeviceRef, accountId: number, found: NewConflict): string {
    const { type, fileId, remoteFileId, change } = found;
    const fingerprint = fingerprintOf(change);
    const { tree, clock } = this.#options;
    const file = tree.findFile(accountId, fileId);
    const same = this.#queries.byChange.get(device.id, fingerprint);
    const earlier = same?.resolvedAtMs === null ? same : this.#findOpen(device.id, fileId, change);
    // What the file was called is needed when it is to be made again; it may have been deleted since it was last known.
    const { name, folder } = file ?? (earlier === undefined ? change : toConflict(earlier).change);
    const json = JSON.stringify({ ...change, name: change.name ?? name, folder: change.folder ?? folder });
    if (same !== null && same.id !== earlier?.id) this.#queries.forget.run(same.id);
    if (earlier !== undefined) {
      this.#queries.supersede.run(earlier.id, fingerprint, type, fileId, remoteFileId, json);
      return earlier.publicId;
    }
    if (this.#queries.hasMoreOpen.get(device.id, OPEN_MAX - 1) !== null) {
      throw new AppError("overloaded", `This device has ${OPEN_MAX} unresolved conflicts. Resolve some of them first.`);
    }
    const nowMs = clock.nowMs();
    const publicId = newId("cfl", nowMs);
    this.#queries.insert.run(publicId, accountId, device.id, fingerprint, type, fileId, remoteFileId, json, nowMs);
    return publicId;
  }

  /** Resolves conflicts of a device, each by itself, in order; durable on return. */
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

  /** A device was removed: what it had open is dropped. Inside that deed. */
  dropDevice(_tx: Transaction, deviceId: number): void {
    this.#queries.dropOpen.run(deviceId);
  }

  /**
   * Carries keep_local out, in a deed. Where the content is still to come, the conflict waits for it.
   * @throws AppError quota_exceeded | not_a_folder | name_taken
   */
  keepLocal(tx: Transaction, user: User, device: DeviceFacts, conflict: Conflict): ResolveOutcome {
    const { id, publicId: conflictId, change } = conflict;
    const kept = this.#keepLocal.keep(tx, user, device, conflict);
    if ("hold" in kept) return { conflictId, status: "rejected", error: confirmationRequired(kept.hold) };
    const { fileId, needsContent } = kept;
    if (needsContent) this.#queries.await.run(id, JSON.stringify(change));
    else this.#end(id, fileId);
    return { conflictId, status: needsContent ? "upload_required" : "resolved", fileId };
  }

  /**
   * Hears that a file got its next content. Where its device sent it, that ends the device's conflicts about the file's
   * content: it has seen what is on the other side, or was told to send its own. Not so for another local file of that
   * name, whose bytes these are not.
   */
  onFileUpdated(_tx: Transaction, event: EventOf<"file.updated">): void {
    const { deviceId, file } = event;
    if (deviceId === null) return;
    for (const row of this.#queries.openOfFile.all(deviceId, file.publicId)) {
      const { action, digest = file.digest } = toConflict(row).change;
      const isIt = action === "update" || (action === "upload" && digest === file.digest);
      if (isIt) this.#end(row.id, file.publicId);
    }
  }

  /**
   * Hears of a new file. Where a resolution waits for that content and has no file for it yet, that ends the conflict.
   */
  onFileCreated(_tx: Transaction, event: EventOf<"file.created">): void {
    const { accountId, deviceId, file } = event;
    if (deviceId === null) return;
    for (const row of this.#queries.awaiting.all(deviceId)) {
      const { action, digest, name, folder } = toConflict(row).change;
      if (action !== "upload" && this.#options.tree.findFile(accountId, row.fileId) !== undefined) continue;
      const isIt = digest === undefined ? name === file.name && folder === file.folder : digest === file.digest;
      if (isIt) this.#end(row.id, file.publicId);
    }
  }

  /** Forgets what was resolved a month ago, so many at most; a deed. @returns how many */
  sweep(limit: number): number {
    return this.#queries.sweep.run(this.#options.clock.nowMs() - RESOLVED_RETENTION_MS, limit).changes;
  }

  #resolveOne(tx: Transaction, user: User, device: DeviceRef, request: ResolveRequest): ResolveOutcome {
    const row = this.#queries.byPublicId.get(device.id, request.conflictId);
    if (row === null) throw notFound("The conflict");
    const conflict = toConflict(row);
    checkFits(conflict, request);
    const { publicId: conflictId } = conflict;
    const done = (fileId: string | null): ResolveOutcome => ({ conflictId, status: "resolved", fileId });
    if (conflict.resolution === request.resolution) return done(conflict.outcomeFileId);
    if (conflict.resolution !== null) {
      const message = `This conflict was already resolved as ${conflict.resolution}. Make a new change instead.`;
      throw new AppError("version_conflict", message, { conflictId, resolution: conflict.resolution });
    }
    if (request.resolution === "keep_remote") {
      const fileId = this.#options.tree.findFile(user.id, conflict.remoteFileId)?.publicId ?? null;
      this.#queries.resolve.run(conflict.id, "keep_remote", this.#options.clock.nowMs(), fileId);
      return done(fileId);
    }
    const unseen = this.#findUnseen(user, conflict);
    if (unseen !== undefined) return { conflictId, status: "rejected", error: unseen };
    return this.keepLocal(tx, user, device, { ...conflict, change: withLocalData(conflict.change, request) });
  }

  /**
   * Why a deletion is not to be carried out yet: no version of a deleted file is left, and what came after the conflict
   * was found may not have been seen by who decided. The next decision is taken for one that knows of it.
   */
  #findUnseen({ id: accountId }: User, { id, publicId, change, fileId, detectedAtMs }: Conflict): AppError | undefined {
    const file = change.action === "delete" ? this.#options.tree.findFile(accountId, fileId) : undefined;
    if (file === undefined || file.contentAtMs <= detectedAtMs) return undefined;
    this.#queries.findAgain.run(id, file.contentAtMs);
    const message = "The file changed after this conflict was found. Review the file, then resolve the conflict again.";
    return new AppError("version_conflict", message, { conflictId: publicId });
  }

  #findOpen(deviceId: number, fileId: string, change: LocalChange): ConflictRow | undefined {
    return this.#queries.openOfFile.all(deviceId, fileId).find((row) => isOfKind(toConflict(row).change, change));
  }

  #end(conflictId: number, fileId: string | null): void {
    this.#queries.resolve.run(conflictId, "keep_local", this.#options.clock.nowMs(), fileId);
  }
}

/** @throws AppError invalid_field where the request names another file */
function checkFits(conflict: Conflict, { fileId }: ResolveRequest): void {
  if (fileId === undefined || fileId === conflict.fileId || fileId === conflict.remoteFileId) return;
  throw invalidField(
    "fileId",
    "This conflict is about another file. Send the fileId of the conflict, or leave it out.",
    {
      expected: conflict.fileId,
    },
  );
}

/** Whether two changes of one file stand for each other. Several local files may want one name. */
function isOfKind(earlier: LocalChange, later: LocalChange): boolean {
  return earlier.action === later.action && (later.action !== "upload" || earlier.localId === later.localId);
}

/** The change as its device tells it now. A name counts only where it decides where the file goes. */
function withLocalData(change: LocalChange, { localName, localModifiedAt }: ResolveRequest): LocalChange {
  return {
    ...change,
    ...(localName !== undefined && { name: localName }),
    ...(localModifiedAt !== undefined && { lastModified: localModifiedAt }),
  };
}
