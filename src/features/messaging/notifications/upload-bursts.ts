/**
 * A phone that backs up a camera roll must not make another one ring for each picture. The first upload is told at once.
 * What follows closely is gathered in the same message, which then says how many there were, and is pushed again a minute
 * later, then after two, four, eight minutes and so on up to a quarter of an hour, as long as uploads keep coming.
 */
import type { Db } from "../../../db/open.ts";
import type { Transaction } from "../../../db/transaction.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Outbox } from "./outbox.ts";
import { type BurstRow, burstQueries } from "./queries.ts";
import type { NotificationService } from "./service.ts";
import type { Draft } from "./types.ts";

/** What is gathered: uploads that became files, or those that failed. */
export type BurstKind = "completed" | "failed";

/** What {@link UploadBursts} works with. */
export interface UploadBurstsOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly outbox: Outbox;
  readonly notifications: NotificationService;
}

const FIRST_GAP_MS = 60_000;
const GAP_MS_MAX = 15 * 60_000;

/** See the head of this file. Called inside deeds. */
export class UploadBursts {
  readonly #options: UploadBurstsOptions;
  readonly #rows: ReturnType<typeof burstQueries>;

  constructor(options: UploadBurstsOptions) {
    this.#options = options;
    this.#rows = burstQueries(options.db.sqlite);
  }

  /**
   * Tells of one more upload of a device.
   * @param draftOf the message for so many uploads, this one the last
   */
  add(tx: Transaction, accountId: number, deviceId: number, kind: BurstKind, draftOf: (files: number) => Draft): void {
    const { clock, notifications } = this.#options;
    const nowMs = clock.nowMs();
    const burst = this.#rows.find.get(deviceId, kind);
    if (burst === null || !this.#goesOn(burst, nowMs)) {
      const { id } = notifications.notify(tx, accountId, draftOf(1));
      this.#rows.set.run(deviceId, kind, id, 1, 1, nowMs);
      return;
    }
    const files = burst.files + 1;
    // A push that is still to come will say it too; what went out, or may be going out just now, will not.
    const isToCome = burst.pushedAt > nowMs;
    const dueAtMs = isToCome ? undefined : Math.max(nowMs, burst.pushedAt + gapAfter(burst.pushes));
    notifications.renew(tx, accountId, burst.notificationId, draftOf(files), dueAtMs);
    const pushes = isToCome ? burst.pushes : burst.pushes + 1;
    this.#rows.set.run(deviceId, kind, burst.notificationId, files, pushes, dueAtMs ?? burst.pushedAt);
  }

  /** Whether the next upload belongs to it: the last push is not long ago, or somebody's quiet hours hold it back. */
  #goesOn({ notificationId, pushes, pushedAt }: BurstRow, nowMs: number): boolean {
    // The clock was set back.
    if (pushedAt - nowMs > GAP_MS_MAX) return false;
    return nowMs < pushedAt + gapAfter(pushes) || this.#options.outbox.isHeld(notificationId);
  }
}

function gapAfter(pushes: number): number {
  return Math.min(GAP_MS_MAX, FIRST_GAP_MS * 2 ** Math.min(pushes - 1, 10));
}
