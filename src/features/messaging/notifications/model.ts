import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { ref } from "../../../http/documented.ts";
import { Timestamp } from "../../../http/fields.ts";
import { SettingsBody, SettingsRecord } from "../../accounts/profile/model.ts";
import type { PushCategory } from "./channels/channel.ts";
import { TOKEN_BYTES_MAX } from "./channels/channels.ts";
import { DELIVERY_STATUSES } from "./types.ts";

const CATEGORIES: readonly PushCategory[] = ["uploads", "shares", "storage", "security"];
const Category = t.Union(CATEGORIES.map((category) => t.Literal(category)));
const DeviceId = t.String({ minLength: 1, description: "As the device chose it" });
const Count = Type.Integer({ minimum: 0 });

/** POST /api/mobile/notifications/register */
export const RegisterBody = t.Object({
  deviceId: DeviceId,
  pushToken: t.Optional(
    t.String({
      minLength: 1,
      maxLength: TOKEN_BYTES_MAX,
      description: "Token of FCM or APNs, the JSON of a browser's push subscription, or a UnifiedPush or ntfy URL",
    }),
  ),
  platform: t.Optional(t.String({ minLength: 1, maxLength: 64, examples: ["android", "ios"] })),
  preferences: SettingsBody.properties.notifications,
});

/** Response of register */
export const RegistrationRecord = t.Object({
  deviceId: t.String(),
  platform: t.String(),
  provider: t.Union([t.String({ examples: ["fcm"] }), t.Null()]),
  preferences: SettingsRecord.properties.notifications,
});

/** GET /api/mobile/notifications/config */
export const ConfigRecord = t.Object({
  vapidPublicKey: t.String({ description: "applicationServerKey for browsers, base64url" }),
  providers: t.Array(t.String({ examples: ["web-push"] })),
});

/** A message in the inbox */
export const NotificationRecord = t.Object({
  id: t.String(),
  category: t.String({ enum: [...CATEGORIES] }),
  title: t.String(),
  body: t.String(),
  data: t.Record(t.String(), t.String()),
  createdAt: Timestamp,
  readAt: t.Union([Timestamp, t.Null()]),
});

/** POST /api/mobile/notifications/read */
export const ReadBody = t.Object({
  ids: t.Optional(t.Array(t.String({ maxLength: 128 }), { maxItems: 1_000 })),
  all: t.Optional(t.Boolean()),
});

/** Response of read */
export const ReadRecord = t.Object({ read: Count, unread: Count });

/** POST /api/users/push-subscriptions. As in the registration of a device; the sign-in stands for the device. */
export const SubscribeBody = t.Object({
  pushToken: t.String({
    minLength: 1,
    maxLength: TOKEN_BYTES_MAX,
    description: "JSON.stringify(subscription) of PushManager.subscribe",
  }),
  preferences: SettingsBody.properties.notifications,
});

/** GET /api/users/notifications/config */
export const BrowserConfigRecord = t.Object({
  ...ConfigRecord.properties,
  isSubscribed: t.Boolean({ description: "Whether messages are sent to the browser of this sign-in" }),
  preferences: SettingsRecord.properties.notifications,
});

/** POST /api/mobile/push */
export const PushBody = t.Object({
  title: t.String({ minLength: 1, maxLength: 200 }),
  body: t.String({ minLength: 1, maxLength: 2_000 }),
  category: t.Optional(Category),
  deviceId: t.Optional(DeviceId),
  data: t.Optional(
    // Not a Record: under keys with a line break, a Record accepts values of any type.
    t.Object(
      {},
      {
        additionalProperties: t.String(),
        maxProperties: 50,
        description: "Data for the app; with title and body at most 3 KiB",
      },
    ),
  ),
});

/** Response of push */
export const PushRecord = t.Object({
  notificationId: t.String(),
  deliveries: t.Array(
    t.Object({
      deviceId: t.String(),
      status: t.String({ enum: [...DELIVERY_STATUSES] }),
      provider: t.Union([t.String(), t.Null()]),
      deliverAt: t.Optional(Timestamp),
    }),
  ),
});

/** GET /api/mobile/notifications */
export const InboxRecord = {
  type: "object",
  required: ["notifications", "unread", "pagination"],
  properties: { notifications: t.Array(NotificationRecord), unread: Count, pagination: ref("Pagination") },
};
