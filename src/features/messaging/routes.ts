import type { Router } from "../accounts/routing/router.ts";
import { type NotificationRoutesOptions, notificationRoutes, ownInboxRoutes } from "./notifications/routes.ts";
import { deliveryRoutes, type WebhookRoutesOptions, webhookRoutes } from "./webhooks/routes.ts";

/** The routes of notifications and webhooks. */
export function messagingRoutes(options: NotificationRoutesOptions & WebhookRoutesOptions): Router[] {
  return [notificationRoutes(options), ownInboxRoutes(options), webhookRoutes(options), deliveryRoutes(options)];
}
