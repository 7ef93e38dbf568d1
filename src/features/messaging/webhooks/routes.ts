import { Elysia, t } from "elysia";
import { invalidField } from "../../../errors.ts";
import { documented } from "../../../http/documented.ts";
import { ok, paginate } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { IdParams, readChoice, readInteger, readQuery } from "../../../http/fields.ts";
import { type authGuard, requireScope, takesJson } from "../../accounts/auth/guard.ts";
import type { Principal } from "../../accounts/auth/principal.ts";
import type { Scope } from "../../accounts/auth/scopes.ts";
import { CreateBody, DeliveriesRecord, DeliveryRecord, UpdateBody, WebhookRecord, WebhookWithSecret } from "./model.ts";
import { presentDelivery, presentWebhook, presentWithSecret } from "./present.ts";
import type { WebhookService } from "./service.ts";
import type { WebhookEvent } from "./types.ts";

/** What the routes of webhooks work with. */
export interface WebhookRoutesOptions {
  readonly webhooks: WebhookService;
  readonly guard: ReturnType<typeof authGuard>;
  /** Lets a request take as long as it needs: a trial waits for a stranger's server. */
  readonly allowLong: (request: Request) => void;
}

const RULES =
  "Deliveries follow Standard Webhooks: headers webhook-id, webhook-timestamp and webhook-signature, body {type, " +
  "timestamp, data}. At least once, under the same webhook-id; in order per file; tried for 24 hours; answers of 2xx count.";
const PAGE_MAX = Math.floor(Number.MAX_SAFE_INTEGER / 1000);

