/** The interface of all push channels: one message in, one of four outcomes out, never an error. */

/** The category of a message. A device can turn each category on and off. */
export type PushCategory = "uploads" | "shares" | "storage" | "security";

/** A message as it leaves the server. */
export interface PushMessage {
  /** Its id in the inbox. The same at each attempt, so that receivers can recognize duplicates. */
  readonly id: string;
  readonly category: PushCategory;
  /** One line. */
  readonly title: string;
  /** A sentence or two. */
  readonly body: string;
  /** What the app opens, such as `{ fileId }`. */
  readonly data: Readonly<Record<string, string>>;
  /** A device needs to show only the latest message with the same key. */
  readonly collapseKey?: string | undefined;
}

/** The push registration of a device. */
export interface PushTarget {
  /** The push token as the device registered it. Only its channel can interpret it. */
  readonly token: string;
  /** The platform as the device registered it, such as `android`. */
  readonly platform: string;
}

/**
 * The result of one attempt.
 * - delivered: the push service accepted the message.
 * - gone: the token is no longer valid; delete it.
 * - rejected: the push service will never accept this message; don't retry. The token is still valid.
 * - retry: try again later, not before `afterMs` if the service specified it.
 *
 * `why` is for the log: one line without tokens, keys or parts of the message.
 */
export type DeliveryOutcome =
  | { readonly state: "delivered" }
  | { readonly state: "gone"; readonly why: string }
  | { readonly state: "rejected"; readonly why: string }
  | { readonly state: "retry"; readonly why: string; readonly afterMs?: number | undefined };

/** Sends messages through one kind of push service. */
export interface PushChannel {
  readonly name: "fcm" | "apns" | "web-push" | "url";

  /**
   * Sends one message to the push service. Safe to call concurrently, and again with the same message.
   * @param signal cancels the attempt; its outcome is then `retry`
   * @returns the outcome; the promise never rejects
   */
  deliver(target: PushTarget, message: PushMessage, signal: AbortSignal): Promise<DeliveryOutcome>;
}
