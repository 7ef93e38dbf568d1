import { Elysia } from "elysia";
import { invalidField } from "../../../errors.ts";
import { documented } from "../../../http/documented.ts";
import { ok, paginate } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { readInteger, readQuery } from "../../../http/fields.ts";
import { type authGuard, deviceOf, takesJson } from "../../accounts/auth/guard.ts";
import {
  ConfigRecord,
  InboxRecord,
  PushBody,
  PushRecord,
  ReadBody,
  ReadRecord,
  RegisterBody,
  RegistrationRecord,
} from "./model.ts";
import { presentNotification, presentSent } from "./present.ts";
import type { NotificationService } from "./service.ts";

/** What the routes about messages work with. */
export interface NotificationRoutesOptions {
  readonly notifications: NotificationService;
  readonly guard: ReturnType<typeof authGuard>;
}

/** /api/mobile/notifications* and /api/mobile/push (contract §7). */
export function notificationRoutes({ notifications, guard }: NotificationRoutesOptions) {
  return new Elysia({ name: "notification-routes", prefix: "/api/mobile" })
    .use(guard)
    .post("/notifications/register", async ({ principal, body }) => ok(await notifications.register(principal, body)), {
      ...takesJson("device", RegisterBody),
      ...documented({
        takesJson: true,
        tag: "Mobile",
        summary: "Register push token and preferences of a device",
        description:
          "What is left out stays. A push token belongs to the device that registered it last. Preferences are merged " +
          "into what the device registered before, at first all true; a device that never registered any goes by " +
          "notifications in the user's settings. provider is null where this server has no way to reach the token: " +
          "its messages are in the inbox alone.",
        access: "device",
        data: RegistrationRecord,
        errors: ["not_found", "forbidden_target"],
      }),
    })
    .get("/notifications/config", () => ok(notifications.config), {
      access: "device",
      ...documented({
        tag: "Mobile",
        summary: "Ways by which this server can push",
        description: "The VAPID key for Web Push, and the providers that the administrator has set up.",
        access: "device",
        data: ConfigRecord,
      }),
    })
    .get(
      "/notifications",
      ({ principal, request }) => {
        const query = readQuery(requestContextOf(request).query);
        const page = readInteger(query, "page", { min: 1, max: Number.MAX_SAFE_INTEGER, default: 1 });
        const limit = readInteger(query, "limit", { min: 1, max: 100, default: 20 });
        const { items, total, unread } = notifications.list(principal, deviceOf(principal), page, limit);
        return ok({
          notifications: items.map(presentNotification),
          unread,
          pagination: paginate(page, limit, total),
        });
      },
      {
        access: "device",
        ...documented({
          tag: "Mobile",
          summary: "Inbox of this device, newest first",
          description:
            "Every message is here at once, whatever preferences, quiet hours and push services make of it, but for " +
            "those about this device's own uploads and those sent to another device alone. Uploads that follow each " +
            "other closely share one message, which says how many there were. Kept for 90 days, 1,000 at most.",
          access: "device",
          data: InboxRecord,
          query: {
            page: { type: "integer", minimum: 1, default: 1 },
            limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
          },
          errors: ["invalid_field"],
        }),
      },
    )
    .post(
      "/notifications/read",
      async ({ principal, body }) => {
        const { ids } = body;
        if (body.all !== true && ids === undefined) {
          throw invalidField("ids", "Send the ids of the messages that were read, or all: true.");
        }
        const which = body.all === true || ids === undefined ? "all" : ids;
        return ok(await notifications.markRead(principal, deviceOf(principal), which));
      },
      {
        ...takesJson("device", ReadBody),
        ...documented({
          takesJson: true,
          tag: "Mobile",
          summary: "Mark messages as read",
          description:
            "Read on one device is read on all. Unknown ids are passed over; read tells how many were unread before.",
          access: "device",
          data: ReadRecord,
        }),
      },
    )
    .post("/push", async ({ principal, body }) => ok(presentSent(await notifications.push(principal, body))), {
      ...takesJson("deviceWriter", PushBody),
      ...documented({
        takesJson: true,
        tag: "Mobile",
        summary: "Send a message to one's own devices",
        description:
          "To all of them, or the one named. category is uploads where none is given. What becomes of it is decided at " +
          "once and no push service is waited for: queued is sent now, held when the device's quiet hours end " +
          "(deliverAt), muted not at all since the device wants none of this category, inbox_only where there is no " +
          "way to reach it or it is signed out. The message is in the inbox in any case.",
        access: "deviceWriter",
        data: PushRecord,
        errors: ["not_found"],
      }),
    });
}
