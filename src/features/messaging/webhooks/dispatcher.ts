/**
 * Sends the deliveries in the outbox at least once, each attempt with the same `webhook-id`. Deliveries with the same
 * ordering key are sent one after the other. Failed attempts are repeated with growing delays for 24 hours.
 */
import type { Writer } from "../../../db/transaction.ts";
import { DispatchLoop } from "../../../jobs/dispatch-loop.ts";
import { type Backoff, backoffMs } from "../../../lib/backoff.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import type { Outbound } from "../../../net/outbound.ts";
import { OutboundError } from "../../../net/outbound-error.ts";
import { parseRetryAfter } from "../../../net/retry-after.ts";
import { VERSION } from "../../../version.ts";
import { type AttemptResult, PAUSE_MS_MAX, type WebhookOutbox } from "./outbox.ts";
import type { DueRow, WebhookRow } from "./queries.ts";
import { secretOf, signedHeaders } from "./secrets.ts";
import { TEST_EVENT } from "./types.ts";

/** Dependencies of {@link WebhookDispatcher}. */
interface WebhookDispatcherOptions {
  readonly outbox: WebhookOutbox;
  readonly writer: Writer;
  readonly outbound: Pick<Outbound, "send">;
  readonly clock: Clock;
  readonly log: Log;
  /** The server's key, from which secrets are derived. */
  readonly key: Uint8Array;
}

/** The result of one attempt, with what it says about the target. */
interface TargetResult extends AttemptResult {
  /** The delay that the target asked for with `Retry-After`. */
  readonly retryAfterMs: number;
  /** The target is unreachable or reports an overload: all its deliveries pause. */
  readonly isDown: boolean;
}

/** A delivery fails when the target did not accept it for this long. */
export const GIVE_UP_AFTER_MS = 24 * 60 * 60_000;
const DELIVERY_BACKOFF: Backoff = { firstMs: 5_000, maxMs: PAUSE_MS_MAX };
const TARGET_BACKOFF: Backoff = { firstMs: 2_000, maxMs: 10 * 60_000 };
const CONCURRENT_MAX = 32;
const PER_WEBHOOK_MAX = 4;
/** RFC 9110 §15.5.11: the target is gone permanently. Standard Webhooks requires senders to stop. */
const GONE = 410;

/** Sends the deliveries in the outbox to the targets of the webhooks. */
export class WebhookDispatcher {
  readonly #options: WebhookDispatcherOptions;
  readonly #loop: DispatchLoop;
  /** The number of attempts in progress by webhook, not counting test deliveries. */
  readonly #perWebhook = new Map<number, number>();
  /** The total of {@link #perWebhook}. */
  #inProgress = 0;
  /** The webhook of the attempt that was started last. */
  #lastServed = 0;

