/** Shares as their owners manage them (contract §5). */
import { Elysia } from "elysia";
import type { Static } from "@sinclair/typebox";
import { documented, ref } from "../../../http/documented.ts";
import { ok, paginate } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { IdParams, readInteger, readQuery } from "../../../http/fields.ts";
import { type Clock, toTimestamp } from "../../../lib/clock.ts";
import { type authGuard, takesJson } from "../../accounts/auth/guard.ts";
import type { Principal } from "../../accounts/auth/principal.ts";
import { CreateShareBody, RevokedRecord, SharePageRecord, SharesRecord, UpdateShareBody } from "./model.ts";
import { presentShare } from "./present.ts";
import type { ShareService, ShareTarget } from "./service.ts";
import type { OwnShare } from "./types.ts";

/** What the routes of shares work with. */
export interface ShareRoutesOptions {
  readonly shares: ShareService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly clock: Clock;
}

const CREATE_DESCRIPTION =
  "A link that opens without an account, or, with user, a share for one other account. There may be several. The link can be seen again in the lists.";

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
  return new Elysia({ name: "share-routes" })
    .use(guard)
    .post(
      "/api/files/:id/shares",
      ({ principal, params, body, request, set }) => {
        set.status = 201;
        return create(principal, { type: "file", id: params.id }, body, request);
      },
      { ...takesJson("writer", CreateShareBody, false), params: IdParams, ...documentedCreate("file") },
    )
    .get(
      "/api/files/:id/shares",
      ({ principal, params, request }) => list(principal, { type: "file", id: params.id }, request),
      { access: "reader", params: IdParams, ...documentedList("file") },
    )
    .post(
      "/api/files/folders/:id/shares",
      ({ principal, params, body, request, set }) => {
        set.status = 201;
        return create(principal, { type: "folder", id: params.id }, body, request);
      },
      { ...takesJson("writer", CreateShareBody, false), params: IdParams, ...documentedCreate("folder") },
    )
    .get(
      "/api/files/folders/:id/shares",
      ({ principal, params, request }) => list(principal, { type: "folder", id: params.id }, request),
      { access: "reader", params: IdParams, ...documentedList("folder") },
    )
    .get(
      "/api/shares",
      ({ principal, request }) => {
        const query = readQuery(requestContextOf(request).query);
        const page = readInteger(query, "page", { min: 1, max: Number.MAX_SAFE_INTEGER, default: 1 });
        const limit = readInteger(query, "limit", { min: 1, max: 100, default: 20 });
        const found = shares.list(principal.user, page, limit);
        return ok({
          shares: found.shares.map((own) => present(request, own)),
          pagination: paginate(page, limit, found.total),
        });
      },
      {
        access: "reader",
        ...documented({
          tag: "Shares",
          summary: "All shares that one has made, newest first",
          description: "Links, drop boxes and shares with accounts, with their statistics.",
          access: "reader",
          query: {
            page: { type: "integer", minimum: 1, default: 1 },
            limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
          },
          data: SharePageRecord,
          errors: ["invalid_field"],
        }),
      },
    )
    .get(
      "/api/shares/:id",
      ({ principal, params, request }) => ok(present(request, shares.get(principal.user, params.id))),
      {
        access: "reader",
        params: IdParams,
        ...documented({
          tag: "Shares",
          summary: "A share, with its link and what was counted of it",
          description: "Only the owner of a share sees it here.",
          access: "reader",
          data: ref("Share"),
          errors: ["not_found"],
        }),
      },
    )
    .patch(
      "/api/shares/:id",
      async ({ principal, params, body, request }) =>
        ok(present(request, await shares.update(principal.user, params.id, body))),
      {
        ...takesJson("writer", UpdateShareBody),
        params: IdParams,
        ...documented({
          tag: "Shares",
          summary: "Change a share",
          description:
            "null clears a field. Visitors who entered its password must enter it again. The link of a public file has no settings but its label. Without a confirmed e-mail a share can only be tightened: what lets anybody do more is 403 email_unconfirmed.",
          access: "writer",
          takesJson: true,
          data: ref("Share"),
          errors: ["invalid_field", "invalid_request", "not_found", "email_unconfirmed"],
        }),
      },
    )
    .delete(
      "/api/shares/:id",
      async ({ principal, params }) => {
        const share = await shares.revoke(principal.user, params.id);
        return ok({ id: share.publicId, revokedAt: toTimestamp(clock.nowMs()) });
      },
      {
        // Also for those who may not share any more: what they shared before is still open.
        access: "self",
        params: IdParams,
        ...documented({
          tag: "Shares",
          summary: "End a share, at once",
          description: "Ending the link of a public file makes the file private. Viewers may do this, too.",
          access: "self",
          data: RevokedRecord,
          errors: ["not_found"],
        }),
      },
    );
}

function documentedCreate(what: string) {
  return documented({
    tag: "Shares",
    summary: `Share a ${what}`,
    description: CREATE_DESCRIPTION,
    access: "writer",
    takesJson: true,
    status: 201,
    data: ref("Share"),
    errors: ["invalid_field", "invalid_request", "not_found", "share_permission", "email_unconfirmed"],
  });
}

function documentedList(what: string) {
  return documented({
    tag: "Shares",
    summary: `The shares of a ${what}`,
    description: "Links, drop boxes and shares with accounts that the caller has made.",
    access: "reader",
    data: SharesRecord,
    errors: ["not_found", "share_permission"],
  });
}
