import { ok } from "../../../http/envelope.ts";
import { IdParams, queryOf, readChoice } from "../../../http/fields.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import type { FavoriteService } from "../../library/favorites/service.ts";
import { presentContextOf } from "../../library/files/present.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { presentReceived } from "./present.ts";
import { RECEIVED_SORTS, sortReceived } from "./sort.ts";
import type { ReceivedShareService } from "./service.ts";

/** Dependencies of the routes of received shares. */
interface ReceivedShareRoutesOptions {
  readonly received: ReceivedShareService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly hasThumbnail: (file: FileNode) => boolean;
  /** Finds the nodes that the caller marked. */
  readonly favorites: Pick<FavoriteService, "among">;
  readonly tree: Pick<TreeReader, "folderSizes">;
}

/** /api/shares/received: what others share with this account. */
export function receivedShareRoutes({ received, guard, hasThumbnail, favorites, tree }: ReceivedShareRoutesOptions) {
  return new Router({ prefix: "/api/shares/received", guard })
    .get(
      "/",
      { access: "reader", scope: "shares", rate: "operations", audit: "unaudited", docs: docs.list },
      async ({ principal, request }) => {
        const { user } = principal;
        const query = queryOf(request);
        const sort = readChoice(query["sort"], "sort", RECEIVED_SORTS) ?? "createdAt";
        const order = readChoice(query["order"], "order", ["asc", "desc"]) ?? (sort === "createdAt" ? "desc" : "asc");
        const shares = sortReceived(await received.listAll(user), sort, order);
        const nodes = shares.flatMap((share) => ("node" in share ? [share.node] : []));
        const marked = favorites.among(user, nodes);
        const context = presentContextOf(request, hasThumbnail, marked, undefined, tree.folderSizes(nodes));
        return ok({ shares: shares.map((share) => presentReceived(share, context)) });
      },
    )
    .delete(
      "/:id",
      {
        access: "writer",
        scope: "shares",
        rate: "operations",
        audit: { action: "share.leave", target: "share", targetParam: "id" },
        docs: docs.leave,
        params: IdParams,
      },
      async ({ principal, params }) => {
        await received.leave(principal.user, params.id);
        return ok({ id: params.id }, "You left this share. The owner can share it with you again.");
      },
    );
}