/** /api/webhooks (contract §8). */
export function webhookRoutes({ webhooks, guard, allowLong }: WebhookRoutesOptions) {
  return new Elysia({ name: "webhook-routes", prefix: "/api/webhooks" })
    .use(guard)
    .post(
      "/",
      async ({ principal, body, set }) => {
        const { url, events, active: isActive = true } = body;
        requireScopes(principal, events);
        const created = await webhooks.create(principal.user, { url, events, isActive });
        set.status = 201;
        return ok(presentWithSecret(created));
      },
      {
        ...takesJson("writer", CreateBody),
        ...documented({
          takesJson: true,
          tag: "Webhooks",
          summary: "Let an address be told of what happens in the account",
          description:
            `${RULES} user.created is for administrators. At most 20 an account. An API key with \`profile\` manages ` +
            "webhooks, and sets them up for what it may read: files:read for files and folders, shares, admin for accounts.",
          access: "writer",
          status: 201,
          data: WebhookWithSecret,
          errors: ["forbidden_target", "invalid_request", "role"],
        }),
      },
    )
    .get("/", ({ principal }) => ok({ webhooks: webhooks.list(principal.user).map(presentWebhook) }), {
      access: "reader",
      ...documented({
        tag: "Webhooks",
        summary: "One's own webhooks",
        description: "Without their secrets: those are shown once, when they are created.",
        access: "reader",
        data: t.Object({ webhooks: t.Array(WebhookRecord) }),
      }),
    })
    .get("/:id", ({ principal, params }) => ok(presentWebhook(webhooks.get(principal.user, params.id))), {
      access: "reader",
      params: IdParams,
      ...documented({
        tag: "Webhooks",
        summary: "One webhook",
        description: "With its state: active, stopped, and how many deliveries wait.",
        access: "reader",
        data: WebhookRecord,
        errors: ["not_found", "invalid_field"],
      }),
    })
    .patch(
      "/:id",
      async ({ principal, params, body }) => {
        const { url, events, active: isActive } = body;
        if (url === undefined && events === undefined && isActive === undefined) {
          throw invalidField("body", "There is nothing to change. Give url, events or active.");
        }
        requireScopes(principal, events ?? webhooks.get(principal.user, params.id).events);
        return ok(presentWebhook(await webhooks.update(principal.user, params.id, { url, events, isActive })));
      },
      {
        ...takesJson("writer", UpdateBody),
        params: IdParams,
        ...documented({
          takesJson: true,
          tag: "Webhooks",
          summary: "Change address, events or state of a webhook",
          description: "What waits for it is tried at once. Events are not recorded while it is not active.",
          access: "writer",
          data: WebhookRecord,
          errors: ["not_found", "forbidden_target", "role"],
        }),
      },
    )
    .delete(
      "/:id",
      async ({ principal, params }) => {
        await webhooks.remove(principal.user, params.id);
        return ok({ id: params.id }, "The webhook is deleted; nothing more is sent to it.");
      },
      {
        // Also for those who may not make one any more: it sends what happens in their account elsewhere.
        access: "self",
        params: IdParams,
        ...documented({
          tag: "Webhooks",
          summary: "Delete a webhook, with what waits for it",
          description: "Viewers may do this, too.",
          access: "self",
          data: t.Object({ id: t.String() }),
          errors: ["not_found", "invalid_field"],
        }),
      },
    )
    .post(
      "/:id/secret",
      async ({ principal, params }) => ok(presentWithSecret(await webhooks.renewSecret(principal.user, params.id))),
      {
        access: "writer",
        parse: "none",
        params: IdParams,
        ...documented({
          tag: "Webhooks",
          summary: "A new signing secret",
          description: "For 24 hours deliveries carry the signatures of both, the new one first.",
          access: "writer",
          data: WebhookWithSecret,
          errors: ["not_found", "invalid_field"],
        }),
      },
    )
    .post(
      "/:id/test",
      async ({ principal, params, request }) => {
        allowLong(request);
        return ok(presentDelivery(await webhooks.test(principal.user, params.id)));
      },
      {
        access: "writer",
        parse: "none",
        params: IdParams,
        ...documented({
          tag: "Webhooks",
          summary: "Send webhook.test now",
          description:
            "Once, also where the webhook is not active. The response says within 15 seconds whether it was delivered or failed, " +
            "and nothing of the target's response.",
          access: "writer",
          data: DeliveryRecord,
          errors: ["not_found", "invalid_field", "overloaded"],
        }),
      },
    )
    .get(
      "/:id/deliveries",
      ({ principal, params, request }) => {
        const query = readQuery(requestContextOf(request).query);
        const state = readChoice(query["status"], "status", ["queued", "delivered", "failed"]);
        const page = readInteger(query, "page", { min: 1, max: PAGE_MAX, default: 1 });
        const limit = readInteger(query, "limit", { min: 1, max: 100, default: 20 });
        const found = webhooks.deliveries(principal.user, params.id, { state, offset: (page - 1) * limit, limit });
        return ok({
          deliveries: found.deliveries.map(presentDelivery),
          pagination: paginate(page, limit, found.total),
        });
      },
      {
        access: "reader",
        params: IdParams,
        ...documented({
          tag: "Webhooks",
          summary: "What was and is to be sent, newest first",
          description: "Kept for 30 days. Of answers only the status is told.",
          access: "reader",
          query: {
            status: { type: "string", enum: ["queued", "delivered", "failed"] },
            page: { type: "integer", minimum: 1, default: 1 },
            limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
          },
          data: DeliveriesRecord,
          errors: ["not_found", "invalid_field"],
        }),
      },
    );
}

/** The scope that an API key needs to read by itself what an event tells; none beyond that of this feature where absent. */
const EVENT_SCOPES: Readonly<Record<string, Scope>> = {
  file: "files:read",
  folder: "files:read",
  share: "shares",
  user: "admin",
};

/**
 * A webhook tells no more than the API key that sets it up may read: it would even go on when the key is deleted.
 * @throws AppError scope
 */
function requireScopes(principal: Principal, events: readonly WebhookEvent[]): void {
  for (const event of events) {
    const scope = EVENT_SCOPES[event.slice(0, event.indexOf("."))];
    if (scope !== undefined) requireScope(principal, scope);
  }
}
