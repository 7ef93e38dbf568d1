/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { BrowserConfigRecord, ConfigRecord, InboxRecord, PushRecord, ReadRecord, RegistrationRecord } from "./model.ts";

export const register = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Register the push token and preferences of a device",
  description:
    "Fields that are left out stay unchanged. A push token belongs to the device that registered it last. " +
    "Preferences are merged into those that the device registered before; at first all are true. A device that never " +
    "registered preferences uses the notifications in the user's settings. `provider` is null if this server cannot " +
    "reach the token: messages are then only in the inbox.",
  data: RegistrationRecord,
  errors: ["not_found", "forbidden_target"],
});

export const configuration = (): RouteDocs => ({
  tag: "Mobile",
  summary: "List the push services of this server",
  description: "The VAPID key for Web Push, and the providers that the administrator has set up.",
  data: ConfigRecord,
});

export const list = (): RouteDocs => ({
  tag: "Mobile",
  summary: "List the inbox of this device, newest first",
  description:
    "Every message appears here at once, regardless of preferences, quiet hours and push services. Messages about " +
    "this device's own uploads, and messages sent only to another device, are not included. Messages are retained " +
    "for 90 days, at most 1,000.",
  data: InboxRecord,
  query: {
    page: { type: "integer", minimum: 1, default: 1 },
    limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
  },
  errors: ["invalid_field"],
});

export const markRead = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Mark messages as read",
  description:
    "A message that is read on one device is read on all. Unknown ids are ignored. `read` is the number of messages " +
    "that were unread before.",
  data: ReadRecord,
});

export const listOwn = (): RouteDocs => ({
  tag: "Users",
  summary: "List your notifications, newest first",
  description: "Retained for 90 days, at most 1,000. Messages that were sent to one device only are not included.",
  data: InboxRecord,
  query: {
    page: { type: "integer", minimum: 1, default: 1 },
    limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
  },
  errors: ["invalid_field"],
});

export const markOwnRead = (): RouteDocs => ({
  tag: "Users",
  summary: "Mark your notifications as read",
  description: "They are then read on all devices too. Unknown ids are ignored.",
  data: ReadRecord,
});

export const browserConfiguration = (): RouteDocs => ({
  tag: "Users",
  summary: "Get what a browser needs for notifications",
  description:
    "The VAPID key for Web Push, whether this sign-in is subscribed, and the preferences that apply to it: its own, " +
    "or the notifications in the user's settings.",
  data: BrowserConfigRecord,
});

export const subscribe = (): RouteDocs => ({
  tag: "Users",
  summary: "Send notifications to this browser",
  description:
    "By Web Push, until the sign-in ends or the browser unsubscribes. A sign-in has one subscription: a new one " +
    "replaces it. An account has at most 20: a new one replaces the oldest. Without `preferences`, the notifications in the " +
    "user's settings apply.",
  data: RegistrationRecord,
  errors: ["forbidden_target"],
});

export const unsubscribe = (): RouteDocs => ({
  tag: "Users",
  summary: "Send no more notifications to this browser",
  data: BrowserConfigRecord,
});

export const push = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Send a message to your own devices",
  description:
    "To all of them, or to the one that is named. The default category is `uploads`. The result is known at once, " +
    "without waiting for a push service. `queued`: sent now. `held`: sent when the quiet hours of the device end " +
    "(deliverAt). `muted`: not sent, because the device wants none of this category. `inbox_only`: the device cannot " +
    "be reached or is signed out. The message is always in the inbox.",
  data: PushRecord,
  errors: ["not_found"],
});
