/**
 * Collects the uploads of a device in one message: a phone that backs up its photos must not make another device ring
 * for each of them. The first upload is pushed at once. Later uploads update the number in the same message. It is
 * pushed again one minute later, then after 2, 4, 8 and at most 15 minutes, as long as uploads continue.
 */
import type { Db } from "../../../db/open.ts";
import type { Transaction } from "../../../db/transaction.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Outbox } from "./outbox.ts";
import { type BurstRow, burstQueries } from "./queries.ts";
import type { NotificationService } from "./service.ts";
import type { NewMessage } from "./types.ts";

/** The kinds of uploads that are collected: those that became files, and those that failed. */
type BurstKind = "completed" | "failed";

/** Dependencies of {@link UploadBursts}. */
interface UploadBurstsOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly outbox: Outbox;
  readonly notifications: NotificationService;
}

const FIRST_GAP_MS = 60_000;
const GAP_MS_MAX = 15 * 60_000;

/** The rows of `upload_bursts`. Its methods must be called in a transaction. */
export class UploadBursts {
  readonly #options: UploadBurstsOptions;
  readonly #rows: ReturnType<typeof burstQueries>;

  constructor(options: UploadBurstsOptions) {
    this.#options = options;
    this.#rows = burstQueries(options.db.sqlite);
  }

  /**
   * Reports one more upload of a device.
   * @param toMessage makes the message for a number of uploads, of which this is the last
   */
  add(
    tx: Transaction,
    accountId: number,
    deviceId: number,
    kind: BurstKind,
    toMessage: (files: number) => NewMessage,
  ): void {
    const { clock, notifications } = this.#options;
    const nowMs = clock.nowMs();
    const burst = this.#rows.find.get(deviceId, kind);
    if (burst === null || !this.#isContinuing(burst, nowMs)) {
      const { id } = notifications.notify(tx, accountId, toMessage(1));
      this.#rows.set.run(deviceId, kind, id, 1, 1, nowMs);
      return;
    }
    const files = burst.files + 1;
    // A push that is due later will include this upload. One that was sent, or may be sent right now, will not.
    const isScheduled = burst.pushedAt > nowMs;
    const dueAtMs = isScheduled ? undefined : Math.max(nowMs, burst.pushedAt + gapAfter(burst.pushes));
    notifications.renew(tx, accountId, burst.notificationId, toMessage(files), dueAtMs);
    const pushes = isScheduled ? burst.pushes : burst.pushes + 1;
    this.#rows.set.run(deviceId, kind, burst.notificationId, files, pushes, dueAtMs ?? burst.pushedAt);
  }

  /**
   * Whether the next upload still belongs to the burst: the last push is recent, or quiet hours defer it at some
   * device.
   */
  #isContinuing({ notificationId, pushes, pushedAt }: BurstRow, nowMs: number): boolean {
    // The clock was set back.
    if (pushedAt - nowMs > GAP_MS_MAX) return false;
    return nowMs < pushedAt + gapAfter(pushes) || this.#options.outbox.isDeferred(notificationId);
  }
}

function gapAfter(pushes: number): number {
  return Math.min(GAP_MS_MAX, FIRST_GAP_MS * 2 ** Math.min(pushes - 1, 10));
}
