/**
 * The queue of messages to devices. The transaction that creates a message writes one row for each device. The
 * dispatcher reads the rows of each device in order and records their results here. So a crash loses nothing; at worst
 * a message is sent twice, with the same id.
 */
import type { Db } from "../../../db/open.ts";
import type { DeliveryOutcome, PushMessage } from "./channels/channel.ts";
import { deliveryQueries, type DueRow, type HeadRow, queueQueries, scheduleQueries, targetQueries } from "./queries.ts";

/** A message for one device. */
interface NewDelivery {
  readonly notificationId: number;
  /** Row id. */
  readonly deviceId: number;
  /** Whether it waits for the end of quiet hours. */
  readonly isDeferred: boolean;
  readonly collapseKey: string | undefined;
  readonly dueAtMs: number;
}

/** The pause after a failed attempt. */
export interface Pause {
  /** Nothing is sent to the device before this. */
  readonly untilMs: number;
  /** Whether the message is dropped instead of retried, because it is too old. */
  readonly isLast: boolean;
}

/** The longest delay of a message: quiet hours end within a day, and a `Retry-After` counts for at most a day. */
const WAIT_MS_MAX = 48 * 60 * 60_000;

/** The most messages that wait for one device. The oldest are dropped; they are still in the inbox. */
export const WAITING_MAX = 100;

/** Rows of the outbox. Methods that write must be called in a transaction. */
export class Outbox {
  readonly #deliveries: ReturnType<typeof deliveryQueries>;
  readonly #queue: ReturnType<typeof queueQueries>;
  readonly #schedule: ReturnType<typeof scheduleQueries>;
  readonly #targets: ReturnType<typeof targetQueries>;

  constructor(db: Db) {
    this.#deliveries = deliveryQueries(db.sqlite);
    this.#queue = queueQueries(db.sqlite);
    this.#schedule = scheduleQueries(db.sqlite);
    this.#targets = targetQueries(db.sqlite);
  }

  /** Adds a message to the queue of a device. Drops a queued message with the same key. */
  add({ notificationId, deviceId, isDeferred, collapseKey, dueAtMs }: NewDelivery, nowMs: number): void {
    if (collapseKey !== undefined) this.#queue.supersede.run(deviceId, collapseKey, nowMs);
    const state = isDeferred ? "held" : "queued";
    this.#deliveries.insert.run(notificationId, deviceId, state, collapseKey ?? null, nowMs, dueAtMs);
    this.#queue.dropOldest.run(deviceId, WAITING_MAX, nowMs);
    this.reschedule(deviceId);
  }

  /** Whether a later push of that message to the device is already queued. It will have the text of that time. */
  isQueued(deviceId: number, notificationId: number, nowMs: number): boolean {
    return this.#queue.isQueued.get(deviceId, notificationId, nowMs) !== null;
  }

  /** Whether that message waits for the end of quiet hours at any device. */
  isDeferred(notificationId: number): boolean {
    return this.#deliveries.isDeferred.get(notificationId) !== null;
  }

  /** Makes the deferred messages of a device due, because its preferences changed. */
  release(deviceId: number, nowMs: number): void {
    this.#queue.release.run(deviceId, nowMs);
    this.reschedule(deviceId);
  }

  /** Drops all queued messages of a device. */
  dropAll(deviceId: number, why: string, nowMs: number): void {
    this.#queue.endAll.run(deviceId, "dropped", why, nowMs);
    this.reschedule(deviceId);
  }

  /** Devices with a due message, the longest due first, except those devices and concurrency groups. */
  due(nowMs: number, exceptDevices: readonly number[], exceptGroups: readonly string[], limit: number): DueRow[] {
    return this.#schedule.due.all(nowMs, JSON.stringify(exceptDevices), JSON.stringify(exceptGroups), limit);
  }

  /** At most `limit` devices whose due time is further away than any delay: the clock was set back since. */
  dueTooLate(nowMs: number, limit: number): number[] {
    return this.#schedule.dueAfter.all(nowMs + WAIT_MS_MAX, limit).map(({ deviceId }) => deviceId);
  }

  /** Makes those messages of a device due now whose due time is further away than any delay. */
  resetDueTimes(deviceId: number, nowMs: number): void {
    this.#queue.resetDueTimes.run(deviceId, nowMs + WAIT_MS_MAX, nowMs);
    this.#schedule.unpause.run(deviceId, nowMs + WAIT_MS_MAX);
    this.reschedule(deviceId);
  }

  /** The first due time of any device after now. */
  nextDueMs(nowMs: number): number | undefined {
    return this.#schedule.nextAt.get(nowMs)?.nextAt ?? undefined;
  }

  /** The first message in the queue of a device, if it is due. */
  head(deviceId: number, nowMs: number): HeadRow | undefined {
    return this.#queue.head.get(deviceId, nowMs) ?? undefined;
  }

  /** Updates the due time of a device. */
  reschedule(deviceId: number): void {
    this.#schedule.reschedule.run(deviceId);
  }

  /** Defers all messages of a device that are due before `untilMs`. */
  defer(deviceId: number, untilMs: number): void {
    this.#queue.defer.run(deviceId, untilMs);
    this.reschedule(deviceId);
  }

  /** Drops one message of a device. */
  drop(deviceId: number, id: number, why: string, nowMs: number): void {
    this.#deliveries.end.run(id, "dropped", why, nowMs, 0);
    this.reschedule(deviceId);
  }

  /**
   * Records the outcome of an attempt. The outcome `gone` applies only to the token of this attempt, not to one that
   * was registered during the attempt.
   */
  recordOutcome(deviceId: number, head: HeadRow, outcome: DeliveryOutcome, pause: Pause, nowMs: number): void {
    switch (outcome.state) {
      case "delivered":
        this.#deliveries.end.run(head.id, "delivered", null, nowMs, 1);
        this.#schedule.pause.run(deviceId, 0);
        break;
      case "rejected":
        this.#deliveries.end.run(head.id, "failed", outcome.why, nowMs, 1);
        this.#schedule.pause.run(deviceId, 0);
        break;
      case "gone":
        if (this.#targets.currentToken.get(deviceId)?.token === head.token) {
          this.#targets.dropToken.run(deviceId);
          this.#queue.endAll.run(deviceId, "gone", outcome.why, nowMs);
        }
        break;
      case "retry":
        if (pause.isLast) this.#deliveries.end.run(head.id, "failed", outcome.why, nowMs, 1);
        else this.#deliveries.postpone.run(head.id, outcome.why);
        // A token that was registered during the attempt is tried at once.
        if (this.#targets.currentToken.get(deviceId)?.token === head.token) {
          this.#schedule.pause.run(deviceId, pause.untilMs);
        }
        break;
    }
    this.reschedule(deviceId);
  }

  /** Deletes at most `limit` rows that were finished before `beforeMs`. @returns the number of rows */
  sweep(beforeMs: number, limit: number): number {
    return this.#deliveries.sweep.run(beforeMs, limit).changes;
  }
}

/** The message of a row, as channels send it. */
export function messageOf(head: HeadRow): PushMessage {
  return {
    id: head.publicId,
    category: head.category,
    title: head.title,
    body: head.body,
    data: readData(head.data),
    ...(head.collapseKey !== null && { collapseKey: head.collapseKey }),
  };
}

/** The stored JSON of a message's data. */
export function readData(json: string): Record<string, string> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only such records are stored
  return JSON.parse(json) as Record<string, string>;
}
