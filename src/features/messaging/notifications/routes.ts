import { invalidField } from "../../../errors.ts";
import { ok, paginate } from "../../../http/envelope.ts";
import { readInteger, queryOf } from "../../../http/fields.ts";
import { say } from "../../../translations/say.ts";
import { type authGuard, deviceOf } from "../../accounts/auth/guard.ts";
import { sessionPrincipalOf } from "../../accounts/auth/principal.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { PushBody, ReadBody, RegisterBody, SubscribeBody } from "./model.ts";
import { presentNotification, presentSent } from "./present.ts";
import type { BrowserPush } from "./browser-push.ts";
import type { NotificationService } from "./service.ts";

/** Dependencies of {@link notificationRoutes}. */
export interface NotificationRoutesOptions {
  readonly notifications: NotificationService;
  readonly browserPush: BrowserPush;
  readonly guard: ReturnType<typeof authGuard>;
}

/** Routes below /api/mobile/notifications, and /api/mobile/push. */
export function notificationRoutes({ notifications, guard }: NotificationRoutesOptions) {
  return new Router({ prefix: "/api/mobile", guard })
    .post(
      "/notifications/register",
      {
        access: "device",
        scope: "device",
        rate: "general",
        audit: "unaudited",
        docs: docs.register,
        body: RegisterBody,
      },
      async ({ principal, body }) => ok(await notifications.register(principal, body)),
    )
    .get(
      "/notifications/config",
      { access: "device", scope: "device", rate: "general", audit: "unaudited", docs: docs.configuration },
      () => ok(notifications.config),
    )
    .get(
      "/notifications",
      { access: "device", scope: "device", rate: "general", audit: "unaudited", docs: docs.list },
      ({ principal, request }) => {
        const query = queryOf(request);
        const page = readInteger(query, "page", { min: 1, max: Number.MAX_SAFE_INTEGER, default: 1 });
        const limit = readInteger(query, "limit", { min: 1, max: 100, default: 20 });
        const { items, total, unread } = notifications.list(principal, deviceOf(principal), page, limit);
        return ok({
          notifications: items.map(presentNotification),
          unread,
          pagination: paginate(page, limit, total),
        });
      },
    )
    .post(
      "/notifications/read",
      { access: "device", scope: "device", rate: "general", audit: "unaudited", docs: docs.markRead, body: ReadBody },
      async ({ principal, body }) => ok(await notifications.markRead(principal, deviceOf(principal), readWhich(body))),
    )
    .post(
      "/push",
      { access: "deviceWriter", scope: "device", rate: "general", audit: "unaudited", docs: docs.push, body: PushBody },
      async ({ principal, body }) => ok(presentSent(await notifications.push(principal, body))),
    );
}

/** Stands for no device: the inbox of the web app has all messages of the account, except those for one device. */
const NO_DEVICE = { id: 0 } as const;
const OWN_INBOX = { access: "self", scope: "never", rate: "profile", audit: "unaudited" } as const;

/** /api/users/notifications and /api/users/push-subscriptions: the inbox in the web app, and Web Push to its browsers. */
export function ownInboxRoutes({ notifications, browserPush, guard }: NotificationRoutesOptions) {
  return new Router({ prefix: "/api/users", guard })
    .get("/notifications", { ...OWN_INBOX, docs: docs.listOwn }, ({ principal, request }) => {
      const query = queryOf(request);
      const page = readInteger(query, "page", { min: 1, max: Number.MAX_SAFE_INTEGER, default: 1 });
      const limit = readInteger(query, "limit", { min: 1, max: 100, default: 20 });
      const { items, total, unread } = notifications.list(principal, NO_DEVICE, page, limit);
      return ok({ notifications: items.map(presentNotification), unread, pagination: paginate(page, limit, total) });
    })
    .post(
      "/notifications/read",
      { ...OWN_INBOX, docs: docs.markOwnRead, body: ReadBody },
      async ({ principal, body }) => ok(await notifications.markRead(principal, NO_DEVICE, readWhich(body))),
    )
    .get("/notifications/config", { ...OWN_INBOX, docs: docs.browserConfiguration }, ({ principal }) =>
      ok(browserPush.config(sessionPrincipalOf(principal))),
    )
    .post(
      "/push-subscriptions",
      { ...OWN_INBOX, docs: docs.subscribe, body: SubscribeBody },
      async ({ principal, body }) => ok(await browserPush.subscribe(sessionPrincipalOf(principal), body)),
    )
    .delete("/push-subscriptions", { ...OWN_INBOX, docs: docs.unsubscribe }, async ({ principal }) =>
      ok(await browserPush.unsubscribe(sessionPrincipalOf(principal))),
    );
}

/** The messages that a request marks as read. @throws AppError invalid_field */
function readWhich({ ids, all }: typeof ReadBody.static): readonly string[] | "all" {
  if (all === true) return "all";
  if (ids === undefined) {
    throw invalidField("ids", say`Send the IDs of the notifications to mark as read, or all: true.`);
  }
  return ids;
}
