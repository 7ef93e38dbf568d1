/** Webhooks and deliveries as the API names them. */
import { toTimestamp } from "../../../lib/clock.ts";
import type { WithSecret } from "./service.ts";
import { type Delivery, TEST_EVENT, type Webhook } from "./types.ts";

/** A webhook, without its secret. */
export function presentWebhook(webhook: Webhook) {
  const { url, events, stoppedBecause, failures, waiting, dropped } = webhook;
  return {
    id: webhook.publicId,
    url,
    events,
    active: webhook.isActive,
    stoppedBecause,
    failures,
    waiting,
    dropped,
    createdAt: toTimestamp(webhook.createdAtMs),
    updatedAt: toTimestamp(webhook.updatedAtMs),
  };
}

/** A webhook and its secret. */
export function presentWithSecret({ webhook, secret }: WithSecret) {
  return { ...presentWebhook(webhook), secret };
}

/**
 * One delivery. Of a trial only whether it was taken: it is made at will, and where private addresses are allowed it would
 * otherwise tell which of their ports answer, and what.
 */
export function presentDelivery(delivery: Delivery) {
  const { publicId: id, event, state: status, attempts } = delivery;
  const isTrial = event === TEST_EVENT;
  const lastStatus = isTrial ? null : delivery.lastStatus;
  const lastError =
    isTrial && delivery.lastError !== null ? "The target did not accept the delivery." : delivery.lastError;
  return {
    id,
    event,
    status,
    attempts,
    responseStatus: lastStatus,
    error: lastError,
    createdAt: toTimestamp(delivery.createdAtMs),
    nextAttemptAt: instant(delivery.nextAttemptAtMs),
    finishedAt: instant(delivery.finishedAtMs),
  };
}

function instant(ms: number | null): string | null {
  return ms === null ? null : toTimestamp(ms);
}
