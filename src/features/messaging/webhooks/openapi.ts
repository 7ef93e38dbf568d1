/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { DeliveriesRecord, DeliveryRecord, WebhookRecord, WebhookWithSecret } from "./model.ts";
import { t } from "elysia";

const RULES =
  "Deliveries follow Standard Webhooks: headers webhook-id, webhook-timestamp and webhook-signature, body " +
  "{type, timestamp, data}. Each event is delivered at least once, with the same webhook-id, in order per file, " +
  "and retried for 24 hours. A response of 2xx counts as delivered.";

export const create = (): RouteDocs => ({
  tag: "Webhooks",
  summary: "Create a webhook",
  description:
    `${RULES} user.created is for administrators only. At most 20 webhooks per account. An API key with ` +
    "`profile` manages webhooks, for events that it may read: files:read for files and folders, shares, admin " +
    "for accounts.",
  status: 201,
  data: WebhookWithSecret,
  errors: ["forbidden_target", "invalid_request", "role"],
});

export const list = (): RouteDocs => ({
  tag: "Webhooks",
  summary: "List your webhooks",
  description: "The secrets are not included: each is shown once, when it is created.",
  data: t.Object({ webhooks: t.Array(WebhookRecord) }),
});

export const get = (): RouteDocs => ({
  tag: "Webhooks",
  summary: "Get a webhook",
  description: "Includes its state (active or stopped) and the number of waiting deliveries.",
  data: WebhookRecord,
  errors: ["not_found", "invalid_field"],
});

export const update = (): RouteDocs => ({
  tag: "Webhooks",
  summary: "Change a webhook",
  description:
    "Changes its address, events or state. Waiting deliveries are tried at once. Events are not recorded while " +
    "the webhook is not active.",
  data: WebhookRecord,
  errors: ["not_found", "forbidden_target", "role"],
});

export const remove = (): RouteDocs => ({
  tag: "Webhooks",
  summary: "Delete a webhook and its waiting deliveries",
  description: "Viewers may do this too.",
  data: t.Object({ id: t.String() }),
  errors: ["not_found", "invalid_field"],
});

export const renewSecret = (): RouteDocs => ({
  tag: "Webhooks",
  summary: "Create a new signing secret",
  description: "For 24 hours, deliveries carry the signatures of both secrets, the new one first.",
  data: WebhookWithSecret,
  errors: ["not_found", "invalid_field"],
});

export const sendTest = (): RouteDocs => ({
  tag: "Webhooks",
  summary: "Send the event webhook.test now",
  description:
    "Sent once, also if the webhook is not active. Within 15 seconds the response says whether it was delivered " +
    "or failed. It includes nothing of the target's response.",
  data: DeliveryRecord,
  errors: ["not_found", "invalid_field", "overloaded"],
});

export const listDeliveries = (): RouteDocs => ({
  tag: "Webhooks",
  summary: "List the deliveries of a webhook, newest first",
  description:
    "Waiting and past deliveries, retained for 30 days. Of the target's responses, only the status is included.",
  query: {
    status: { type: "string", enum: ["queued", "delivered", "failed"] },
    page: { type: "integer", minimum: 1, default: 1 },
    limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
  },
  data: DeliveriesRecord,
  errors: ["not_found", "invalid_field"],
});
