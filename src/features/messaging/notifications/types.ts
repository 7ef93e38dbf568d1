import type { NotificationPreferences } from "../../accounts/users/settings.ts";
import type { PushCategory, PushChannel, PushTarget } from "./channels/channel.ts";

/** A message before it is sent: what it says, and to whom of the account's devices. */
export interface Draft {
  readonly category: PushCategory;
  /** One line. */
  readonly title: string;
  /** A sentence or two. */
  readonly body: string;
  readonly data: Readonly<Record<string, string>>;
  /** A waiting push with the same key gives way to this one. */
  readonly collapseKey?: string | undefined;
  /** For this device alone (row id). */
  readonly onlyDeviceId?: number | undefined;
  /** Not for this device, neither as a push nor in its inbox: it did itself what is told. */
  readonly exceptDeviceId?: number | undefined;
  /** Not pushed to this device, which finds it in its inbox all the same. */
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
 * What becomes of a message at a device: `queued` is sent at once, `held` when its quiet hours end; `muted` is not sent
 * because the device wants none of this category, `inbox_only` because there is no way to reach it.
 */
export type DeliveryStatus = "queued" | "held" | "muted" | "inbox_only";

/** All of {@link DeliveryStatus}. */
export const DELIVERY_STATUSES: readonly DeliveryStatus[] = ["queued", "held", "muted", "inbox_only"];

/** What was decided for one device when a message was made. */
export interface Delivery {
  /** As the API names the device. */
  readonly deviceId: string;
  readonly status: DeliveryStatus;
  readonly provider: PushChannel["name"] | null;
  /** When its quiet hours end, where it is held. */
  readonly deliverAtMs: number | null;
}

/** A message that was made, and what was decided for each device. */
export interface Sent {
  /** Row id. */
  readonly id: number;
  readonly publicId: string;
  readonly deliveries: readonly Delivery[];
}

/** How a device is registered for pushes, with everything filled in. */
export interface Registration {
  readonly deviceId: string;
  readonly platform: string;
  /** By which its pushes go; null where there is no token or no way to reach it. */
  readonly provider: PushChannel["name"] | null;
  readonly preferences: NotificationPreferences;
}

/** What the feature needs of the ways to devices; {@link PushChannels} is it, and tests give their own. */
export interface PushChannelSet {
  readonly providers: readonly string[];
  /** In base64url, as browsers take it. */
  readonly vapidPublicKey: string;
  pick(target: PushTarget): PushChannel | undefined;
  /** @param field where in the request the token stands. @throws AppError invalid_field | forbidden_target */
  checkToken(token: string, field: string): Promise<void>;
}
