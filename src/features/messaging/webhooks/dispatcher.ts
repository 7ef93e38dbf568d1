/**
 * Sends what waits in the outbox: at least once, each attempt under the same `webhook-id`, the next one of a lane only when
 * the one before is done. What was not taken is tried again with growing pauses for 24 hours.
 */
import type { Writer } from "../../../db/transaction.ts";
import { DispatchLoop } from "../../../jobs/dispatch-loop.ts";
import { type Backoff, backoffMs } from "../../../lib/backoff.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import { type Outbound, OutboundError } from "../../../net/outbound.ts";
import { parseRetryAfter } from "../../../net/retry-after.ts";
import { VERSION } from "../../../version.ts";
import { type AttemptResult, PAUSE_MS_MAX, type WebhookOutbox } from "./outbox.ts";
import type { DueRow, WebhookRow } from "./queries.ts";
import { secretOf, signedHeaders } from "./secrets.ts";
import { TEST_EVENT } from "./types.ts";

/** What {@link WebhookDispatcher} works with. */
export interface WebhookDispatcherOptions {
  readonly outbox: WebhookOutbox;
  readonly writer: Writer;
  readonly outbound: Pick<Outbound, "send">;
  readonly clock: Clock;
  readonly log: Log;
  /** The server's key, which secrets are made by. */
  readonly key: Uint8Array;
}

/** One answer, as far as it matters. */
interface Answered extends AttemptResult {
  /** How long the target asked to be left alone. */
  readonly afterMs: number;
  /** Nobody is there, or it says that it is not working: it is left alone as a whole. */
  readonly isDown: boolean;
}

/** A delivery that was not taken for so long is given up. */
export const GIVE_UP_AFTER_MS = 24 * 60 * 60_000;
const DELIVERY_BACKOFF: Backoff = { firstMs: 5_000, maxMs: PAUSE_MS_MAX };
const TARGET_BACKOFF: Backoff = { firstMs: 2_000, maxMs: 10 * 60_000 };
const SIDE_BY_SIDE_MAX = 32;
const PER_WEBHOOK_MAX = 4;
/** RFC 9110 §15.5.11: the target is gone for good; Standard Webhooks asks to stop then. */
const GONE = 410;

/** See the head of the file. */
export class WebhookDispatcher {
  readonly #options: WebhookDispatcherOptions;
  readonly #loop: DispatchLoop;
  /** Attempts under way, by webhook; trials are beside them. */
  readonly #perWebhook = new Map<number, number>();
  /** And in all. */
  #underWay = 0;
  /** The webhook that an attempt was begun for last. */
  #servedLast = 0;

