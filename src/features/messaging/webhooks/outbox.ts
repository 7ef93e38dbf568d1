/**
 * The queue of webhook deliveries. Their rows are written in the transaction of the event. Each delivery has an
 * ordering key: the id of its file, folder, share or device. Only the first unfinished delivery with a key is sent. So
 * the events of one file arrive in order, and a delivery that fails blocks only the deliveries with the same key.
 */
import type { Database } from "bun:sqlite";
import type { Transaction } from "../../../db/transaction.ts";
import { type Clock, toTimestamp } from "../../../lib/clock.ts";
import { newId } from "../../../lib/id.ts";
import { invariant } from "../../../lib/invariant.ts";
import { type DeliveryRow, type DueRow, deliveryQueries, type WebhookRow, webhookQueries } from "./queries.ts";
import type { WebhookMessage } from "./types.ts";

/** The most deliveries that wait for one webhook. Further events are counted, but not stored. */
export const WAITING_MAX = 50_000;
/** The most rows that one transaction changes, if their number is unlimited. */
const BATCH_ROWS = 500;
/** The longest delay between attempts. */
export const PAUSE_MS_MAX = 60 * 60_000;

/** The result of an attempt. */
export interface AttemptResult {
  /** Status of the response; null if there was none. */
  readonly status: number | null;
  /** Why the attempt failed; null if it succeeded. */
  readonly error: string | null;
}

/** Rows of the outbox. Methods that write must be called in a transaction. */
export class WebhookOutbox {
  readonly #clock: Clock;
  readonly #webhooks: ReturnType<typeof webhookQueries>;
  readonly #deliveries: ReturnType<typeof deliveryQueries>;
  /** Called after the commit of new deliveries. */
  onAdded: () => void = () => {};

  constructor(sqlite: Database, clock: Clock) {
    this.#clock = clock;
    this.#webhooks = webhookQueries(sqlite);
    this.#deliveries = deliveryQueries(sqlite);
  }

  /** Adds a delivery for one webhook. @returns its row id; undefined if too many deliveries are waiting */
  add(tx: Transaction, webhookId: number, message: WebhookMessage): number | undefined {
    const webhook = this.#webhooks.byId.get(webhookId);
    if (webhook === null) return undefined;
    if (webhook.waiting >= WAITING_MAX) {
      this.#webhooks.countDropped.run(webhookId);
      return undefined;
    }
    const nowMs = this.#clock.nowMs();
    const { event: type, orderingKey, data } = message;
    const body = JSON.stringify({ type, timestamp: toTimestamp(nowMs), data });
    const row = this.#deliveries.insert.get(newId("evt", nowMs), webhookId, type, orderingKey, body, nowMs);
    invariant(row !== null, "an inserted delivery has an id");
    this.#webhooks.countWaiting.run(webhookId, 1);
    tx.afterCommit(() => this.onAdded());
    return row.id;
  }

  /** Row ids of the webhooks with due deliveries. */
  dueWebhooks(nowMs: number): number[] {
    return this.#webhooks.due.all(nowMs, nowMs + 2 * PAUSE_MS_MAX).map(({ id }) => id);
  }

  /** The due deliveries of a webhook, the longest due first. */
  dueTo(webhookId: number, nowMs: number, limit: number): number[] {
    return this.#deliveries.heads.all(webhookId, nowMs, limit).map(({ id }) => id);
  }

  /** The first due time after now; undefined if nothing waits. */
  nextDueMs(nowMs: number): number | undefined {
    return this.#webhooks.nextDue.get(nowMs)?.at ?? undefined;
  }

  /** A webhook with deliveries whose due time is further away than any delay: the clock was set back since. */
  findDueTooLate(nowMs: number): number | undefined {
    return this.#deliveries.dueTooLate.get(nowMs + 2 * PAUSE_MS_MAX)?.id;
  }

  /** Makes some of the deliveries due now whose due time is further away than any delay. There may be more. */
  resetDueTimes(webhookId: number): void {
    const nowMs = this.#clock.nowMs();
    this.#deliveries.makeDue.run(webhookId, nowMs + 2 * PAUSE_MS_MAX, nowMs, BATCH_ROWS);
  }

  /** Makes some of the postponed deliveries due now. @returns whether there may be more */
  retryNow(webhookId: number): boolean {
    const nowMs = this.#clock.nowMs();
    return this.#deliveries.makeDue.run(webhookId, nowMs, nowMs, BATCH_ROWS).changes === BATCH_ROWS;
  }

  /** A delivery and its webhook; undefined if either is deleted, or the delivery is finished. */
  find(id: number): { delivery: DueRow; webhook: WebhookRow } | undefined {
    const delivery = this.#deliveries.byId.get(id);
    if (delivery === null || delivery.finishedAt !== null) return undefined;
    const webhook = this.#webhooks.byId.get(delivery.webhookId);
    return webhook === null ? undefined : { delivery, webhook };
  }

  /** The state of a delivery. */
  read(id: number): DeliveryRow | undefined {
    return this.#deliveries.stateById.get(id) ?? undefined;
  }

  /** Finishes a delivery, so that the next one with the same ordering key can be sent. */
  finish(id: number, state: "delivered" | "failed", { status, error }: AttemptResult): void {
    const row = this.#deliveries.finish.get(id, state, this.#clock.nowMs(), status, error);
    if (row === null) return;
    this.#webhooks.countWaiting.run(row.webhookId, -1);
    this.#deliveries.promote.run(row.webhookId, row.orderingKey);
  }

  /** Records a failed attempt of a delivery and sets the time of the next one. */
  postpone(id: number, untilMs: number, { status, error }: AttemptResult): void {
    this.#deliveries.postpone.run(id, untilMs, status, error);
  }

  /** Records the number of consecutive failures of a target, and until when its deliveries pause. */
  setPause(webhookId: number, failures: number, untilMs: number): void {
    this.#webhooks.pause.run(webhookId, failures, untilMs);
  }

  /** Deletes some deliveries of a webhook. @returns whether there may be more */
  removeSome(webhookId: number): boolean {
    return this.#deliveries.removeSome.run(webhookId, BATCH_ROWS).changes === BATCH_ROWS;
  }

  /** Turns a webhook off. */
  stop(webhookId: number, because: string): void {
    this.#webhooks.stop.run(webhookId, because);
  }

  /** Fails at most `limit` unfinished deliveries that were created before `olderThanMs`. @returns their number */
  expire(olderThanMs: number, limit: number): number {
    const expired = this.#deliveries.expired.all(olderThanMs, limit);
    for (const { id } of expired) {
      const { lastStatus = null } = this.read(id) ?? {};
      this.finish(id, "failed", { status: lastStatus, error: "Delivery failed for 24 hours." });
    }
    return expired.length;
  }

  /** Deletes at most `limit` finished deliveries that were created before `olderThanMs`. @returns their number */
  sweep(olderThanMs: number, limit: number): number {
    return this.#deliveries.sweep.run(olderThanMs, limit).changes;
  }
}
