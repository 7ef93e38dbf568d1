import type { Router } from "../accounts/routing/router.ts";
import { type NotificationRoutesOptions, notificationRoutes } from "./notifications/routes.ts";
import { deliveryRoutes, type WebhookRoutesOptions, webhookRoutes } from "./webhooks/routes.ts";

/** What {@link messagingRoutes} needs. */
interface MessagingRoutesOptions extends NotificationRoutesOptions, WebhookRoutesOptions {}

/** The routes of notifications and webhooks. */
export function messagingRoutes(options: MessagingRoutesOptions): Router[] {
  return [notificationRoutes(options), webhookRoutes(options), deliveryRoutes(options)];
}