  constructor(options: WebhookDispatcherOptions) {
    this.#options = options;
    this.#loop = new DispatchLoop({
      ...options,
      what: "webhook deliveries",
      startDue: (nowMs) => this.#startDue(nowMs),
    });
    options.outbox.onAdded = () => this.#loop.wake();
  }

  /** Begins to send. */
  start(): void {
    this.#loop.start();
  }

  /** Something may be due: looks soon. */
  wake(): void {
    this.#loop.wake();
  }

  /** Makes the first attempt of a delivery now, whatever else waits; resolves when it is over. */
  attempt(deliveryId: number): Promise<void> {
    return this.#loop.begin(deliveryId, (stop) => this.#serve(deliveryId, stop));
  }

  /** Begins nothing more and gives up what is under way, which is sent again after the next start. */
  close(): Promise<void> {
    return this.#loop.close();
  }

  #startDue(nowMs: number): number | undefined {
    const { outbox } = this.#options;
    const stray = outbox.findStray(nowMs);
    if (stray !== undefined) void this.#loop.write(() => outbox.pullIn(stray)).then(() => this.#loop.wake());
    for (const webhookId of this.#inTurn(outbox.dueWebhooks(nowMs))) {
      for (const id of outbox.dueTo(webhookId, nowMs, PER_WEBHOOK_MAX * 2)) {
        // What ends wakes the loop again.
        if (this.#underWay >= SIDE_BY_SIDE_MAX) return outbox.nextDueMs(nowMs);
        if ((this.#perWebhook.get(webhookId) ?? 0) >= PER_WEBHOOK_MAX) break;
        if (this.#loop.isInProgress(id)) continue;
        this.#begin(webhookId, id);
        this.#servedLast = webhookId;
      }
    }
    return outbox.nextDueMs(nowMs);
  }

  /** Behind the one that was served last: slow targets that always want more keep nobody from their turn. */
  #inTurn(webhookIds: readonly number[]): readonly number[] {
    const next = webhookIds.findIndex((id) => id > this.#servedLast);
    return next <= 0 ? webhookIds : [...webhookIds.slice(next), ...webhookIds.slice(0, next)];
  }

  #begin(webhookId: number, id: number): void {
    this.#underWay++;
    this.#perWebhook.set(webhookId, (this.#perWebhook.get(webhookId) ?? 0) + 1);
    void this.#loop
      .begin(id, (stop) => this.#serve(id, stop))
      .finally(() => {
        this.#underWay--;
        const left = (this.#perWebhook.get(webhookId) ?? 1) - 1;
        if (left > 0) this.#perWebhook.set(webhookId, left);
        else this.#perWebhook.delete(webhookId);
      });
  }

  async #serve(id: number, stop: AbortSignal): Promise<void> {
    const found = this.#options.outbox.find(id);
    if (found === undefined) return;
    const { delivery, webhook } = found;
    const answered = await this.#send(delivery, webhook, stop);
    // Given up by the stop: no fault of anybody's.
    if (answered === undefined) return;
    await this.#loop.write(() => this.#settle(delivery, answered));
  }

  /** One attempt. @returns undefined where the stop ended it */
  async #send(delivery: DueRow, webhook: WebhookRow, stop: AbortSignal): Promise<Answered | undefined> {
    const { outbound, clock, log } = this.#options;
    const atMs = clock.nowMs();
    const body = delivery.body;
    try {
      const answer = await outbound.send(webhook.url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "user-agent": `Larder/${VERSION}`,
          ...signedHeaders(this.#secretsOf(webhook, atMs), { id: delivery.publicId, atMs, body }),
        },
        body: new TextEncoder().encode(body),
        signal: stop,
      });
      const { status } = answer;
      const isTaken = status >= 200 && status < 300;
      return {
        status,
        error: isTaken ? null : `The target returned status ${status}.`,
        afterMs: Math.min(parseRetryAfter(answer.header("retry-after"), atMs) ?? 0, PAUSE_MS_MAX),
        isDown: status === 429 || status >= 500,
      };
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      if (error.failure === "aborted") return undefined;
      log.debug("Could not reach a webhook.", { webhook: webhook.publicId, why: error.message });
      return { status: null, error: sentence(error), afterMs: 0, isDown: true };
    }
  }

  /** Writes what became of it, by the rows as they are now. */
  #settle(delivery: DueRow, answered: Answered): void {
    const { outbox, clock, log } = this.#options;
    const found = outbox.find(delivery.id);
    if (found === undefined) return;
    const { webhook } = found;
    const nowMs = clock.nowMs();
    const facts = { webhook: webhook.publicId, delivery: delivery.publicId, status: answered.status };
    if (answered.error === null) {
      outbox.finish(delivery.id, "delivered", answered);
      if (webhook.failures > 0) outbox.notePause(webhook.id, 0, 0);
      return;
    }
    if (answered.isDown) {
      const failures = webhook.failures + 1;
      const pauseMs = Math.max(backoffMs(failures, TARGET_BACKOFF), answered.afterMs);
      outbox.notePause(webhook.id, failures, nowMs + pauseMs);
    }
    const untilMs = nowMs + Math.max(backoffMs(delivery.attempts + 1, DELIVERY_BACKOFF), answered.afterMs);
    const isLast = untilMs > delivery.createdAt + GIVE_UP_AFTER_MS || answered.status === GONE;
    const isTrial = delivery.event === TEST_EVENT;
    if (isLast || isTrial) outbox.finish(delivery.id, "failed", answered);
    else outbox.putOff(delivery.id, untilMs, answered);
    if (answered.status === GONE)
      outbox.stop(webhook.id, "The target returned status 410 (Gone), so the webhook was turned off.");
    if (isTrial) return;
    if (isLast) log.warn("Webhook delivery failed; will not retry.", facts);
    else if (delivery.attempts === 0) log.info("Webhook delivery failed; will retry.", facts);
  }

  #secretsOf(webhook: WebhookRow, nowMs: number): string[] {
    const { key } = this.#options;
    const present = secretOf(key, webhook.nonce);
    const isFormerGood = webhook.formerNonce !== null && (webhook.formerUntil ?? 0) > nowMs;
    return isFormerGood && webhook.formerNonce !== null ? [present, secretOf(key, webhook.formerNonce)] : [present];
  }
}

/** Says why, for the owner: what may be told of a target that they gave themselves. */
function sentence({ failure, message, isPrivate }: OutboundError): string {
  if (isPrivate) return "The target could not be reached.";
  if (failure === "forbidden") return `The target address is not allowed: it ${message}.`;
  return `The target could not be reached: ${message}.`;
}
