/**
 * What is to be told to webhooks, in rows that are written in the deed that makes it so. Each delivery has a lane (the
 * file, folder, share or device that it is about); only the first unfinished one of a lane may be sent, so that what
 * happened to one file arrives in order, and a stubborn one holds up its own lane alone.
 */
import type { Database } from "bun:sqlite";
import type { Transaction } from "../../../db/transaction.ts";
import { type Clock, toTimestamp } from "../../../lib/clock.ts";
import { newId } from "../../../lib/id.ts";
import { invariant } from "../../../lib/invariant.ts";
import { type DeliveryRow, type DueRow, deliveryQueries, type WebhookRow, webhookQueries } from "./queries.ts";
import type { WebhookMessage } from "./types.ts";

/** More than these don't wait for one webhook: further events are counted, not kept. */
export const WAITING_MAX = 50_000;
/** Rows that one deed changes at most, where there may be any number of them. */
export const PIECE = 500;
/** Nothing is put off for longer than this. */
export const PAUSE_MS_MAX = 60 * 60_000;

/** How an attempt ended. */
export interface AttemptResult {
  /** Status of the answer; null where none came. */
  readonly status: number | null;
  /** Why it was no success. */
  readonly error: string | null;
}

/** Rows of the outbox. Whatever writes is to be called inside a deed. */
export class WebhookOutbox {
  readonly #clock: Clock;
  readonly #webhooks: ReturnType<typeof webhookQueries>;
  readonly #deliveries: ReturnType<typeof deliveryQueries>;
  /** Called after the commit of what may be due at once. */
  onAdded: () => void = () => {};

  constructor(sqlite: Database, clock: Clock) {
    this.#clock = clock;
    this.#webhooks = webhookQueries(sqlite);
    this.#deliveries = deliveryQueries(sqlite);
  }

  /** Puts a message in line for one webhook. @returns row id of the delivery; undefined where too many wait already */
  add(tx: Transaction, webhookId: number, message: WebhookMessage): number | undefined {
    const webhook = this.#webhooks.byId.get(webhookId);
    if (webhook === null) return undefined;
    if (webhook.waiting >= WAITING_MAX) {
      this.#webhooks.countDropped.run(webhookId);
      return undefined;
    }
    const nowMs = this.#clock.nowMs();
    const { event: type, lane, data } = message;
    const body = JSON.stringify({ type, timestamp: toTimestamp(nowMs), data });
    const row = this.#deliveries.insert.get(newId("evt", nowMs), webhookId, type, lane, body, nowMs);
    invariant(row !== null, "an inserted delivery has an id");
    this.#webhooks.countWaiting.run(webhookId, 1);
    tx.afterCommit(() => this.onAdded());
    return row.id;
  }

  /** Webhooks that something is due to. */
  dueWebhooks(nowMs: number): number[] {
    return this.#webhooks.due.all(nowMs, nowMs + 2 * PAUSE_MS_MAX).map(({ id }) => id);
  }

  /** Deliveries to a webhook that are due, the longest due first. */
  dueTo(webhookId: number, nowMs: number, limit: number): number[] {
    return this.#deliveries.heads.all(webhookId, nowMs, limit).map(({ id }) => id);
  }

  /** When something falls due after now; undefined where nothing waits. */
  nextDueMs(nowMs: number): number | undefined {
    return this.#webhooks.nextDue.get(nowMs)?.at ?? undefined;
  }

  /** A webhook with deliveries that are due later than anything is put off: the clock was set back since. */
  findStray(nowMs: number): number | undefined {
    return this.#deliveries.hasStray.get(nowMs + 2 * PAUSE_MS_MAX)?.id;
  }

  /** Makes some of such deliveries due now; there may be more. */
  pullIn(webhookId: number): void {
    const nowMs = this.#clock.nowMs();
    this.#deliveries.pullIn.run(webhookId, nowMs + 2 * PAUSE_MS_MAX, nowMs, PIECE);
  }

  /** Makes some of what was put off due now. @returns whether there may be more */
  hasten(webhookId: number): boolean {
    const nowMs = this.#clock.nowMs();
    return this.#deliveries.pullIn.run(webhookId, nowMs, nowMs, PIECE).changes === PIECE;
  }

  /** A delivery and its webhook, as they stand; undefined where either is gone or it is finished. */
  find(id: number): { delivery: DueRow; webhook: WebhookRow } | undefined {
    const delivery = this.#deliveries.byId.get(id);
    if (delivery === null || delivery.finishedAt !== null) return undefined;
    const webhook = this.#webhooks.byId.get(delivery.webhookId);
    return webhook === null ? undefined : { delivery, webhook };
  }

  /** What became of a delivery. */
  read(id: number): DeliveryRow | undefined {
    return this.#deliveries.shownById.get(id) ?? undefined;
  }

  /** Ends a delivery; the next one of its lane may go. */
  finish(id: number, state: "delivered" | "failed", { status, error }: AttemptResult): void {
    const row = this.#deliveries.finish.get(id, state, this.#clock.nowMs(), status, error);
    if (row === null) return;
    this.#webhooks.countWaiting.run(row.webhookId, -1);
    this.#deliveries.promote.run(row.webhookId, row.lane);
  }

  /** Lets a delivery wait for its next attempt. */
  putOff(id: number, untilMs: number, { status, error }: AttemptResult): void {
    this.#deliveries.putOff.run(id, untilMs, status, error);
  }

  /** Notes that a target works, or how often in a row it did not and until when it is left alone. */
  notePause(webhookId: number, failures: number, untilMs: number): void {
    this.#webhooks.pause.run(webhookId, failures, untilMs);
  }

  /** Forgets some deliveries of a webhook that ends. @returns whether there may be more */
  removeSome(webhookId: number): boolean {
    return this.#deliveries.removeSome.run(webhookId, PIECE).changes === PIECE;
  }

  /** Switches a webhook off. */
  stop(webhookId: number, because: string): void {
    this.#webhooks.stop.run(webhookId, because);
  }

  /** Gives up what has waited since before the time, up to `limit`. @returns how many */
  expire(olderThanMs: number, limit: number): number {
    const expired = this.#deliveries.expired.all(olderThanMs, limit);
    for (const { id } of expired) {
      const { lastStatus = null } = this.read(id) ?? {};
      this.finish(id, "failed", { status: lastStatus, error: "Delivery failed for 24 hours." });
    }
    return expired.length;
  }

  /** Forgets finished deliveries of before the time, up to `limit`. @returns how many */
  sweep(olderThanMs: number, limit: number): number {
    return this.#deliveries.sweep.run(olderThanMs, limit).changes;
  }
}
