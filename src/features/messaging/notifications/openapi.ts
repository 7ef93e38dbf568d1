/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { ConfigRecord, InboxRecord, PushRecord, ReadRecord, RegistrationRecord } from "./model.ts";

export const register = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Register push token and preferences of a device",
  description:
    "What is left out stays. A push token belongs to the device that registered it last. Preferences are merged " +
    "into what the device registered before, at first all true; a device that never registered any goes by " +
    "notifications in the user's settings. provider is null where this server has no way to reach the token: " +
    "its messages are in the inbox alone.",
  data: RegistrationRecord,
  errors: ["not_found", "forbidden_target"],
});

export const configuration = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Ways by which this server can push",
  description: "The VAPID key for Web Push, and the providers that the administrator has set up.",
  data: ConfigRecord,
});

export const list = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Inbox of this device, newest first",
  description:
    "Every message is here at once, whatever preferences, quiet hours and push services make of it, but for " +
    "those about this device's own uploads and those sent to another device alone. Uploads that follow each " +
    "other closely share one message, which says how many there were. Kept for 90 days, 1,000 at most.",
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
    "Read on one device is read on all. Unknown ids are passed over; read tells how many were unread before.",
  data: ReadRecord,
});

export const push = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Send a message to one's own devices",
  description:
    "To all of them, or the one named. category is uploads where none is given. What becomes of it is decided at " +
    "once and no push service is waited for: queued is sent now, held when the device's quiet hours end " +
    "(deliverAt), muted not at all since the device wants none of this category, inbox_only where there is no " +
    "way to reach it or it is signed out. The message is in the inbox in any case.",
  data: PushRecord,
  errors: ["not_found"],
});
