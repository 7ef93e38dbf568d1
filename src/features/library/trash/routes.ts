import { ok, paginate } from "../../../http/envelope.ts";
import { errorItem } from "../../../http/error-response.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { IdParams, readInteger, queryOf } from "../../../http/fields.ts";
import { type Clock, toTimestamp } from "../../../lib/clock.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { type PresentContext, presentItem } from "../files/present.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { TrashBody } from "./model.ts";
import { presentTrashed } from "./present.ts";
import type { TrashOutcome, TrashService } from "./service.ts";

/** What the trash routes work with. */
export interface TrashRoutesOptions {
  readonly trash: TrashService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly clock: Clock;
  readonly hasThumbnail: (file: FileNode) => boolean;
  /** Lets a request take as long as it needs. */
  readonly allowLong: (request: Request) => void;
}

/** /api/files/trash */
export function trashRoutes({ trash, guard, clock, hasThumbnail, allowLong }: TrashRoutesOptions) {
  const contextOf = (request: Request): PresentContext => ({
    baseUrl: requestContextOf(request).baseUrl,
    hasThumbnail,
  });
  // Nothing in the trash can be downloaded, and no thumbnail of it.
  const inTrash = (request: Request): PresentContext => ({ ...contextOf(request), hasThumbnail: () => false });

  return new Router({ name: "trash-routes", prefix: "/api/files/trash", guard })
    .post(
      "/",
      {
        access: "writer",
        scope: "files:write",
        rate: "operations",
        audit: { action: "file.trash", files: "all" },
        docs: docs.moveToTrash,
        body: TrashBody,
      },
      async ({ principal, body, request }) => {
        const outcomes = await trash.put(principal.user, body.fileIds);
        const { done, failed } = presentOutcomes(outcomes, (entry) => presentTrashed(entry, inTrash(request)));
        return ok({ trashed: done, failed });
      },
    )
    .get(
      "/",
      { access: "reader", scope: "files:read", rate: "operations", audit: "unaudited", docs: docs.list },
      ({ principal, request }) => {
        const query = queryOf(request);
        const page = readInteger(query, "page", { min: 1, max: Number.MAX_SAFE_INTEGER, default: 1 });
        const limit = readInteger(query, "limit", { min: 1, max: 100, default: 20 });
        const { entries, total } = trash.list(principal.user, page, limit);
        return ok({
          files: entries.map((entry) => presentTrashed(entry, inTrash(request))),
          pagination: paginate(page, limit, total),
        });
      },
    )
    .post(
      "/restore",
      {
        access: "writer",
        scope: "files:write",
        rate: "operations",
        audit: { action: "file.untrash", files: "all" },
        docs: docs.restore,
        body: TrashBody,
      },
      async ({ principal, body, request }) => {
        const outcomes = await trash.restore(principal.user, body.fileIds);
        const { done, failed } = presentOutcomes(outcomes, (node) => presentItem(node, contextOf(request)));
        return ok({ restored: done, failed });
      },
    )
    .delete(
      "/",
      {
        access: "writer",
        scope: "files:write",
        rate: "operations",
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
        access: "writer",
        scope: "files:write",
        rate: "operations",
        audit: { action: "trash.empty", files: "changes" },
        docs: docs.remove,
        params: IdParams,
      },
      async ({ principal, params }) => {
        const { node } = await trash.purge(principal.user, params.id);
        return ok(
          { id: node.publicId, name: node.name, deletedAt: toTimestamp(clock.nowMs()) },
          "Deleted permanently from the trash.",
        );
      },
    );
}

/** The two lists of a bulk response. @throws the first error where all failed */
function presentOutcomes<T, P>(
  outcomes: readonly TrashOutcome<T>[],
  present: (done: T) => P,
): { done: P[]; failed: { id: string; error: ReturnType<typeof errorItem> }[] } {
  const done = outcomes.flatMap((outcome) => ("done" in outcome ? [present(outcome.done)] : []));
  const failed = outcomes.flatMap((outcome) => ("error" in outcome ? [outcome] : []));
  const [first] = failed;
  if (done.length === 0 && first !== undefined) throw first.error;
  return { done, failed: failed.map(({ id, error }) => ({ id, error: errorItem(error) })) };
}
