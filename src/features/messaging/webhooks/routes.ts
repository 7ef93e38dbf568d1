import { invalidField } from "../../../errors.ts";
import { ok, paginate } from "../../../http/envelope.ts";
import { IdParams, readChoice, readInteger, queryOf } from "../../../http/fields.ts";
import { say } from "../../../translations/say.ts";
import { type authGuard, requireScope } from "../../accounts/auth/guard.ts";
import type { Principal } from "../../accounts/auth/principal.ts";
import type { Scope } from "../../accounts/auth/scopes.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { CreateBody, UpdateBody } from "./model.ts";
import { presentDelivery, presentWebhook, presentWithSecret } from "./present.ts";
import type { WebhookService } from "./service.ts";
import type { WebhookEvent } from "./types.ts";

/** Dependencies of {@link webhookRoutes} and {@link deliveryRoutes}. */
export interface WebhookRoutesOptions {
  readonly webhooks: WebhookService;
  readonly guard: ReturnType<typeof authGuard>;
  /** Exempts a request from the time limit: a test waits for the webhook's target. */
  readonly allowLong: (request: Request) => void;
}
const PAGE_MAX = Math.floor(Number.MAX_SAFE_INTEGER / 1000);

/** Routes that create, list, change and delete webhooks. */
export function webhookRoutes({ webhooks, guard }: WebhookRoutesOptions) {
  return new Router({ prefix: "/api/webhooks", guard })
    .post(
      "/",
      {
        access: "writer",
        scope: "profile",
        rate: "general",
        audit: { action: "webhook.create", target: "webhook" },
        docs: docs.create,
        body: CreateBody,
      },
      async ({ principal, body, set }) => {
        const { url, events, active: isActive = true } = body;
        requireScopes(principal, events);
        const created = await webhooks.create(principal.user, { url, events, isActive });
        set.status = 201;
        return ok(presentWithSecret(created));
      },
    )
    .get(
      "/",
      { access: "reader", scope: "profile", rate: "general", audit: "unaudited", docs: docs.list },
      ({ principal }) => ok({ webhooks: webhooks.list(principal.user).map(presentWebhook) }),
    )
    .get(
      "/:id",
      { access: "reader", scope: "profile", rate: "general", audit: "unaudited", docs: docs.get, params: IdParams },
      ({ principal, params }) => ok(presentWebhook(webhooks.get(principal.user, params.id))),
    )
    .patch(
      "/:id",
      {
        access: "writer",
        scope: "profile",
        rate: "general",
        audit: { action: "webhook.change", target: "webhook", targetParam: "id" },
        docs: docs.update,
        params: IdParams,
        body: UpdateBody,
      },
      async ({ principal, params, body }) => {
        const { url, events, active: isActive } = body;
        if (url === undefined && events === undefined && isActive === undefined) {
          throw invalidField("body", say`The request contains no changes. Send url, events or active.`);
        }
        requireScopes(principal, events ?? webhooks.get(principal.user, params.id).events);
        return ok(presentWebhook(await webhooks.update(principal.user, params.id, { url, events, isActive })));
      },
    )
    .delete(
      "/:id",
      {
        // Also for users who may no longer create webhooks: they must be able to stop sending events elsewhere.
        access: "self",
        scope: "profile",
        rate: "general",
        audit: { action: "webhook.delete", target: "webhook", targetParam: "id" },
        docs: docs.remove,
        params: IdParams,
      },
      async ({ principal, params }) => {
        await webhooks.remove(principal.user, params.id);
        return ok({ id: params.id }, "The webhook was deleted. No more events are sent to it.");
      },
    );
}

/** Routes for the secret, the test and the deliveries of a webhook. */
export function deliveryRoutes({ webhooks, guard, allowLong }: WebhookRoutesOptions) {
  return new Router({ prefix: "/api/webhooks", guard })
    .post(
      "/:id/secret",
      {
        access: "writer",
        scope: "profile",
        rate: "general",
        audit: { action: "webhook.new_secret", target: "webhook", targetParam: "id" },
        docs: docs.renewSecret,
        params: IdParams,
        parse: "none",
      },
      async ({ principal, params }) => ok(presentWithSecret(await webhooks.renewSecret(principal.user, params.id))),
    )
    .post(
      "/:id/test",
      {
        access: "writer",
        scope: "profile",
        rate: "general",
        audit: "unaudited",
        docs: docs.sendTest,
        params: IdParams,
        parse: "none",
      },
      async ({ principal, params, request }) => {
        allowLong(request);
        return ok(presentDelivery(await webhooks.test(principal.user, params.id)));
      },
    )
    .get(
      "/:id/deliveries",
      {
        access: "reader",
        scope: "profile",
        rate: "general",
        audit: "unaudited",
        docs: docs.listDeliveries,
        params: IdParams,
      },
      ({ principal, params, request }) => {
        const query = queryOf(request);
        const state = readChoice(query["status"], "status", ["queued", "delivered", "failed"]);
        const page = readInteger(query, "page", { min: 1, max: PAGE_MAX, default: 1 });
        const limit = readInteger(query, "limit", { min: 1, max: 100, default: 20 });
        const found = webhooks.deliveries(principal.user, params.id, { state, offset: (page - 1) * limit, limit });
        return ok({
          deliveries: found.deliveries.map(presentDelivery),
          pagination: paginate(page, limit, found.total),
        });
      },
    );
}

/** The scope that an API key needs to read the data of these events directly; other events need none. */
const EVENT_SCOPES: Readonly<Record<string, Scope>> = {
  file: "files:read",
  folder: "files:read",
  share: "shares",
  user: "admin",
};

/**
 * Rejects events that the API key may not read: the webhook would send them even after the key is deleted.
 * @throws AppError scope
 */
function requireScopes(principal: Principal, events: readonly WebhookEvent[]): void {
  for (const event of events) {
    const scope = EVENT_SCOPES[event.slice(0, event.indexOf("."))];
    if (scope !== undefined) requireScope(principal, scope);
  }
}
