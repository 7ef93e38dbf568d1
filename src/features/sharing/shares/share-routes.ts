/** Shares, for their owners. */
import { ok, paginate } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { IdParams, readChoice, readInteger, queryOf } from "../../../http/fields.ts";
import { type Clock, toTimestamp } from "../../../lib/clock.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { presentShareMark } from "../../library/files/present.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { CreateShareBody, UpdateShareBody } from "./model.ts";
import { type CoveringFoldersOptions, coveringFolders } from "./covering-folders.ts";
import { isForMany } from "./people-shares.ts";
import { folderTitle, presentShare } from "./present.ts";
import type { ShareService } from "./service.ts";
import { type OwnShare, SHARE_SORTS } from "./types.ts";

/** Dependencies of the routes of shares. */
export interface ShareRoutesOptions extends CoveringFoldersOptions {
  readonly shares: ShareService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly clock: Clock;
}

/** Beyond any list; page × limit stays exact. */
const PAGE_MAX = Math.floor(Number.MAX_SAFE_INTEGER / 1000);
const READ_SHARES = { access: "reader", scope: "shares", rate: "operations", audit: "unaudited" } as const;
const CHANGE_SHARES = { access: "writer", scope: "shares", rate: "operations" } as const;

/** /api/files/{id}/shares, /api/files/folders/{id}/shares, /api/albums/{id}/shares */
export function nodeShareRoutes(options: ShareRoutesOptions) {
  const { shares, guard } = options;
  const router = new Router({ guard });
  const paths = {
    file: "/api/files/:id/shares",
    folder: "/api/files/folders/:id/shares",
    album: "/api/albums/:id/shares",
  } as const;
  for (const type of ["file", "folder", "album"] as const) {
    router
      .post(
        paths[type],
        {
          ...CHANGE_SHARES,
          audit: { action: "share.create", target: "share" },
          docs: () => docs.createShare(type),
          params: IdParams,
          body: CreateShareBody,
          isBodyOptional: true,
        },
        async ({ principal, params, body, request, set }) => {
          set.status = 201;
          if (isForMany(body)) {
            const made = await shares.createForMany(principal.user, { type, id: params.id }, body);
            return ok({ shares: made.shares.map((own) => present(shares, request, own)), updated: made.updated });
          }
          const own = await shares.create(principal.user, { type, id: params.id }, body);
          return ok(present(shares, request, own));
        },
      )
      .get(
        paths[type],
        { ...READ_SHARES, docs: () => docs.listSharesOf(type), params: IdParams },
        ({ principal, params, request }) => {
          const listed = shares.listOf(principal.user, { type, id: params.id });
          const covering = type === "album" ? [] : coveringFolders(options, principal.user, params.id);
          return ok({
            shares: listed.map((own) => present(shares, request, own)),
            inherited: covering.map(presentCovering),
          });
        },
      );
  }
  return router;
}

/** /api/shares */
export function shareRoutes({ shares, guard, clock }: ShareRoutesOptions) {
  return new Router({ guard })
    .get("/api/shares", { ...READ_SHARES, docs: docs.listShares }, async ({ principal, request }) => {
      const query = queryOf(request);
      const page = readInteger(query, "page", { min: 1, max: PAGE_MAX, default: 1 });
      const limit = readInteger(query, "limit", { min: 1, max: 100, default: 20 });
      const sort = readChoice(query["sort"], "sort", SHARE_SORTS) ?? "createdAt";
      const order = readChoice(query["order"], "order", ["asc", "desc"]) ?? (sort === "createdAt" ? "desc" : "asc");
      const found = await shares.list(principal.user, { sort, order, offset: (page - 1) * limit, limit });
      return ok({
        shares: found.shares.map((own) => present(shares, request, own)),
        pagination: paginate(page, limit, found.total),
      });
    })
    .get(
      "/api/shares/:id",
      {
        ...READ_SHARES,
        docs: docs.getShare,
        params: IdParams,
      },
      ({ principal, params, request }) => ok(present(shares, request, shares.get(principal.user, params.id))),
    )
    .patch(
      "/api/shares/:id",
      {
        ...CHANGE_SHARES,
        audit: { action: "share.change", target: "share", targetParam: "id" },
        docs: docs.updateShare,
        params: IdParams,
        body: UpdateShareBody,
      },
      async ({ principal, params, body, request }) =>
        ok(present(shares, request, await shares.update(principal.user, params.id, body))),
    )
    .delete(
      "/api/shares/:id",
      {
        // Users who may no longer share can still revoke their earlier shares, which stay open.
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

function presentCovering({ folder, mark }: ReturnType<typeof coveringFolders>[number]) {
  return { id: folder.publicId, name: folderTitle(folder), path: folder.path, ...presentShareMark(mark) };
}

function present(shares: ShareService, request: Request, own: OwnShare) {
  return presentShare(own, {
    baseUrl: requestContextOf(request).baseUrl,
    token: shares.tokenOf(own.share),
    counts: shares.countsOf(own.share),
  });
}
