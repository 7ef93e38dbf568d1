import { Elysia } from "elysia";
import { documented, ref } from "../../../http/documented.ts";
import { ok, paginate } from "../../../http/envelope.ts";
import { errorItem } from "../../../http/error-response.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { IdParams, readInteger, readQuery } from "../../../http/fields.ts";
import { type Clock, toTimestamp } from "../../../lib/clock.ts";
import { type authGuard, takesJson } from "../../accounts/auth/guard.ts";
import { type PresentContext, presentItem } from "../files/present.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { EmptiedRecord, PutRecord, RestoredRecord, TrashBody, TrashRecord } from "./model.ts";
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

/** /api/files/trash… (contract §4). */
export function trashRoutes({ trash, guard, clock, hasThumbnail, allowLong }: TrashRoutesOptions) {
  const contextOf = (request: Request): PresentContext => ({
    baseUrl: requestContextOf(request).baseUrl,
    hasThumbnail,
  });
  // Nothing in the trash can be downloaded, and no thumbnail of it.
  const inTrash = (request: Request): PresentContext => ({ ...contextOf(request), hasThumbnail: () => false });

  return new Elysia({ name: "trash-routes", prefix: "/api/files/trash" })
    .use(guard)
    .post(
      "/",
      async ({ principal, body, request }) => {
        const outcomes = await trash.put(principal.user, body.fileIds);
        const { done, failed } = presentOutcomes(outcomes, (entry) => presentTrashed(entry, inTrash(request)));
        return ok({ trashed: done, failed });
      },
      {
        ...takesJson("writer", TrashBody),
        ...documented({
          takesJson: true,
          tag: "Trash",
          summary: "Put files and folders into the trash",
          description:
            "Each by itself; the call fails where every item failed. What is in the trash is gone from every listing, link, search and sync, holds no name, and counts in usage until it is deleted for good: after 30 days, or as configured.",
          access: "writer",
          data: PutRecord,
          errors: ["not_found", "invalid_path", "share_permission"],
        }),
      },
    )
    .get(
      "/",
      ({ principal, request }) => {
        const query = readQuery(requestContextOf(request).query);
        const page = readInteger(query, "page", { min: 1, max: Number.MAX_SAFE_INTEGER, default: 1 });
        const limit = readInteger(query, "limit", { min: 1, max: 100, default: 20 });
        const { entries, total } = trash.list(principal.user, page, limit);
        return ok({
          files: entries.map((entry) => presentTrashed(entry, inTrash(request))),
          pagination: paginate(page, limit, total),
        });
      },
      {
        access: "reader",
        ...documented({
          tag: "Trash",
          summary: "What is in the trash, what came last in front",
          description: "What is in the trash still counts in the account's usage.",
          access: "reader",
          query: {
            page: { type: "integer", minimum: 1, default: 1 },
            limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
          },
          data: TrashRecord,
          errors: ["invalid_field"],
        }),
      },
    )
    .post(
      "/restore",
      async ({ principal, body, request }) => {
        const outcomes = await trash.restore(principal.user, body.fileIds);
        const { done, failed } = presentOutcomes(outcomes, (node) => presentItem(node, contextOf(request)));
        return ok({ restored: done, failed });
      },
      {
        ...takesJson("writer", TrashBody),
        ...documented({
          takesJson: true,
          tag: "Trash",
          summary: "Take files and folders out of the trash",
          description:
            "Each by itself, with the id, links and versions it had, into the folder it was in, wherever that is now. Where that is gone, into the nearest on its former path that is there. Where its name is taken it gets a numbered one.",
          access: "writer",
          data: RestoredRecord,
          errors: ["not_found", "invalid_path", "path_too_long"],
        }),
      },
    )
    .delete(
      "/",
      async ({ principal, request }) => {
        allowLong(request);
        return ok({ deleted: await trash.empty(principal.user) }, "The trash is empty.");
      },
      {
        access: "writer",
        ...documented({
          tag: "Trash",
          summary: "Delete all that is in the trash for good",
          description: "Large trashes are deleted in steps; the request returns when all is deleted.",
          access: "writer",
          data: EmptiedRecord,
          errors: ["invalid_field"],
        }),
      },
    )
    .delete(
      "/:id",
      async ({ principal, params }) => {
        const { node } = await trash.purge(principal.user, params.id);
        return ok(
          { id: node.publicId, name: node.name, deletedAt: toTimestamp(clock.nowMs()) },
          "Permanently deleted from the trash.",
        );
      },
      {
        access: "writer",
        params: IdParams,
        ...documented({
          tag: "Trash",
          summary: "Delete one thing in the trash for good",
          description: "A folder goes with everything below it.",
          access: "writer",
          data: ref("DeletedNode"),
          errors: ["not_found", "invalid_field"],
        }),
      },
    );
}

/** The two lists of a bulk answer (contract §1). @throws the first error where all failed */
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
