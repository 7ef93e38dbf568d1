/**
 * Applies changes of devices (`POST sync/files`) in order, each in its own transaction; the transactions share commits.
 * Applied changes are recorded, so a repeated request changes nothing and gets the same response.
 */
import type { Database } from "bun:sqlite";
import type { Reader } from "../../../db/reader.ts";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError, withPlan } from "../../../errors.ts";
import type { DeviceFacts } from "../../../events/catalogue.ts";
import { invariant } from "../../../lib/invariant.ts";
import type { StorageLimits } from "../../library/files/storage-limits.ts";
import type { ReleasedChange } from "../mass-change/service.ts";
import type { LocalChange } from "../mass-change/types.ts";
import type { UserService } from "../../accounts/users/service.ts";
import type { User } from "../../accounts/users/types.ts";
import { AccountState } from "./account-state.ts";
import {
  applied,
  type Call,
  ChangeApplier,
  type ChangeApplierOptions,
  NotAMoveError,
  rejected,
} from "./apply-change.ts";
import { decide } from "./decide.ts";
import { LastCalls } from "./last-calls.ts";
import { findOthersChanges } from "./others.ts";
import { pairMoves, type ChangeUnit } from "./pair-moves.ts";
import { type LocalChangeQueries, localChangeQueries } from "./queries.ts";
import type { AppliedCall, ChangeOutcome } from "./types.ts";

/** Options of {@link LocalChangeService}. */
interface LocalChangeServiceOptions extends Omit<ChangeApplierOptions, "queries"> {
  readonly sqlite: Database;
  readonly reader: Reader;
  readonly writer: Writer;
  readonly users: Pick<UserService, "findById">;
  readonly limitsOf: (user: User) => StorageLimits;
}

/** A parsed change, or the error if it is invalid. */
export type ReadChange = LocalChange | { readonly localId: string; readonly error: AppError };

/** Transactions queued at once; other transactions run between two such batches. */
const BATCH = 50;
const APPLIED_RETENTION_MS = 30 * 24 * 60 * 60 * 1000;

/** Applies changes of devices. */
export class LocalChangeService {
  readonly #options: LocalChangeServiceOptions;
  readonly #queries: LocalChangeQueries;
  readonly #applier: ChangeApplier;
  readonly #lastCalls: LastCalls;

  constructor(options: LocalChangeServiceOptions) {
    this.#options = options;
    this.#queries = localChangeQueries(options.sqlite);
    this.#applier = new ChangeApplier({ ...options, queries: this.#queries });
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
    const applied: AppliedCall = { outcomes, standSeq: this.#positionAfter(user, device, standSeq, headSeq) };
    await this.#options.writer.run((tx) => this.#lastCalls.record(tx, user.id, device.id, fingerprint, applied));
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
  #positionAfter(user: User, device: DeviceFacts, sinceSeq: number | undefined, headSeq: number): number | undefined {
    if (sinceSeq === undefined || sinceSeq < headSeq) return sinceSeq;
    const nowSeq = this.#options.tree.headOf(user.id);
    return this.#queries.anyByOthers.get(user.id, sinceSeq, nowSeq, device.id) === null ? nowSeq : sinceSeq;
  }

  async #applyUnit(
    call: Call,
    unit: ChangeUnit,
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
    const positions = changes.flatMap((change) => (change?.sinceSeq === undefined ? [] : [change.sinceSeq]));
    const sinceSeq = positions.length === 0 ? headSeq : Math.min(...positions);
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
        const outcome = treeWriter.by(call.device.id, () => this.#applier.apply(tx, call, change, onEnd !== undefined));
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
        treeWriter.by(call.device.id, () => this.#applier.move(tx, call, upload, deletion)),
      );
      return [applied(first, fileId), applied(second, fileId)];
    } catch (error) {
      const isRejected = error instanceof NotAMoveError || (error instanceof AppError && !isServerFault(error));
      if (!isRejected) throw error;
      // Applied alone, the upload would leave the file twice.
      if (error instanceof AppError && error.reason === "locked")
        return [rejected(first, error), rejected(second, error)];
      return [await this.#applyOne(call, first), await this.#applyOne(call, second)];
    }
  }
}

/** Whether the mass-change guard will be consulted for a change, as far as known now. */
function removesContent(change: LocalChange | undefined, serverState: AccountState): boolean {
  // Only a change that names an existing file, by id or content, can remove anything.
  if (change === undefined || (change.fileId === undefined && change.baseDigest === undefined)) return false;
  const decision = decide(change, serverState);
  return decision.do === "delete" || decision.do === "replace";
}

/** Whether the server is at fault, not the change: the whole call fails and can be sent again. */
function isServerFault({ reason }: AppError): boolean {
  return SERVER_FAULTS.has(reason);
}

const SERVER_FAULTS: ReadonlySet<string> = new Set(["disk_full", "database_busy", "database_error", "unexpected"]);
