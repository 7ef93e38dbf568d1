/** The events that a webhook may be told of, in their order. */
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

/** What a trial delivery is called; no webhook subscribes to it. */
export const TEST_EVENT = "webhook.test";

/** An address that is told of events. Never its secret. */
export interface Webhook {
  readonly id: number;
  readonly publicId: string;
  readonly accountId: number;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly isActive: boolean;
  /** Why the server itself switched it off; null where it did not. */
  readonly stoppedBecause: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Attempts in a row that found the target not working. */
  readonly failures: number;
  /** Deliveries that are not finished. */
  readonly waiting: number;
  /** Events that were not recorded because too many were waiting. */
  readonly dropped: number;
}

/** What became of one event for one webhook. */
export interface Delivery {
  /** Also the `webhook-id` header. */
  readonly publicId: string;
  readonly event: string;
  readonly state: "queued" | "delivered" | "failed";
  readonly attempts: number;
  readonly createdAtMs: number;
  /** When the next attempt is due; null once finished. */
  readonly nextAttemptAtMs: number | null;
  readonly finishedAtMs: number | null;
  /** Status of the last answer; null where none came. */
  readonly lastStatus: number | null;
  /** Why there was no good answer. */
  readonly lastError: string | null;
}

/** An event to be told. */
export interface WebhookMessage {
  readonly event: WebhookEvent | typeof TEST_EVENT;
  /** What must stay in order: the id of the file, folder, share or device. */
  readonly lane: string;
  /** The record, as the API shows it. */
  readonly data: object;
}
