/**
 * Applies changes of devices (`POST sync/files`) in their order, each in its own transaction; the transactions share
 * commits. `decide.ts` has the rules. Applied changes are recorded, so that a repeated request changes nothing and gets
 * the same response.
 */
import type { Database } from "bun:sqlite";
import type { Reader } from "../../../db/reader.ts";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { DeviceFacts } from "../../../events/catalogue.ts";
import type { Clock } from "../../../lib/clock.ts";
import { invariant } from "../../../lib/invariant.ts";
import { ROOT_PATH } from "../../../lib/path.ts";
import { findExistingContent, type ExistingContent, withPlan } from "../conflicts/existing-content.ts";
import type { ConflictService } from "../conflicts/service.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { Conflict } from "../conflicts/types.ts";
import type { StorageLimits } from "../../library/files/service.ts";
import { confirmationRequired, type MassChangeGuard } from "../mass-change/mass-change-guard.ts";
import { fingerprintOf } from "../mass-change/fingerprint.ts";
import type { ReleasedChange } from "../mass-change/service.ts";
import type { LocalChange } from "../mass-change/types.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import type { UserService } from "../../accounts/users/service.ts";
import type { User } from "../../accounts/users/types.ts";
import { AccountState } from "./account-state.ts";
import { type Decision, decide, isChanged } from "./decide.ts";
import { LastCalls } from "./last-calls.ts";
import { findOthersChanges } from "./others.ts";
import { pairMoves, type Unit } from "./pair-moves.ts";
import { type AppliedChange, localChangeQueries } from "./queries.ts";
import type { AppliedCall, ChangeOutcome } from "./types.ts";

/** Options of {@link LocalChangeService}. */
export interface LocalChangeServiceOptions {
  readonly sqlite: Database;
  readonly reader: Reader;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  readonly users: Pick<UserService, "findById">;
  readonly conflicts: ConflictService;
  readonly massChangeGuard: MassChangeGuard;
  readonly limitsOf: (user: User) => StorageLimits;
  /** Called for each deleted file, after the commit. */
  readonly onDeleted: (nodeId: number) => void;
}

/** A parsed change, or the error that it is invalid with. */
export type ReadChange = LocalChange | { readonly localId: string; readonly error: AppError };

/** Transactions queued at once; other transactions run between two such batches. */
const BATCH = 50;
const APPLIED_RETENTION_MS = 30 * 24 * 60 * 60 * 1000;

/** One request of a device. */
interface Call {
  readonly id: string;
  readonly user: User;
  readonly device: DeviceFacts;
  readonly limits: StorageLimits;
  readonly serverState: AccountState;
  /** Deletions and replacements still to come, as estimated when the call began. */
  removalsAhead: number;
}

/** Rolls a transaction back because the two halves of a move have to be applied separately. */
class NoMove extends Error {}

/** Applies changes of devices. */
export class LocalChangeService {
  readonly #options: LocalChangeServiceOptions;
  readonly #queries: ReturnType<typeof localChangeQueries>;
  readonly #lastCalls: LastCalls;

  constructor(options: LocalChangeServiceOptions) {
    this.#options = options;
    this.#queries = localChangeQueries(options.sqlite);
    this.#lastCalls = new LastCalls({ ...options, queries: this.#queries });
  }

