/** Converts rows of the database into the types of this feature. */
import type { DeliveryRow, WebhookRow } from "./queries.ts";
import { type Delivery, WEBHOOK_EVENTS, type Webhook, type WebhookEvent } from "./types.ts";

const KNOWN: ReadonlySet<string> = new Set(WEBHOOK_EVENTS);

/** The events of a row, without events that this version does not know. */
export function parseEvents(json: string): WebhookEvent[] {
  const parsed: unknown = JSON.parse(json);
  return Array.isArray(parsed) ? parsed.filter(isEvent) : [];
}

function isEvent(name: unknown): name is WebhookEvent {
  return typeof name === "string" && KNOWN.has(name);
}

/** A row of `webhooks`. */
export function toWebhook(row: WebhookRow): Webhook {
  const { id, publicId, accountId, url, stoppedBecause, failures, waiting, dropped } = row;
  return {
    id,
    publicId,
    accountId,
    url,
    events: parseEvents(row.events),
    isActive: row.isActive === 1,
    stoppedBecause,
    createdAtMs: row.createdAt,
    updatedAtMs: row.updatedAt,
    failures,
    waiting,
    dropped,
  };
}

/** A row of `webhook_deliveries`. */
export function toDelivery(row: DeliveryRow): Delivery {
  const { publicId, event, state, attempts, lastStatus, lastError } = row;
  return {
    publicId,
    event,
    state,
    attempts,
    createdAtMs: row.createdAt,
    nextAttemptAtMs: state === "queued" ? row.dueAt : null,
    finishedAtMs: row.finishedAt,
    lastStatus,
    lastError,
  };
}
