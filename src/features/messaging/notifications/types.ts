import type { NotificationPreferences } from "../../accounts/users/settings.ts";
import type { PushCategory, PushChannel, PushTarget } from "./channels/channel.ts";

/** A message to create, and the devices of the account that it is for. */
export interface NewMessage {
  readonly category: PushCategory;
  /** One line. */
  readonly title: string;
  /** A sentence or two. */
  readonly body: string;
  readonly data: Readonly<Record<string, string>>;
  /** This message replaces a queued push with the same key. */
  readonly collapseKey?: string | undefined;
  /** Row id of the only device that gets the message. */
  readonly onlyDeviceId?: number | undefined;
  /** Row id of the device that caused the message: it gets no push and does not see the message in its inbox. */
  readonly exceptDeviceId?: number | undefined;
  /** Row id of a device that gets no push, but sees the message in its inbox. */
  readonly unpushedDeviceId?: number | undefined;
}

/** A message in the inbox. */
export interface InboxItem {
  readonly publicId: string;
  readonly category: PushCategory;
  readonly title: string;
  readonly body: string;
  readonly data: Readonly<Record<string, string>>;
  readonly createdAtMs: number;
  readonly readAtMs: number | null;
}

/**
 * The status of a message for one device: `queued` is sent now, `held` when the quiet hours end. `muted` is not sent
 * because the device turned off the category, `inbox_only` because the device can't be reached.
 */
type DeliveryStatus = "queued" | "held" | "muted" | "inbox_only";

/** All of {@link DeliveryStatus}. */
export const DELIVERY_STATUSES: readonly DeliveryStatus[] = ["queued", "held", "muted", "inbox_only"];

/** The status of a new message for one device. */
export interface Delivery {
  /** Public id of the device. */
  readonly deviceId: string;
  readonly status: DeliveryStatus;
  readonly provider: PushChannel["name"] | null;
  /** The end of the quiet hours, if the status is `held`. */
  readonly deliverAtMs: number | null;
}

/** A created message, and its status for each device. */
export interface SentMessage {
  /** Row id. */
  readonly id: number;
  readonly publicId: string;
  readonly deliveries: readonly Delivery[];
}

/** The push registration of a device, including defaults. */
export interface Registration {
  readonly deviceId: string;
  readonly platform: string;
  /** The channel of its pushes; null if there is no token, or no channel for it. */
  readonly provider: PushChannel["name"] | null;
  readonly preferences: NotificationPreferences;
}

/** The part of {@link PushChannels} that this feature needs; tests pass their own. */
export interface PushChannelSet {
  readonly providers: readonly string[];
  /** In base64url, the form that browsers expect. */
  readonly vapidPublicKey: string;
  pick(target: PushTarget): PushChannel | undefined;
  /**
   * @param field the field of the request that contains the token.
   * @throws AppError invalid_field | forbidden_target
   */
  checkToken(token: string, field: string): Promise<void>;
}
