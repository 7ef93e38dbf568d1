/** Applies single changes of a device, inside a transaction. `decide.ts` has the rules. */
import type { Transaction } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { DeviceFacts } from "../../../events/catalogue.ts";
import type { Clock } from "../../../lib/clock.ts";
import { invariant } from "../../../lib/invariant.ts";
import { ROOT_PATH } from "../../../lib/path.ts";
import { findExistingContent, type ExistingContent } from "../conflicts/existing-content.ts";
import type { ConflictService } from "../conflicts/service.ts";
import type { Conflict } from "../conflicts/types.ts";
import type { StorageLimits } from "../../library/files/storage-limits.ts";
import { fingerprintOf } from "../mass-change/fingerprint.ts";
import { confirmationRequired, type MassChangeGuard } from "../mass-change/mass-change-guard.ts";
import type { LocalChange } from "../mass-change/types.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import { say } from "../../../translations/say.ts";
import type { User } from "../../accounts/users/types.ts";
import type { AccountState } from "./account-state.ts";
import { type Decision, decide, isChanged } from "./decide.ts";
import type { AppliedChange, LocalChangeQueries } from "./queries.ts";
import type { ChangeOutcome } from "./types.ts";

/** Options of {@link ChangeApplier}. */
export interface ChangeApplierOptions {
  readonly clock: Clock;
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  readonly queries: LocalChangeQueries;
  readonly conflicts: ConflictService;
  readonly massChangeGuard: MassChangeGuard;
  /** Called for each deleted file, after the commit. */
  readonly onDeleted: (nodeId: number) => void;
}

/** One request of a device. */
export interface Call {
  readonly id: string;
  readonly user: User;
  readonly device: DeviceFacts;
  readonly limits: StorageLimits;
  readonly serverState: AccountState;
  /** Deletions and replacements still to come, as estimated when the call began. */
  removalsAhead: number;
}

/** Rolls back a transaction if the two halves of a move must be applied separately. */
export class NotAMoveError extends Error {}

/** Applies changes to the tree and records them. */
export class ChangeApplier {
  readonly #options: ChangeApplierOptions;

  constructor(options: ChangeApplierOptions) {
    this.#options = options;
  }

  /** Applies one change. @param isAccepted whether a person accepted it: the mass-change guard is not consulted again */
  apply(tx: Transaction, call: Call, change: LocalChange, isAccepted: boolean): ChangeOutcome {
    const fingerprint = fingerprintOf(change);
    const record = this.#options.queries.applied.get(call.device.id, fingerprint);
    if (record !== null && this.#isRepetition(call, change, record)) return applied(change, record.fileId);
    const earlier = this.#options.conflicts.findByChange(call.device.id, fingerprint);
    const before = earlier && this.#outcomeOf(tx, call, change, earlier);
    if (before !== undefined) return before;
    const decision = decide(change, call.serverState);
    const outcome = this.#followUp(tx, earlier, this.#execute(tx, call, change, decision, isAccepted));
    const isDone = outcome.status === "applied" || outcome.status === "already_stored";
    if (isDone && outcome.fileId !== undefined) {
      this.#options.conflicts.endAllOfFile(tx, call.device.id, outcome.fileId, change);
    }
    return outcome;
  }

  /**
   * Whether a change that was applied before is a repetition. It is not within one call, or if the device has seen a
   * later state of the file, or if the file was deleted: "applied" would then claim that it exists.
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
      const message = say`You chose the server's version in this conflict. Download the file from the server.`;
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

  /** Ends the earlier conflict of an applied change, or marks that it waits for content. */
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
    if (isDone && fileId !== undefined) conflicts.endAsApplied(tx, conflict, fileId);
    return outcome;
  }

  #execute(tx: Transaction, call: Call, change: LocalChange, decision: Decision, isAccepted: boolean): ChangeOutcome {
    const { localId } = change;
    const { user, device } = call;
    const { treeWriter, conflicts } = this.#options;
    switch (decision.do) {
      case "nothing":
        return { localId, status: decision.status, fileId: decision.fileId };
      case "request_content":
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
      case "move": {
        const { name, folder, file } = decision;
        const moved = treeWriter.updateFile(tx, refOf(user, file), { name, folderPath: folder });
        this.#remember(call, change, moved.publicId, moved.seq);
        return applied(change, moved.publicId);
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
      this.#options.queries.removeOfFile.run(device.id, file.publicId, call.id);
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
    this.#options.queries.removeOfFile.run(device.id, fileId, callId);
    const nowMs = this.#options.clock.nowMs();
    this.#options.queries.record.run(device.id, fingerprintOf(change), fileId, callId, seq, nowMs);
  }

  /** Applies both halves of a move. @returns the file's id @throws NotAMoveError; AppError not_a_folder */
  move(tx: Transaction, call: Call, upload: LocalChange, deletion: LocalChange): string {
    const { user, serverState } = call;
    const { name, folder = ROOT_PATH } = upload;
    const file = this.#options.tree.findFile(user.id, deletion.fileId ?? "");
    if (file === undefined || name === undefined || file.digest !== upload.digest) throw new NotAMoveError();
    const known = [upload, deletion].map((change) =>
      this.#options.queries.applied.get(call.device.id, fingerprintOf(change)),
    );
    if (known.every((record) => record?.fileId === file.publicId && record.callId !== call.id)) return file.publicId;
    if (isChanged(deletion, file, serverState)) throw new NotAMoveError();
    const holder = serverState.findFileNamed(folder, name);
    if ((holder !== undefined && holder.id !== file.id) || serverState.hasFolder(folder, name))
      throw new NotAMoveError();
    const moved = this.#options.treeWriter.updateFile(tx, file, { name, folderPath: folder });
    for (const change of [upload, deletion]) this.#remember(call, change, moved.publicId, moved.seq);
    return moved.publicId;
  }
}

function refOf(user: User, file: { readonly publicId: string }): { accountId: number; publicId: string } {
  return { accountId: user.id, publicId: file.publicId };
}

/** The outcome of an applied change. */
export function applied({ localId }: LocalChange, fileId: string): ChangeOutcome {
  return { localId, status: "applied", fileId };
}

/** The outcome of a rejected change. */
export function rejected({ localId, fileId }: LocalChange, error: AppError): ChangeOutcome {
  return { localId, status: "rejected", ...(fileId !== undefined && { fileId }), error };
}
