import type { Router } from "../accounts/routing/router.ts";
import { type NotificationRoutesOptions, notificationRoutes } from "./notifications/routes.ts";
import { type WebhookRoutesOptions, webhookRoutes } from "./webhooks/routes.ts";

/** What the routes of messages work with. */
export interface MessagingRoutesOptions extends NotificationRoutesOptions, WebhookRoutesOptions {}

/** Notifications of devices, and webhooks. */
export function messagingRoutes(options: MessagingRoutesOptions): Router[] {
  return [notificationRoutes(options), webhookRoutes(options)];
}
