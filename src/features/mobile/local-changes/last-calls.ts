/**
 * The response to the last call of each device. If the response was lost and the device repeats the call, it gets the
 * same response. Whole calls are compared, because one change of a call can affect another.
 */
import type { Transaction } from "../../../db/transaction.ts";
import { isDamaged } from "../conflicts/existing-content.ts";
import type { ConflictService } from "../conflicts/service.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { LocalChangeQueries } from "./queries.ts";
import type { AppliedCall, ChangeOutcome } from "./types.ts";

/** Options of {@link LastCalls}. */
interface LastCallsOptions {
  readonly queries: Pick<LocalChangeQueries, "lastCall" | "recordCall">;
  readonly tree: Pick<TreeReader, "headOf" | "findFile" | "findBlob">;
  readonly conflicts: Pick<ConflictService, "isUndecided">;
}

/** The recorded outcomes of a call, stored as JSON. */
interface RecordedCall {
  readonly standSeq?: number | undefined;
  /** Null for changes that have to be decided again. */
  readonly outcomes: readonly (ChangeOutcome | null)[];
  /** The ids of conflicts that no other change of the same call resolved. */
  readonly open: readonly string[];
}

/** Records and finds the last calls of devices. */
export class LastCalls {
  readonly #options: LastCallsOptions;

  constructor(options: LastCallsOptions) {
    this.#options = options;
  }

  /**
   * The record of this call, if it was the device's last one and its outcomes are still valid. They are while the
   * journal has no new entry, no conflict was decided, and no blob was found damaged (which is not in the journal).
   * @param fingerprint digest of the changes and of the position in the journal
   */
  find(accountId: number, deviceId: number, fingerprint: Uint8Array): RecordedCall | undefined {
    const { queries, tree, conflicts } = this.#options;
    const last = queries.lastCall.get(deviceId);
    if (last === null || last.headSeq !== tree.headOf(accountId)) return undefined;
    if (Buffer.compare(last.fingerprint, fingerprint) !== 0) return undefined;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `record`
    const call = JSON.parse(last.outcomes) as RecordedCall;
    const isValid =
      call.open.every((conflictId) => conflicts.isUndecided(deviceId, conflictId)) &&
      !call.outcomes.some((outcome) => outcome?.status === "already_stored" && this.#isDamaged(accountId, outcome));
    return isValid ? call : undefined;
  }

  /** Records a call in place of the previous one. Call it inside a transaction. */
  record(
    _tx: Transaction,
    accountId: number,
    deviceId: number,
    fingerprint: Uint8Array,
    { outcomes, standSeq }: AppliedCall,
  ): void {
    const { queries, tree, conflicts } = this.#options;
    const conflictIds = outcomes.flatMap(({ conflictId }) => (conflictId === undefined ? [] : [conflictId]));
    const call: RecordedCall = {
      outcomes: outcomes.map((outcome) => (isLasting(outcome) ? outcome : null)),
      standSeq,
      open: conflictIds.filter((conflictId) => conflicts.isUndecided(deviceId, conflictId)),
    };
    queries.recordCall.run(deviceId, fingerprint, tree.headOf(accountId), JSON.stringify(call));
  }

  #isDamaged(accountId: number, { fileId = "" }: ChangeOutcome): boolean {
    const { tree } = this.#options;
    const file = tree.findFile(accountId, fileId);
    return file !== undefined && isDamaged(tree, file.digest);
  }
}

/**
 * Whether an outcome stays valid until the journal has a new entry. A rejection does not, because its cause may
 * disappear. An upload that resolves a conflict does not either.
 */
function isLasting({ status, conflictId }: ChangeOutcome): boolean {
  return status !== "rejected" && !(status === "upload_required" && conflictId !== undefined);
}
