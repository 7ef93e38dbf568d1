/** Holds of the mass-change guard: listing, deciding, applying. */
import type { Database } from "bun:sqlite";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError, notFound } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { normalizeDeviceId } from "../../../lib/device-id.ts";
import { say } from "../../../translations/say.ts";
import { WINDOW_MS } from "./mass-change-guard.ts";
import { holdQueries } from "./queries.ts";
import type { Hold, LocalChange } from "./types.ts";

/** A change that may be applied now. */
export interface ReleasedChange {
  readonly change: LocalChange;
  /** Must be called in the transaction that applies or rejects the change. */
  readonly onEnd: (tx: Transaction) => void;
}

/** Applies accepted changes to the current state: changes by others since then cause conflicts, as usual. */
export type ApplyReleased = (accountId: number, deviceId: number, changes: readonly ReleasedChange[]) => Promise<void>;

/** Options of {@link HoldService}. */
interface HoldServiceOptions {
  readonly sqlite: Database;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly applyReleased: ApplyReleased;
}

/** The maximum length of a list of holds. */
const LISTED_MAX = 100;
const RELEASE_BATCH = 200;
const SWEEP_BATCH = 1_000;
/** How long a decision is stored: phones send a declined deletion again with every sync. */
const DECISION_RETENTION_MS = 90 * 24 * 60 * 60 * 1000;

/** Lists, decides and cleans up the holds of accounts. */
export class HoldService {
  readonly #options: HoldServiceOptions;
  readonly #queries: ReturnType<typeof holdQueries>;

  constructor(options: HoldServiceOptions) {
    this.#options = options;
    this.#queries = holdQueries(options.sqlite);
  }

  /**
   * The holds that wait for a decision, oldest first, at most 100.
   * @param devicePublicId only those of this device
   * @throws AppError not_found for a device that the account does not have
   */
  list(accountId: number, devicePublicId?: string): Hold[] {
    const holds = this.#queries.openHolds.all(accountId, this.#options.clock.nowMs(), LISTED_MAX);
    if (devicePublicId === undefined) return holds;
    const deviceId = normalizeDeviceId(devicePublicId);
    if (this.#queries.device.get(accountId, deviceId) === null) throw notFound(say`The device was not found.`);
    return holds.filter((hold) => hold.devicePublicId === deviceId);
  }

  /**
   * Accepts a hold: applies its changes before it returns, and does not guard the device for an hour. Or declines it:
   * its changes are rejected permanently. Repeating a decision gives the same result, and finishes what a shutdown
   * interrupted.
   * @param devicePublicId if given, the hold must be of this device
   * @throws AppError not_found; version_conflict if it was decided differently before
   */
  async decide(accountId: number, holdId: string, isAccepted: boolean, devicePublicId?: string): Promise<Hold> {
    const { writer, clock } = this.#options;
    const decision = isAccepted ? "accepted" : "declined";
    const hold = await writer.run((): Hold => {
      const found = this.#queries.holdByPublicId.get(accountId, holdId);
      const nowMs = clock.nowMs();
      const isGone = found === null || (found.decision === null && found.expiresAtMs <= nowMs);
      if (isGone || (devicePublicId !== undefined && found.devicePublicId !== normalizeDeviceId(devicePublicId))) {
        throw notFound(say`The pending change was not found.`);
      }
      if (found.decision !== null && found.decision !== decision) {
        const message =
          found.decision === "accepted"
            ? say`This change was already accepted. You can't undo that decision.`
            : say`This change was already declined. You can't undo that decision.`;
        throw new AppError("version_conflict", message, { decision: found.decision });
      }
      if (found.decision === null) this.#queries.decide.run(found.id, decision, nowMs);
      return { ...found, decision };
    });
    if (isAccepted) await this.#release(hold);
    return hold;
  }

  /** Resumes accepted holds that a shutdown interrupted. @returns how many */
  async resume(): Promise<number> {
    const unfinished = this.#queries.unfinished.all();
    for (const hold of unfinished) await this.#release(hold);
    return unfinished.length;
  }

  /** Drops the open holds of a removed device. Call it inside the transaction of the removal. */
  dropDevice(_tx: Transaction, deviceId: number): void {
    this.#queries.expireOpen.run(deviceId, this.#options.clock.nowMs());
  }

  /** Removes some old counts and outdated holds. Call it inside a transaction. @returns rows removed */
  sweep(): number {
    const nowMs = this.#options.clock.nowMs();
    let removed = this.#queries.sweepCounts.run(nowMs - WINDOW_MS, SWEEP_BATCH).changes;
    for (const { id } of this.#queries.outdated.all(nowMs, nowMs - DECISION_RETENTION_MS)) {
      const count = this.#queries.removeChanges.run(id, SWEEP_BATCH).changes;
      removed += count;
      if (count < SWEEP_BATCH) this.#queries.removeHold.run(id);
      else break;
    }
    return removed;
  }

  async #release(hold: Hold): Promise<void> {
    for (;;) {
      const batch = this.#queries.changesOfHold.all(hold.id, RELEASE_BATCH);
      if (batch.length === 0) return;
      const released = batch.map(({ id, change }) => ({
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by the guard
        change: JSON.parse(change) as LocalChange,
        onEnd: () => void this.#queries.removeChange.run(id),
      }));
      await this.#options.applyReleased(hold.accountId, hold.deviceId, released);
    }
  }
}