  /**
   * Applies changes; durable on return.
   * @param sinceSeq the device's position in the journal; undefined if it does not send one
   * @throws AppError disk_full | database_busy | database_error: some changes may have been applied, and all can be sent again
   */
  async apply(
    user: User,
    device: DeviceFacts,
    changes: readonly ReadChange[],
    sinceSeq: number | undefined,
  ): Promise<AppliedCall> {
    const headSeq = this.#options.tree.headOf(user.id);
    const fingerprint = new Bun.CryptoHasher("sha256").update(JSON.stringify([changes, sinceSeq])).digest();
    const { outcomes: known, standSeq = sinceSeq } = this.#lastCalls.find(user.id, device.id, fingerprint) ?? {
      outcomes: [],
    };
    const read = changes.map((change, index) =>
      "error" in change || (known[index] ?? null) !== null ? undefined : { ...change, sinceSeq },
    );
    const outcomes = changes.map(
      ({ localId, ...rest }, index): ChangeOutcome =>
        known[index] ?? { localId, status: "rejected", ...("error" in rest && { error: rest.error }) },
    );
    if (!read.some((change) => change !== undefined)) return { outcomes, standSeq };
    const call = await this.#begin(user, device, read);
    const units = pairMoves(read, call.serverState);
    call.removalsAhead = units.filter(
      (unit) => unit.kind === "single" && removesContent(read[unit.index], call.serverState),
    ).length;
    for (let from = 0; from < units.length; from += BATCH) {
      await Promise.all(units.slice(from, from + BATCH).map((unit) => this.#applyUnit(call, unit, read, outcomes)));
    }
    const applied: AppliedCall = { outcomes, standSeq: this.#standAfter(user, device, standSeq, headSeq) };
    await this.#options.writer.run((tx) => this.#lastCalls.keep(tx, user.id, device.id, fingerprint, applied));
    return applied;
  }

  /** Applies changes of a hold that a person accepted. @see ApplyReleased */
  async applyReleased(accountId: number, deviceId: number, released: readonly ReleasedChange[]): Promise<void> {
    const user = this.#options.users.findById(accountId);
    const device = this.#queries.device.get(deviceId);
    if (user === undefined || device === null) {
      await this.#options.writer.run((tx) => {
        for (const { onEnd } of released) onEnd(tx);
      });
      return;
    }
    const call = await this.#begin(
      user,
      device,
      released.map(({ change }) => change),
    );
    for (let from = 0; from < released.length; from += BATCH) {
      const batch = released.slice(from, from + BATCH);
      await Promise.all(batch.map(({ change, onEnd }) => this.#applyOne(call, change, onEnd)));
    }
  }

  /**
   * Removes records of changes applied a month ago, at most `limit`. Call it inside a transaction.
   * @returns how many
   */
  sweep(limit: number): number {
    return this.#queries.sweep.run(this.#options.clock.nowMs() - APPLIED_RETENTION_MS, limit).changes;
  }

  /** @param headSeq the head when the call began @see AppliedCall.standSeq */
  #standAfter(user: User, device: DeviceFacts, sinceSeq: number | undefined, headSeq: number): number | undefined {
    if (sinceSeq === undefined || sinceSeq < headSeq) return sinceSeq;
    const nowSeq = this.#options.tree.headOf(user.id);
    return this.#queries.anyByOthers.get(user.id, sinceSeq, nowSeq, device.id) === null ? nowSeq : sinceSeq;
  }

