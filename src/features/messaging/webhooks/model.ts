/** Request and response bodies of the webhook routes. */
import { t } from "elysia";
import { ref } from "../../../http/documented.ts";
import { Timestamp } from "../../../http/fields.ts";
import { WEBHOOK_EVENTS } from "./types.ts";

const Url = t.String({
  minLength: 1,
  maxLength: 2_000,
  // URL parsers ignore white space and line breaks, but the address is stored as it was sent.
  pattern: "^\\S+$",
  description: "https://, without credentials; private addresses only if the operator allows them",
  examples: ["https://hooks.example.org/larder"],
});
/** The name of an event. */
export const WebhookEventName = t.Union(WEBHOOK_EVENTS.map((event) => t.Literal(event)));
const Events = t.Array(WebhookEventName, { minItems: 1, maxItems: 50 });

/** Body of POST /api/webhooks. */
export const CreateBody = t.Object({ url: Url, events: Events, active: t.Optional(t.Boolean()) });

/** Body of PATCH /api/webhooks/{id}. */
export const UpdateBody = t.Partial(t.Object({ url: Url, events: Events, active: t.Boolean() }));

/** A webhook. */
export const WebhookRecord = t.Object({
  id: t.String(),
  url: t.String(),
  events: t.Array(WebhookEventName),
  active: t.Boolean(),
  stoppedBecause: t.Union([t.String(), t.Null()], { description: "Why the server stopped it" }),
  failures: t.Number({ description: "Consecutive failed attempts" }),
  waiting: t.Number({ description: "Unfinished deliveries" }),
  dropped: t.Number({ description: "Events that were dropped because too many were waiting" }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});

/** A new webhook with its secret, which is shown only once. */
export const WebhookWithSecret = t.Intersect([
  WebhookRecord,
  t.Object({ secret: t.String({ description: "Shown only in this response: whsec_… of Standard Webhooks" }) }),
]);

/** One delivery. */
export const DeliveryRecord = t.Object({
  id: t.String({ description: "Also the webhook-id header" }),
  event: t.String(),
  status: t.String({ enum: ["queued", "delivered", "failed"] }),
  attempts: t.Number(),
  responseStatus: t.Union([t.Number(), t.Null()]),
  error: t.Union([t.String(), t.Null()]),
  createdAt: Timestamp,
  nextAttemptAt: t.Union([Timestamp, t.Null()]),
  finishedAt: t.Union([Timestamp, t.Null()]),
});

/** A page of deliveries. */
export const DeliveriesRecord = {
  type: "object",
  required: ["deliveries", "pagination"],
  properties: { deliveries: { type: "array", items: DeliveryRecord }, pagination: ref("Pagination") },
};
