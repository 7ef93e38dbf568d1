import { ok, paginate } from "../../../http/envelope.ts";
import { IdParams, readChoice, readInteger, queryOf, type Query } from "../../../http/fields.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import type { FavoriteService } from "../favorites/service.ts";
import { presentContextOf, presentDeleted, presentItem, presentOutcomes } from "../files/present.ts";
import { TRASH_SORTS } from "../../../tree/queries/trash-list.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { CHANGE_FILES, READ_FILES } from "../../accounts/routing/declaration.ts";
import { Router } from "../../accounts/routing/router.ts";
import { doneOf } from "../files/outcomes.ts";
import * as docs from "./openapi.ts";
import { TrashBody } from "./model.ts";
import { presentTrashed } from "./present.ts";
import type { TrashService } from "./service.ts";

/** Dependencies of the trash routes. */
export interface TrashRoutesOptions {
  readonly trash: TrashService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly clock: Clock;
  readonly hasThumbnail: (file: FileNode) => boolean;
  /** Finds the nodes that the caller marked. */
  readonly favorites: Pick<FavoriteService, "among">;
  /** Disables the idle timeout of a request. */
  readonly allowLong: (request: Request) => void;
}

/** Beyond any list; page × limit stays exact. */
const PAGE_MAX = Math.floor(Number.MAX_SAFE_INTEGER / 1000);

/** Files in the trash can't be downloaded, nor their thumbnails. */
const inTrash = (request: Request) => presentContextOf(request, () => false);

function readOrder(query: Query) {
  const sort = readChoice(query["sort"], "sort", TRASH_SORTS) ?? "deletedAt";
  const order = readChoice(query["order"], "order", ["asc", "desc"]) ?? (sort === "deletedAt" ? "desc" : "asc");
  return { sort, order };
}

/** /api/files/trash */
export function trashRoutes({ trash, guard, clock, hasThumbnail, favorites, allowLong }: TrashRoutesOptions) {
  return new Router({ prefix: "/api/files/trash", guard })
    .post(
      "/",
      {
        ...CHANGE_FILES,
        audit: { action: "file.trash", files: "all" },
        docs: docs.moveToTrash,
        body: TrashBody,
      },
      async ({ principal, body, request }) => {
        const outcomes = await trash.put(principal.user, body.fileIds);
        const { done, failed } = presentOutcomes(request, outcomes, (entry) => presentTrashed(entry, inTrash(request)));
        return ok({ trashed: done, failed });
      },
    )
    .get("/", { ...READ_FILES, docs: docs.list }, async ({ principal, request }) => {
      const query = queryOf(request);
      const page = readInteger(query, "page", { min: 1, max: PAGE_MAX, default: 1 });
      const limit = readInteger(query, "limit", { min: 1, max: 100, default: 20 });
      const offset = (page - 1) * limit;
      const { entries, total } = await trash.list(principal.user, { ...readOrder(query), offset, limit });
      return ok({
        files: entries.map((entry) => presentTrashed(entry, inTrash(request))),
        pagination: paginate(page, limit, total),
      });
    })
    .post(
      "/restore",
      {
        ...CHANGE_FILES,
        audit: { action: "file.untrash", files: "all" },
        docs: docs.restore,
        body: TrashBody,
      },
      async ({ principal, body, request }) => {
        const { user } = principal;
        const outcomes = await trash.restore(user, body.fileIds);
        const context = presentContextOf(request, hasThumbnail, favorites.among(user, doneOf(outcomes)));
        const { done, failed } = presentOutcomes(request, outcomes, (node) => presentItem(node, context));
        return ok({ restored: done, failed });
      },
    )
    .delete(
      "/",
      {
        ...CHANGE_FILES,
        audit: { action: "trash.empty", files: "changes" },
        docs: docs.empty,
      },
      async ({ principal, request }) => {
        allowLong(request);
        return ok({ deleted: await trash.empty(principal.user) }, "The trash is empty.");
      },
    )
    .delete(
      "/:id",
      {
        ...CHANGE_FILES,
        audit: { action: "trash.empty", files: "changes" },
        docs: docs.remove,
        params: IdParams,
      },
      async ({ principal, params }) => {
        const { node } = await trash.purge(principal.user, params.id);
        return ok(presentDeleted(node, clock), "Deleted permanently from the trash.");
      },
    );
}
