import { ok, paginate } from "../../../http/envelope.ts";
import { queryOf, readChoice, readInteger } from "../../../http/fields.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { CHANGE_FILES } from "../../accounts/routing/declaration.ts";
import { Router } from "../../accounts/routing/router.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { LISTING_SORTS } from "../files/listing.ts";
import { presentContextOf, presentItem, presentOutcomes } from "../files/present.ts";
import { FavoriteBody } from "./model.ts";
import type { ShareMarks } from "../marks/share-marks.ts";
import * as docs from "./openapi.ts";
import type { FavoriteService } from "./service.ts";

/** Dependencies of the routes of favorites. */
export interface FavoriteRoutesOptions {
  readonly favorites: FavoriteService;
  readonly shareMarks: Pick<ShareMarks, "among">;
  readonly tree: TreeReader;
  readonly guard: ReturnType<typeof authGuard>;
  readonly hasThumbnail: (file: FileNode) => boolean;
}

/** Beyond any list; page × limit stays exact. */
const PAGE_MAX = Math.floor(Number.MAX_SAFE_INTEGER / 1000);

/** /api/favorites */
export function favoriteRoutes({ favorites, shareMarks, tree, guard, hasThumbnail }: FavoriteRoutesOptions) {
  return new Router({ prefix: "/api/favorites", guard })
    .get(
      "/",
      { access: "reader", scope: "files:read", rate: "listing", audit: "unaudited", docs: docs.list },
      async ({ principal, request }) => {
        const query = queryOf(request);
        const page = readInteger(query, "page", { min: 1, max: PAGE_MAX, default: 1 });
        const limit = readInteger(query, "limit", { min: 1, max: 100, default: 20 });
        const sort = readChoice(query["sort"], "sort", LISTING_SORTS) ?? "name";
        const order = readChoice(query["order"], "order", ["asc", "desc"]) ?? "asc";
        const offset = (page - 1) * limit;
        const { favorites: found, total } = await favorites.list(principal.user, { sort, order, offset, limit });
        const nodes = found.map(({ node }) => node);
        const marked = new Set(nodes.map(({ id }) => id));
        const context = presentContextOf(
          request,
          hasThumbnail,
          marked,
          shareMarks.among(principal.user, nodes),
          tree.folderSizes(nodes),
        );
        return ok({
          favorites: found.map(({ node, ...rights }) => ({
            ...presentItem(node, context),
            isOwn: rights.permission === "own",
            ...rights,
          })),
          pagination: paginate(page, limit, total),
        });
      },
    )
    .post(
      "/",
      { ...CHANGE_FILES, audit: "unaudited", docs: docs.change, body: FavoriteBody },
      async ({ principal, body, request }) => {
        const outcomes = await favorites.change(principal.user, body.ids, body.favorite);
        const { done, failed } = presentOutcomes(request, outcomes, (_node, id) => id);
        return ok({ changed: done, failed });
      },
    );
}
