/**
 * What is on its way to devices. A row for each message and device is written in the deed that makes the message; the
 * dispatcher takes the rows from here, one device's after the other, and writes here what became of them. So nothing is
 * forgotten by a crash, and at worst something is sent twice, under the same id.
 */
import type { Db } from "../../../db/open.ts";
import type { DeliveryOutcome, PushMessage } from "./channels/channel.ts";
import { type DueRow, type HeadRow, outboxQueries, targetQueries } from "./queries.ts";

/** A message for one device. */
export interface NewDelivery {
  readonly notificationId: number;
  /** Row id. */
  readonly deviceId: number;
  readonly isHeld: boolean;
  readonly collapseKey: string | undefined;
  readonly dueAtMs: number;
}

/** How an attempt ends that is to be repeated. */
export interface Pause {
  /** Nothing is sent to the device before this. */
  readonly untilMs: number;
  /** Whether the message is given up all the same: it is too old by now. */
  readonly isLast: boolean;
}

/** Nothing waits longer than this by itself: quiet hours end within a day, and no push service is granted more. */
const WAIT_MS_MAX = 48 * 60 * 60_000;

/** More than these don't wait at a device: the oldest go, and are found in the inbox. */
export const WAITING_MAX = 100;

/** Rows of the outbox. Whatever writes is to be called inside a deed. */
export class Outbox {
  readonly #rows: ReturnType<typeof outboxQueries>;
  readonly #targets: ReturnType<typeof targetQueries>;

  constructor(db: Db) {
    this.#rows = outboxQueries(db.sqlite);
    this.#targets = targetQueries(db.sqlite);
  }

  /** Puts a message in line; one with the same key that waits there still is dropped. */
  add({ notificationId, deviceId, isHeld, collapseKey, dueAtMs }: NewDelivery, nowMs: number): void {
    if (collapseKey !== undefined) this.#rows.supersede.run(deviceId, collapseKey, nowMs);
    const state = isHeld ? "held" : "queued";
    this.#rows.insert.run(notificationId, deviceId, state, collapseKey ?? null, nowMs, dueAtMs);
    this.#rows.dropBeyond.run(deviceId, WAITING_MAX, nowMs);
    this.#rows.reschedule.run(deviceId);
  }

  /** Whether that message will still be pushed to the device, with whatever it says by then. */
  isAnnounced(deviceId: number, notificationId: number, nowMs: number): boolean {
    return this.#rows.isAnnounced.get(deviceId, notificationId, nowMs) !== null;
  }

  /** Whether that message waits for the end of quiet hours somewhere. */
  isHeld(notificationId: number): boolean {
    return this.#rows.isHeld.get(notificationId) !== null;
  }

  /** Lets what was held be looked at anew: preferences have changed. */
  release(deviceId: number, nowMs: number): void {
    this.#rows.release.run(deviceId, nowMs);
    this.#rows.reschedule.run(deviceId);
  }

  /** Drops all that waits at a device. */
  dropAll(deviceId: number, why: string, nowMs: number): void {
    this.#rows.endAll.run(deviceId, "dropped", why, nowMs);
    this.#rows.reschedule.run(deviceId);
  }

  /** Devices whose next message is due, the longest due first, but for these devices and lanes. */
  due(nowMs: number, exceptDevices: readonly number[], exceptLanes: readonly string[], limit: number): DueRow[] {
    return this.#rows.due.all(nowMs, JSON.stringify(exceptDevices), JSON.stringify(exceptLanes), limit);
  }

  /** Devices, so many at most, that are due later than anything is put off: the clock was set back since. */
  strays(nowMs: number, limit: number): number[] {
    return this.#rows.dueAfter.all(nowMs + WAIT_MS_MAX, limit).map(({ deviceId }) => deviceId);
  }

  /** Makes due now what is due at a device later than anything is put off. */
  pullIn(deviceId: number, nowMs: number): void {
    this.#rows.pullIn.run(deviceId, nowMs + WAIT_MS_MAX, nowMs);
    this.#rows.unpause.run(deviceId, nowMs + WAIT_MS_MAX);
    this.#rows.reschedule.run(deviceId);
  }

  /** When a device falls due next, later than now. */
  nextDueMs(nowMs: number): number | undefined {
    return this.#rows.nextAt.get(nowMs)?.nextAt ?? undefined;
  }

  /** What is first in line at a device. */
  head(deviceId: number, nowMs: number): HeadRow | undefined {
    return this.#rows.head.get(deviceId, nowMs) ?? undefined;
  }

  /** Finds out anew when a device is due. */
  reschedule(deviceId: number): void {
    this.#rows.reschedule.run(deviceId);
  }

  /** Holds all that is due at a device until then. */
  hold(deviceId: number, untilMs: number): void {
    this.#rows.hold.run(deviceId, untilMs);
    this.#rows.reschedule.run(deviceId);
  }

  /** Drops what is first in line. */
  drop(deviceId: number, id: number, why: string, nowMs: number): void {
    this.#rows.end.run(id, "dropped", why, nowMs, 0);
    this.#rows.reschedule.run(deviceId);
  }

  /**
   * Writes down what became of an attempt. That a token is gone is believed of the token that was tried, not of one that
   * was registered meanwhile.
   */
  settle(deviceId: number, head: HeadRow, outcome: DeliveryOutcome, pause: Pause, nowMs: number): void {
    switch (outcome.state) {
      case "delivered":
        this.#rows.end.run(head.id, "delivered", null, nowMs, 1);
        this.#rows.pause.run(deviceId, 0);
        break;
      case "rejected":
        this.#rows.end.run(head.id, "failed", outcome.why, nowMs, 1);
        this.#rows.pause.run(deviceId, 0);
        break;
      case "gone":
        if (this.#targets.currentToken.get(deviceId)?.token === head.token) {
          this.#targets.dropToken.run(deviceId);
          this.#rows.endAll.run(deviceId, "gone", outcome.why, nowMs);
        }
        break;
      case "retry":
        if (pause.isLast) this.#rows.end.run(head.id, "failed", outcome.why, nowMs, 1);
        else this.#rows.postpone.run(head.id, outcome.why);
        // A token that was registered meanwhile is tried at once.
        if (this.#targets.currentToken.get(deviceId)?.token === head.token) {
          this.#rows.pause.run(deviceId, pause.untilMs);
        }
        break;
    }
    this.#rows.reschedule.run(deviceId);
  }

  /** Forgets what came to its end before then. @returns how many rows */
  sweep(beforeMs: number, limit: number): number {
    return this.#rows.sweep.run(beforeMs, limit).changes;
  }
}

/** The message as it goes out. */
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
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written from such a record alone
  return JSON.parse(json) as Record<string, string>;
}