  async #applyUnit(
    call: Call,
    unit: Unit,
    read: readonly (LocalChange | undefined)[],
    outcomes: ChangeOutcome[],
  ): Promise<void> {
    if (unit.kind === "single") {
      const change = read[unit.index];
      if (change !== undefined) outcomes[unit.index] = await this.#applyOne(call, change);
      return;
    }
    const [upload, deletion] = [read[unit.upload], read[unit.deletion]];
    invariant(upload !== undefined && deletion !== undefined, "only changes that could be read are paired");
    const isUploadFirst = unit.upload < unit.deletion;
    const [first, second] = await this.#applyMove(call, upload, deletion, isUploadFirst);
    outcomes[unit.upload] = isUploadFirst ? first : second;
    outcomes[unit.deletion] = isUploadFirst ? second : first;
  }

  async #begin(user: User, device: DeviceFacts, changes: readonly (LocalChange | undefined)[]): Promise<Call> {
    const { tree, limitsOf } = this.#options;
    const headSeq = tree.headOf(user.id);
    const limits = limitsOf(user);
    const stands = changes.flatMap((change) => (change?.sinceSeq === undefined ? [] : [change.sinceSeq]));
    const sinceSeq = stands.length === 0 ? headSeq : Math.min(...stands);
    const nodeIds = changes.flatMap((change) => {
      if (change?.fileId === undefined || change.baseDigest !== undefined) return [];
      const file = tree.findFile(user.id, change.fileId);
      return file === undefined || file.seq <= sinceSeq ? [] : [file.id];
    });
    const view = { accountId: user.id, deviceId: device.id, sinceSeq, headSeq };
    const isChangedByOthers = await findOthersChanges({ ...this.#options, queries: this.#queries }, view, nodeIds);
    const serverState = new AccountState({
      tree,
      queries: this.#queries,
      accountId: user.id,
      limits,
      isChangedByOthers,
    });
    return { id: crypto.randomUUID(), user, device, limits, serverState, removalsAhead: 0 };
  }

  /** @param onEnd given for a change that a person accepted: the mass-change guard is not consulted again */
  async #applyOne(call: Call, change: LocalChange, onEnd?: (tx: Transaction) => void): Promise<ChangeOutcome> {
    const { writer, treeWriter } = this.#options;
    try {
      return await writer.run((tx) => {
        const outcome = treeWriter.by(call.device.id, () =>
          this.#applyInTransaction(tx, call, change, onEnd !== undefined),
        );
        onEnd?.(tx);
        return outcome;
      });
    } catch (error) {
      if (!(error instanceof AppError) || isServerFault(error)) throw error;
      if (onEnd !== undefined) await writer.run(onEnd);
      return rejected(change, withPlan(error, call.limits.plan));
    }
  }

  /** Applies both halves of a move in one transaction, or separately if they are not a move after all. */
  async #applyMove(
    call: Call,
    upload: LocalChange,
    deletion: LocalChange,
    isUploadFirst: boolean,
  ): Promise<[ChangeOutcome, ChangeOutcome]> {
    const { writer, treeWriter } = this.#options;
    const [first, second] = isUploadFirst ? [upload, deletion] : [deletion, upload];
    try {
      const fileId = await writer.run((tx) =>
        treeWriter.by(call.device.id, () => this.#move(tx, call, upload, deletion)),
      );
      return [applied(first, fileId), applied(second, fileId)];
    } catch (error) {
      const isRejected = error instanceof NoMove || (error instanceof AppError && !isServerFault(error));
      if (!isRejected) throw error;
      return [await this.#applyOne(call, first), await this.#applyOne(call, second)];
    }
  }

  /** @returns the file's id @throws NoMove; AppError not_a_folder */
  #move(tx: Transaction, call: Call, upload: LocalChange, deletion: LocalChange): string {
    const { user, serverState } = call;
    const { name, folder = ROOT_PATH } = upload;
    const file = this.#options.tree.findFile(user.id, deletion.fileId ?? "");
    if (file === undefined || name === undefined || file.digest !== upload.digest) throw new NoMove();
    const known = [upload, deletion].map((change) => this.#queries.applied.get(call.device.id, fingerprintOf(change)));
    if (known.every((record) => record?.fileId === file.publicId && record.callId !== call.id)) return file.publicId;
    if (isChanged(deletion, file, serverState)) throw new NoMove();
    const holder = serverState.findFileNamed(folder, name);
    if ((holder !== undefined && holder.id !== file.id) || serverState.hasFolder(folder, name)) throw new NoMove();
    const moved = this.#options.treeWriter.updateFile(tx, file, { name, folderPath: folder });
    for (const change of [upload, deletion]) this.#remember(call, change, moved.publicId, moved.seq);
    return moved.publicId;
  }

  /** Applies one change, inside its transaction. */
  #applyInTransaction(tx: Transaction, call: Call, change: LocalChange, isAccepted: boolean): ChangeOutcome {
    const fingerprint = fingerprintOf(change);
    const record = this.#queries.applied.get(call.device.id, fingerprint);
    if (record !== null && this.#isRepetition(call, change, record)) return applied(change, record.fileId);
    const earlier = this.#options.conflicts.findByChange(call.device.id, fingerprint);
    const before = earlier && this.#outcomeOf(tx, call, change, earlier);
    if (before !== undefined) return before;
    const decision = decide(change, call.serverState);
    const outcome = this.#followUp(tx, earlier, this.#execute(tx, call, change, decision, isAccepted));
    const isDone = outcome.status === "applied" || outcome.status === "already_stored";
    if (isDone && outcome.fileId !== undefined) {
      this.#options.conflicts.settleAll(tx, call.device.id, outcome.fileId, change);
    }
    return outcome;
  }

  /**
   * Whether a change that was applied before is a repetition. It is none within one call, nor if the device has seen a
   * later state of the file, nor if the file is gone: "applied" would then claim that it exists.
   */
  #isRepetition(call: Call, change: LocalChange, record: AppliedChange): boolean {
    const file = this.#options.tree.findFile(call.user.id, record.fileId);
    if (file === undefined || record.callId === call.id) return false;
    const { action, sinceSeq } = change;
    // The file is unchanged since, so there is nothing to do. Exception: a deletion may be the first half of a move.
    if (file.seq === record.seq && action !== "delete") return true;
    return sinceSeq === undefined || sinceSeq < file.seq;
  }

  /** The result of the conflict that this change caused earlier, if it still applies. */
  #outcomeOf(tx: Transaction, call: Call, change: LocalChange, conflict: Conflict): ChangeOutcome | undefined {
    const { resolution, outcomeFileId, publicId } = conflict;
    if (resolution === null) return conflict.awaitsContent ? this.#keepLocal(tx, call, change, conflict) : undefined;
    // With a later sync token the device has seen the server's state, so this is intended.
    const isIntended = change.baseDigest === undefined && (change.sinceSeq ?? 0) > (conflict.change.sinceSeq ?? 0);
    if (isIntended) return undefined;
    const isThere = outcomeFileId !== null && this.#options.tree.findFile(call.user.id, outcomeFileId) !== undefined;
    if (resolution === "keep_remote") {
      // The server's version has been deleted since, so the device's change contradicts nothing.
      if (outcomeFileId !== null && !isThere && change.action !== "delete") return undefined;
      const message = "You chose the server's version in this conflict. Download the file from the server.";
      const error = new AppError("version_conflict", message, { conflictId: publicId, resolution });
      return { ...rejected(change, error), fileId: outcomeFileId ?? undefined, conflictId: publicId };
    }
    if (outcomeFileId === null) return undefined;
    return isThere || change.action === "delete" ? applied(change, outcomeFileId) : undefined;
  }

  /** A repeated change for which keep_local was chosen, but whose content is still missing. */
  #keepLocal(tx: Transaction, call: Call, change: LocalChange, conflict: Conflict): ChangeOutcome {
    const result = this.#options.conflicts.keepLocal(tx, call.user, call.device, conflict);
    if (result.status === "rejected") return { ...rejected(change, result.error), conflictId: conflict.publicId };
    const { localId } = change;
    const fileId = result.fileId ?? undefined;
    if (result.status === "resolved") return { localId, status: "applied", fileId };
    return { localId, status: "upload_required", fileId, conflictId: conflict.publicId };
  }

  /** Updates an earlier conflict of a change that is resolved now, or waits for its content. */
  #followUp(tx: Transaction, conflict: Conflict | undefined, outcome: ChangeOutcome): ChangeOutcome {
    if (conflict === undefined || conflict.resolution !== null) return outcome;
    const { conflicts } = this.#options;
    const { status, fileId } = outcome;
    if (status === "upload_required") {
      conflicts.awaitContent(tx, conflict);
      // The same response as for a repetition: uploading the content resolves the conflict.
      return { ...outcome, conflictId: conflict.publicId };
    }
    const isDone = status === "applied" || status === "already_stored";
    if (isDone && fileId !== undefined) conflicts.settle(tx, conflict, fileId);
    return outcome;
  }

  #execute(tx: Transaction, call: Call, change: LocalChange, decision: Decision, isAccepted: boolean): ChangeOutcome {
    const { localId } = change;
    const { user, device } = call;
    const { treeWriter, conflicts } = this.#options;
    switch (decision.do) {
      case "nothing":
        return { localId, status: decision.status, fileId: decision.fileId };
      case "ask":
        return { localId, status: "upload_required", fileId: decision.fileId };
      case "reject":
        return rejected(change, decision.error);
      case "conflict": {
        const { type, fileId, remoteFileId } = decision;
        const conflictId = conflicts.record(tx, device, user.id, { type, fileId, remoteFileId, change });
        return { localId, status: "conflict", fileId, conflictId };
      }
      case "create": {
        const { file } = treeWriter.createFile(tx, {
          ...this.#contentOf(call, change),
          accountId: user.id,
          createdBy: user.id,
          folderPath: decision.folder,
          name: decision.name,
          tags: [],
          metadata: {},
          fileModifiedAt: change.lastModified,
          isPublic: false,
          onConflict: "error",
          quotaBytes: call.limits.quotaBytes,
        });
        this.#remember(call, change, file.publicId, file.seq);
        return applied(change, file.publicId);
      }
      case "place": {
        const { name, folder, file } = decision;
        const placed = treeWriter.updateFile(tx, refOf(user, file), { name, folderPath: folder });
        this.#remember(call, change, placed.publicId, placed.seq);
        return applied(change, placed.publicId);
      }
      case "replace":
      case "delete":
        return this.#replaceOrDelete(tx, call, change, decision, isAccepted);
    }
  }

  /** Replaces or deletes a file, unless the mass-change guard holds the change. */
  #replaceOrDelete(
    tx: Transaction,
    call: Call,
    change: LocalChange,
    decision: Extract<Decision, { do: "replace" | "delete" }>,
    isAccepted: boolean,
  ): ChangeOutcome {
    const { user, device } = call;
    const { treeWriter, massChangeGuard, onDeleted } = this.#options;
    call.removalsAhead = Math.max(0, call.removalsAhead - 1);
    const hold = isAccepted ? undefined : massChangeGuard.admit(tx, device, user.id, [change], call.removalsAhead);
    if (hold !== undefined) return rejected(change, confirmationRequired(hold));
    const { file } = decision;
    if (decision.do === "delete") {
      treeWriter.deleteFile(tx, refOf(user, file));
      tx.afterCommit(() => onDeleted(file.id));
      this.#queries.forgetOfFile.run(device.id, file.publicId, call.id);
      return applied(change, file.publicId);
    }
    const replaced = treeWriter.replaceContent(tx, {
      ...this.#contentOf(call, change),
      file: refOf(user, file),
      createdBy: user.id,
      quotaBytes: call.limits.quotaBytes,
      fileModifiedAt: change.lastModified,
    });
    this.#remember(call, change, replaced.publicId, replaced.seq);
    return applied(change, replaced.publicId);
  }

  #contentOf({ user }: Call, { digest, sizeBytes }: LocalChange): Omit<ExistingContent, "fileId"> {
    const existing = digest && findExistingContent(this.#options.tree, user.id, digest, sizeBytes);
    invariant(existing !== undefined, "the content was found by decide()");
    return { blob: existing.blob, mediaType: existing.mediaType };
  }

  /**
   * Records an applied change, to recognize its repetition. Records of earlier calls for the file are removed, because
   * the device has made further changes since.
   */
  #remember({ device, id: callId }: Call, change: LocalChange, fileId: string, seq: number): void {
    this.#queries.forgetOfFile.run(device.id, fileId, callId);
    const nowMs = this.#options.clock.nowMs();
    this.#queries.record.run(device.id, fingerprintOf(change), fileId, callId, seq, nowMs);
  }
}

/** Whether the mass-change guard will be consulted for a change, as far as known now. */
function removesContent(change: LocalChange | undefined, serverState: AccountState): boolean {
  // Only a change that names an existing file, by id or content, can remove anything.
  if (change === undefined || (change.fileId === undefined && change.baseDigest === undefined)) return false;
  const decision = decide(change, serverState);
  return decision.do === "delete" || decision.do === "replace";
}

function refOf(user: User, file: { readonly publicId: string }): { accountId: number; publicId: string } {
  return { accountId: user.id, publicId: file.publicId };
}

function applied({ localId }: LocalChange, fileId: string): ChangeOutcome {
  return { localId, status: "applied", fileId };
}

function rejected({ localId, fileId }: LocalChange, error: AppError): ChangeOutcome {
  return { localId, status: "rejected", ...(fileId !== undefined && { fileId }), error };
}

/** Whether the server is at fault, not the change: the whole call fails and can be sent again. */
function isServerFault({ reason }: AppError): boolean {
  return SERVER_FAULTS.has(reason);
}

const SERVER_FAULTS: ReadonlySet<string> = new Set(["disk_full", "database_busy", "database_error", "unexpected"]);
