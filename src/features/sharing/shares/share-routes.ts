/** Shares, for their owners. */
import type { Static } from "@sinclair/typebox";
import { ok, paginate } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { IdParams, readInteger, queryOf } from "../../../http/fields.ts";
import { type Clock, toTimestamp } from "../../../lib/clock.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import type { Principal } from "../../accounts/auth/principal.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { CreateShareBody, UpdateShareBody } from "./model.ts";
import { presentShare } from "./present.ts";
import type { ShareService, ShareTarget } from "./service.ts";
import type { OwnShare } from "./types.ts";

/** Dependencies of the routes of shares. */
export interface ShareRoutesOptions {
  readonly shares: ShareService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly clock: Clock;
}

/** /api/files/{id}/shares, /api/files/folders/{id}/shares, /api/shares */
export function shareRoutes({ shares, guard, clock }: ShareRoutesOptions) {
  const present = (request: Request, own: OwnShare) =>
    presentShare(own, {
      baseUrl: requestContextOf(request).baseUrl,
      token: shares.tokenOf(own.share),
      counts: shares.countsOf(own.share),
    });
  const create = async (
    principal: Principal,
    target: ShareTarget,
    body: Static<typeof CreateShareBody>,
    request: Request,
  ) => ok(present(request, await shares.create(principal.user, target, body)));
  const list = (principal: Principal, target: ShareTarget, request: Request) =>
    ok({ shares: shares.listOf(principal.user, target).map((own) => present(request, own)) });
  return new Router({ name: "share-routes", guard })
    .post(
      "/api/files/:id/shares",
      {
        access: "writer",
        scope: "shares",
        rate: "operations",
        audit: { action: "share.create", target: "share" },
        docs: () => docs.createShare("file"),
        params: IdParams,
        body: CreateShareBody,
        isBodyOptional: true,
      },
      ({ principal, params, body, request, set }) => {
        set.status = 201;
        return create(principal, { type: "file", id: params.id }, body, request);
      },
    )
    .get(
      "/api/files/:id/shares",
      {
        access: "reader",
        scope: "shares",
        rate: "operations",
        audit: "unaudited",
        docs: () => docs.listSharesOf("file"),
        params: IdParams,
      },
      ({ principal, params, request }) => list(principal, { type: "file", id: params.id }, request),
    )
    .post(
      "/api/files/folders/:id/shares",
      {
        access: "writer",
        scope: "shares",
        rate: "operations",
        audit: { action: "share.create", target: "share" },
        docs: () => docs.createShare("folder"),
        params: IdParams,
        body: CreateShareBody,
        isBodyOptional: true,
      },
      ({ principal, params, body, request, set }) => {
        set.status = 201;
        return create(principal, { type: "folder", id: params.id }, body, request);
      },
    )
    .get(
      "/api/files/folders/:id/shares",
      {
        access: "reader",
        scope: "shares",
        rate: "operations",
        audit: "unaudited",
        docs: () => docs.listSharesOf("folder"),
        params: IdParams,
      },
      ({ principal, params, request }) => list(principal, { type: "folder", id: params.id }, request),
    )
    .get(
      "/api/shares",
      { access: "reader", scope: "shares", rate: "operations", audit: "unaudited", docs: docs.listShares },
      ({ principal, request }) => {
        const query = queryOf(request);
        const page = readInteger(query, "page", { min: 1, max: Number.MAX_SAFE_INTEGER, default: 1 });
        const limit = readInteger(query, "limit", { min: 1, max: 100, default: 20 });
        const found = shares.list(principal.user, page, limit);
        return ok({
          shares: found.shares.map((own) => present(request, own)),
          pagination: paginate(page, limit, found.total),
        });
      },
    )
    .get(
      "/api/shares/:id",
      {
        access: "reader",
        scope: "shares",
        rate: "operations",
        audit: "unaudited",
        docs: docs.getShare,
        params: IdParams,
      },
      ({ principal, params, request }) => ok(present(request, shares.get(principal.user, params.id))),
    )
    .patch(
      "/api/shares/:id",
      {
        access: "writer",
        scope: "shares",
        rate: "operations",
        audit: { action: "share.change", target: "share", targetParam: "id" },
        docs: docs.updateShare,
        params: IdParams,
        body: UpdateShareBody,
      },
      async ({ principal, params, body, request }) =>
        ok(present(request, await shares.update(principal.user, params.id, body))),
    )
    .delete(
      "/api/shares/:id",
      {
        // Also for those who may not share any more: what they shared before is still open.
        access: "self",
        scope: "shares",
        rate: "operations",
        audit: { action: "share.revoke", target: "share", targetParam: "id" },
        docs: docs.revokeShare,
        params: IdParams,
      },
      async ({ principal, params }) => {
        const share = await shares.revoke(principal.user, params.id);
        return ok({ id: share.publicId, revokedAt: toTimestamp(clock.nowMs()) });
      },
    );
}
