/** What every way to a phone or browser has in common: one message in, one of four outcomes out, never an error. */

/** What a message is about: the categories that a device may switch on and off. */
export type PushCategory = "uploads" | "shares" | "storage" | "security";

/** A message for one person, as it leaves the server. */
export interface PushMessage {
  /** The id that the same message has in the inbox; the same at each attempt, so that a receiver can tell repeats. */
  readonly id: string;
  readonly category: PushCategory;
  /** One line. */
  readonly title: string;
  /** A sentence or two. */
  readonly body: string;
  /** What the app needs to open the right place, such as `{ fileId }`. */
  readonly data: Readonly<Record<string, string>>;
  /** Of several messages with the same key, only the last one need be shown. */
  readonly collapseKey?: string | undefined;
}

/** Where a device wants to be reached. */
export interface PushTarget {
  /** The push token as the device registered it: opaque to everybody but its channel. */
  readonly token: string;
  /** The platform as the device registered it, such as `android`. */
  readonly platform: string;
}

/**
 * How one attempt ended.
 * - delivered: the push service took it.
 * - gone: the token is no longer valid; drop it.
 * - rejected: this message will never be taken; don't send it again. The token stays.
 * - retry: try again later, after `afterMs` at the earliest where the service said so.
 *
 * `why` is for the log: one line that holds no token, no key and nothing of the message.
 */
export type DeliveryOutcome =
  | { readonly state: "delivered" }
  | { readonly state: "gone"; readonly why: string }
  | { readonly state: "rejected"; readonly why: string }
  | { readonly state: "retry"; readonly why: string; readonly afterMs?: number | undefined };

/** One way to reach devices. */
export interface PushChannel {
  readonly name: "fcm" | "apns" | "web-push" | "url";

  /**
   * Hands one message to the push service. Safe to call side by side, and again with the same message.
   * @param signal gives the attempt up; its outcome is `retry` then
   * @returns the outcome, whatever happens: it never rejects
   */
  deliver(target: PushTarget, message: PushMessage, signal: AbortSignal): Promise<DeliveryOutcome>;
}
