/** What waits for a person's word, and what follows from it: the other half of the brake (D12). */
import type { Database } from "bun:sqlite";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError, notFound } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { normalizeDeviceId } from "../../../lib/device-id.ts";
import { WINDOW_MS } from "./mass-change-guard.ts";
import { holdQueries } from "./queries.ts";
import type { Hold, LocalChange } from "./types.ts";

/** A change that may happen now, with what is to be done in the same deed. */
export interface ReleasedChange {
  readonly change: LocalChange;
  /** To be called in the deed that ends the change, however it ends. */
  readonly onEnd: (tx: Transaction) => void;
}

/** Carries out changes that were accepted, as of now: what others did meanwhile makes a conflict as ever. */
export type ApplyReleased = (accountId: number, deviceId: number, changes: readonly ReleasedChange[]) => Promise<void>;

/** What {@link HoldService} works with. */
export interface HoldServiceOptions {
  readonly sqlite: Database;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly applyReleased: ApplyReleased;
}

/** A list of holds is at most this long, the oldest first. */
const LISTED_MAX = 100;
const RELEASED_AT_ONCE = 200;
const SWEPT_AT_ONCE = 1_000;
/** How long a decision is remembered: phones send a declined deletion again with every sync. */
const DECISION_RETENTION_MS = 90 * 24 * 60 * 60 * 1000;

/** Holds of an account: list, decide, tidy up. */
export class HoldService {
  readonly #options: HoldServiceOptions;
  readonly #queries: ReturnType<typeof holdQueries>;

  constructor(options: HoldServiceOptions) {
    this.#options = options;
    this.#queries = holdQueries(options.sqlite);
  }

  /**
   * What waits for a decision, oldest first, at most 100.
   * @param devicePublicId of this device alone
   * @throws AppError not_found for a device that the account does not have
   */
  list(accountId: number, devicePublicId?: string): Hold[] {
    const holds = this.#queries.openHolds.all(accountId, this.#options.clock.nowMs(), LISTED_MAX);
    if (devicePublicId === undefined) return holds;
    const deviceId = normalizeDeviceId(devicePublicId);
    if (this.#queries.device.get(accountId, deviceId) === null) throw notFound("The device");
    return holds.filter((hold) => hold.devicePublicId === deviceId);
  }

  /**
   * Accepts a hold: its changes are carried out before this returns, and the device may go on for an hour. Or declines
   * it: its changes are refused for good. The same decision again gives the same answer, and finishes what a stop of the
   * server interrupted.
   * @param devicePublicId where given, the hold must be this device's
   * @throws AppError not_found; version_conflict where it was decided otherwise already
   */
  async decide(accountId: number, holdId: string, isAccepted: boolean, devicePublicId?: string): Promise<Hold> {
    const { writer, clock } = this.#options;
    const decision = isAccepted ? "accepted" : "declined";
    const hold = await writer.run((): Hold => {
      const found = this.#queries.holdByPublicId.get(accountId, holdId);
      const nowMs = clock.nowMs();
      const isGone = found === null || (found.decision === null && found.expiresAtMs <= nowMs);
      if (isGone || (devicePublicId !== undefined && found.devicePublicId !== normalizeDeviceId(devicePublicId))) {
        throw notFound("The pending change");
      }
      if (found.decision !== null && found.decision !== decision) {
        throw new AppError(
          "version_conflict",
          `This change was already ${found.decision}. You can't undo that decision.`,
          {
            decision: found.decision,
          },
        );
      }
      if (found.decision === null) this.#queries.decide.run(found.id, decision, nowMs);
      return { ...found, decision };
    });
    if (isAccepted) await this.#release(hold);
    return hold;
  }

  /** Goes on with accepted holds that a stop of the server interrupted. @returns how many */
  async resume(): Promise<number> {
    const unfinished = this.#queries.unfinished.all();
    for (const hold of unfinished) await this.#release(hold);
    return unfinished.length;
  }

  /** A device was removed: what it asked for is dropped undone. Inside that deed. */
  dropDevice(_tx: Transaction, deviceId: number): void {
    this.#queries.endOpen.run(deviceId, this.#options.clock.nowMs());
  }

  /** Forgets old counts and outdated holds, some at a time; a deed. @returns rows removed */
  sweep(): number {
    const nowMs = this.#options.clock.nowMs();
    let removed = this.#queries.sweepCounts.run(nowMs - WINDOW_MS, SWEPT_AT_ONCE).changes;
    for (const { id } of this.#queries.outdated.all(nowMs, nowMs - DECISION_RETENTION_MS)) {
      const dropped = this.#queries.dropHeld.run(id, SWEPT_AT_ONCE).changes;
      removed += dropped;
      if (dropped < SWEPT_AT_ONCE) this.#queries.dropHold.run(id);
      else break;
    }
    return removed;
  }

  async #release(hold: Hold): Promise<void> {
    for (;;) {
      const held = this.#queries.held.all(hold.id, RELEASED_AT_ONCE);
      if (held.length === 0) return;
      const released = held.map(({ id, change }) => ({
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the brake kept it
        change: JSON.parse(change) as LocalChange,
        onEnd: () => void this.#queries.release.run(id),
      }));
      await this.#options.applyReleased(hold.accountId, hold.deviceId, released);
    }
  }
}