  constructor(options: WebhookDispatcherOptions) {
    this.#options = options;
    this.#loop = new DispatchLoop({
      ...options,
      what: "webhook deliveries",
      startDue: (nowMs) => this.#startDue(nowMs),
    });
    options.outbox.onAdded = () => this.#loop.wake();
  }

  /** Starts sending. */
  start(): void {
    this.#loop.start();
  }

  /** Looks for due deliveries soon. */
  wake(): void {
    this.#loop.wake();
  }

  /** Makes an attempt of one delivery now, before all others; resolves when it has ended. */
  attempt(deliveryId: number): Promise<void> {
    return this.#loop.begin(deliveryId, (stop) => this.#serve(deliveryId, stop));
  }

  /** Starts no more attempts and aborts those in progress, which are repeated after the next start. */
  close(): Promise<void> {
    return this.#loop.close();
  }

  #startDue(nowMs: number): number | undefined {
    const { outbox } = this.#options;
    const tooLate = outbox.findDueTooLate(nowMs);
    if (tooLate !== undefined) void this.#loop.write(() => outbox.resetDueTimes(tooLate)).then(() => this.#loop.wake());
    for (const webhookId of this.#inTurn(outbox.dueWebhooks(nowMs))) {
      for (const id of outbox.dueTo(webhookId, nowMs, PER_WEBHOOK_MAX * 2)) {
        // The end of an attempt wakes the loop again.
        if (this.#inProgress >= CONCURRENT_MAX) return outbox.nextDueMs(nowMs);
        if ((this.#perWebhook.get(webhookId) ?? 0) >= PER_WEBHOOK_MAX) break;
        if (this.#loop.isInProgress(id)) continue;
        this.#begin(webhookId, id);
        this.#lastServed = webhookId;
      }
    }
    return outbox.nextDueMs(nowMs);
  }

  /**
   * Starts with the webhook after the last one served, so that slow targets with long queues don't block the others.
   */
  #inTurn(webhookIds: readonly number[]): readonly number[] {
    const next = webhookIds.findIndex((id) => id > this.#lastServed);
    return next <= 0 ? webhookIds : [...webhookIds.slice(next), ...webhookIds.slice(0, next)];
  }

  #begin(webhookId: number, id: number): void {
    this.#inProgress++;
    this.#perWebhook.set(webhookId, (this.#perWebhook.get(webhookId) ?? 0) + 1);
    void this.#loop
      .begin(id, (stop) => this.#serve(id, stop))
      .finally(() => {
        this.#inProgress--;
        const remaining = (this.#perWebhook.get(webhookId) ?? 1) - 1;
        if (remaining > 0) this.#perWebhook.set(webhookId, remaining);
        else this.#perWebhook.delete(webhookId);
      });
  }

  async #serve(id: number, stop: AbortSignal): Promise<void> {
    const found = this.#options.outbox.find(id);
    if (found === undefined) return;
    const { delivery, webhook } = found;
    const result = await this.#send(delivery, webhook, stop);
    // The server stops: the attempt does not count.
    if (result === undefined) return;
    await this.#loop.write(() => this.#recordResult(delivery, result));
  }

  /** Makes one attempt. @returns undefined if the server stops during the attempt */
  async #send(delivery: DueRow, webhook: WebhookRow, stop: AbortSignal): Promise<TargetResult | undefined> {
    const { outbound, clock, log } = this.#options;
    const atMs = clock.nowMs();
    const body = delivery.body;
    try {
      const response = await outbound.send(webhook.url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "user-agent": `Larder/${VERSION}`,
          ...signedHeaders(this.#validSecrets(webhook, atMs), { id: delivery.publicId, atMs, body }),
        },
        body: new TextEncoder().encode(body),
        signal: stop,
      });
      const { status } = response;
      const isAccepted = status >= 200 && status < 300;
      return {
        status,
        error: isAccepted ? null : `The target returned status ${status}.`,
        retryAfterMs: Math.min(parseRetryAfter(response.header("retry-after"), atMs) ?? 0, PAUSE_MS_MAX),
        isDown: status === 429 || status >= 500,
      };
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      if (error.failure === "aborted") return undefined;
      log.debug("Could not reach a webhook.", { webhook: webhook.publicId, why: error.message });
      return { status: null, error: describeError(error), retryAfterMs: 0, isDown: true };
    }
  }

  /** Records the result of an attempt, unless the delivery was finished or deleted in the meantime. */
  #recordResult(delivery: DueRow, result: TargetResult): void {
    const { outbox, clock, log } = this.#options;
    const found = outbox.find(delivery.id);
    if (found === undefined) return;
    const { webhook } = found;
    const nowMs = clock.nowMs();
    if (result.error === null) {
      outbox.finish(delivery.id, "delivered", result);
      if (webhook.failures > 0) outbox.setPause(webhook.id, 0, 0);
      return;
    }
    if (result.isDown) {
      const failures = webhook.failures + 1;
      const pauseMs = Math.max(backoffMs(failures, TARGET_BACKOFF), result.retryAfterMs);
      outbox.setPause(webhook.id, failures, nowMs + pauseMs);
    }
    const untilMs = nowMs + Math.max(backoffMs(delivery.attempts + 1, DELIVERY_BACKOFF), result.retryAfterMs);
    const isLast = untilMs > delivery.createdAt + GIVE_UP_AFTER_MS || result.status === GONE;
    const isTest = delivery.event === TEST_EVENT;
    if (isLast || isTest) outbox.finish(delivery.id, "failed", result);
    else outbox.postpone(delivery.id, untilMs, result);
    if (result.status === GONE)
      outbox.stop(webhook.id, "The target returned status 410 (Gone), so the webhook was turned off.");
    if (isTest) return;
    const fields = { webhook: webhook.publicId, delivery: delivery.publicId, status: result.status };
    if (isLast) log.warn("Webhook delivery failed; will not retry.", fields);
    else if (delivery.attempts === 0) log.info("Webhook delivery failed; will retry.", fields);
  }

  #validSecrets({ nonce, formerNonce, formerUntil }: WebhookRow, nowMs: number): string[] {
    const { key } = this.#options;
    const isFormerValid = formerNonce !== null && (formerUntil ?? 0) > nowMs;
    return isFormerValid ? [secretOf(key, nonce), secretOf(key, formerNonce)] : [secretOf(key, nonce)];
  }
}

/** The reason of a failure as the webhook's owner may see it: it must not reveal anything about private addresses. */
function describeError({ failure, message, isPrivate }: OutboundError): string {
  if (isPrivate) return "The target could not be reached.";
  if (failure === "forbidden") return `The target address is not allowed: it ${message}.`;
  return `The target could not be reached: ${message}.`;
}
