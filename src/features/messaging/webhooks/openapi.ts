/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { DeliveriesRecord, DeliveryRecord, WebhookRecord, WebhookWithSecret } from "./model.ts";
import { t } from "elysia";

const RULES =
  "Deliveries follow Standard Webhooks: headers webhook-id, webhook-timestamp and webhook-signature, body {type, " +
  "timestamp, data}. At least once, under the same webhook-id; in order per file; tried for 24 hours; answers of 2xx count.";

export const create = (): RouteDocs => ({
  tag: "Webhooks",
  summary: "Let an address be told of what happens in the account",
  description:
    `${RULES} user.created is for administrators. At most 20 an account. An API key with \`profile\` manages ` +
    "webhooks, and sets them up for what it may read: files:read for files and folders, shares, admin for accounts.",
  status: 201,
  data: WebhookWithSecret,
  errors: ["forbidden_target", "invalid_request", "role"],
});

export const list = (): RouteDocs => ({
  tag: "Webhooks",
  summary: "One's own webhooks",
  description: "Without their secrets: those are shown once, when they are created.",
  data: t.Object({ webhooks: t.Array(WebhookRecord) }),
});

export const get = (): RouteDocs => ({
  tag: "Webhooks",
  summary: "One webhook",
  description: "With its state: active, stopped, and how many deliveries wait.",
  data: WebhookRecord,
  errors: ["not_found", "invalid_field"],
});

export const update = (): RouteDocs => ({
  tag: "Webhooks",
  summary: "Change address, events or state of a webhook",
  description: "What waits for it is tried at once. Events are not recorded while it is not active.",
  data: WebhookRecord,
  errors: ["not_found", "forbidden_target", "role"],
});

export const remove = (): RouteDocs => ({
  tag: "Webhooks",
  summary: "Delete a webhook, with what waits for it",
  description: "Viewers may do this, too.",
  data: t.Object({ id: t.String() }),
  errors: ["not_found", "invalid_field"],
});

export const renewSecret = (): RouteDocs => ({
  tag: "Webhooks",
  summary: "A new signing secret",
  description: "For 24 hours deliveries carry the signatures of both, the new one first.",
  data: WebhookWithSecret,
  errors: ["not_found", "invalid_field"],
});

export const sendTest = (): RouteDocs => ({
  tag: "Webhooks",
  summary: "Send webhook.test now",
  description:
    "Once, also where the webhook is not active. The response says within 15 seconds whether it was delivered or failed, " +
    "and nothing of the target's response.",
  data: DeliveryRecord,
  errors: ["not_found", "invalid_field", "overloaded"],
});

export const listDeliveries = (): RouteDocs => ({
  tag: "Webhooks",
  summary: "What was and is to be sent, newest first",
  description: "Kept for 30 days. Of answers only the status is told.",
  query: {
    status: { type: "string", enum: ["queued", "delivered", "failed"] },
    page: { type: "integer", minimum: 1, default: 1 },
    limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
  },
  data: DeliveriesRecord,
  errors: ["not_found", "invalid_field"],
});
