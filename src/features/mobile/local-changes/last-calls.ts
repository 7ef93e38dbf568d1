/**
 * What each device was told of its last call, for when it sends it again because the answer got lost: one change of a
 * call may bear on another, so that only all of it together is the same again.
 */
import type { Transaction } from "../../../db/transaction.ts";
import { isDamaged } from "../conflicts/existing-content.ts";
import type { ConflictService } from "../conflicts/service.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { localChangeQueries } from "./queries.ts";
import type { AppliedCall, ChangeOutcome } from "./types.ts";

/** What {@link LastCalls} works with. */
export interface LastCallsOptions {
  readonly queries: Pick<ReturnType<typeof localChangeQueries>, "lastCall" | "keepCall">;
  readonly tree: Pick<TreeReader, "headOf" | "findFile" | "findBlob">;
  readonly conflicts: Pick<ConflictService, "isUndecided">;
}

/** What a device was told of its last call. */
export interface RecordedCall {
  readonly standSeq?: number | undefined;
  /** Null for what is to be looked at anew. */
  readonly outcomes: readonly (ChangeOutcome | null)[];
  /** The conflicts among them that were not ended by another change of the same call. */
  readonly open: readonly string[];
}

/** See the head of this file. */
export class LastCalls {
  readonly #options: LastCallsOptions;

  constructor(options: LastCallsOptions) {
    this.#options = options;
  }

  /**
   * What the device was told of this very call, where it was its last one and all that it was told still holds: nothing
   * has happened in the account since, no conflict was decided, and no content was found damaged, of which no journal
   * tells.
   * @param fingerprint digest of the changes as they were sent, and of the place in the journal
   */
  find(accountId: number, deviceId: number, fingerprint: Uint8Array): RecordedCall | undefined {
    const { queries, tree, conflicts } = this.#options;
    const last = queries.lastCall.get(deviceId);
    if (last === null || last.headSeq !== tree.headOf(accountId)) return undefined;
    if (Buffer.compare(last.fingerprint, fingerprint) !== 0) return undefined;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as `keep` wrote it
    const kept = JSON.parse(last.outcomes) as RecordedCall;
    const isStill =
      kept.open.every((conflictId) => conflicts.isUndecided(deviceId, conflictId)) &&
      !kept.outcomes.some((outcome) => outcome?.status === "already_stored" && this.#isDamaged(accountId, outcome));
    return isStill ? kept : undefined;
  }

  /** Notes what the device is told, in place of its call before; a deed. */
  keep(
    _tx: Transaction,
    accountId: number,
    deviceId: number,
    fingerprint: Uint8Array,
    { outcomes, standSeq }: AppliedCall,
  ): void {
    const { queries, tree, conflicts } = this.#options;
    const found = outcomes.flatMap(({ conflictId }) => (conflictId === undefined ? [] : [conflictId]));
    const kept: RecordedCall = {
      outcomes: outcomes.map((outcome) => (isLasting(outcome) ? outcome : null)),
      standSeq,
      open: found.filter((conflictId) => conflicts.isUndecided(deviceId, conflictId)),
    };
    queries.keepCall.run(deviceId, fingerprint, tree.headOf(accountId), JSON.stringify(kept));
  }

  #isDamaged(accountId: number, { fileId = "" }: ChangeOutcome): boolean {
    const { tree } = this.#options;
    const file = tree.findFile(accountId, fileId);
    return file !== undefined && isDamaged(tree, file.digest);
  }
}

/**
 * Whether it holds for as long as the journal stands still. Not a refusal: what stood in its way may have gone; nor
 * what waits for the content of a conflict.
 */
function isLasting({ status, conflictId }: ChangeOutcome): boolean {
  return status !== "rejected" && !(status === "upload_required" && conflictId !== undefined);
}
