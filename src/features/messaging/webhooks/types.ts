/** The events that webhooks can subscribe to, in the order of the documentation. */
export const WEBHOOK_EVENTS = [
  "file.created",
  "file.updated",
  "file.moved",
  "file.deleted",
  "file.downloaded",
  "folder.created",
  "folder.deleted",
  "share.created",
  "share.revoked",
  "share.downloaded",
  "device.registered",
  "device.removed",
  "storage.warning",
  "user.created",
] as const;

/** One of {@link WEBHOOK_EVENTS}. */
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** The event of a test delivery. No webhook can subscribe to it. */
export const TEST_EVENT = "webhook.test";

/** An address that receives events, without its secret. */
export interface Webhook {
  readonly id: number;
  readonly publicId: string;
  readonly accountId: number;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly isActive: boolean;
  /** Why the server turned it off; null if it did not. */
  readonly stoppedBecause: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Consecutive attempts that found the target down. */
  readonly failures: number;
  /** The number of unfinished deliveries. */
  readonly waiting: number;
  /** The number of events that were dropped because too many deliveries were waiting. */
  readonly dropped: number;
}

/** The delivery of one event to one webhook. */
export interface Delivery {
  /** Also the `webhook-id` header. */
  readonly publicId: string;
  readonly event: string;
  readonly state: "queued" | "delivered" | "failed";
  readonly attempts: number;
  readonly createdAtMs: number;
  /** When the next attempt is due; null if finished. */
  readonly nextAttemptAtMs: number | null;
  readonly finishedAtMs: number | null;
  /** Status of the last response; null if there was none. */
  readonly lastStatus: number | null;
  /** Why the last attempt failed; null if it succeeded. */
  readonly lastError: string | null;
}

/** An event to deliver. */
export interface WebhookMessage {
  readonly event: WebhookEvent | typeof TEST_EVENT;
  /** The id of the file, folder, share or device: deliveries with the same key are sent in order. */
  readonly orderingKey: string;
  /** The record, as in the API. */
  readonly data: object;
}
