/** Webhooks and deliveries, as in the API. */
import { toTimestamp, timestampOrNull } from "../../../lib/clock.ts";
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
 * A delivery. For a test delivery, only whether it was accepted: a user can send any number of them and, if private
 * addresses are allowed, could otherwise scan their ports.
 */
export function presentDelivery(delivery: Delivery) {
  const { publicId: id, event, state: status, attempts } = delivery;
  const isTest = event === TEST_EVENT;
  const lastStatus = isTest ? null : delivery.lastStatus;
  const lastError =
    isTest && delivery.lastError !== null ? "The target did not accept the delivery." : delivery.lastError;
  return {
    id,
    event,
    status,
    attempts,
    responseStatus: lastStatus,
    error: lastError,
    createdAt: toTimestamp(delivery.createdAtMs),
    nextAttemptAt: timestampOrNull(delivery.nextAttemptAtMs),
    finishedAt: timestampOrNull(delivery.finishedAtMs),
  };
}
