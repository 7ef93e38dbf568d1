import type { AppError } from "../../../errors.ts";
import { ok } from "../../../http/envelope.ts";
import { errorItem } from "../../../http/error-response.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { normalizePath } from "../../../lib/path.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { keyedRequest } from "../idempotency/service.ts";
import type { FileNode, TreeNode } from "../../../tree/model/types.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { CopyBody, MoveBody } from "./model.ts";
import { presentItem } from "./present.ts";
import type { BulkOutcome, Destination, FileBulkService } from "./bulk.ts";

/** What the routes that take many files and folders work with. */
export interface FileBulkRoutesOptions {
  readonly bulk: FileBulkService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly hasThumbnail: (file: FileNode) => boolean;
}

/** POST /api/files/move and copy. */
export function fileBulkRoutes({ bulk, guard, hasThumbnail }: FileBulkRoutesOptions) {
  const contextOf = (request: Request) => ({ baseUrl: requestContextOf(request).baseUrl, hasThumbnail });

  return new Router({ name: "file-bulk-routes", prefix: "/api/files", guard })
    .post(
      "/move",
      {
        access: "writer",
        scope: "files:write",
        rate: "operations",
        audit: { action: "file.move", files: "all" },
        docs: docs.move,
        body: MoveBody,
      },
      async ({ principal, body, request }) => {
        const outcomes = await bulk.move(principal.user, body.fileIds, readDestination(body));
        const { done, failed } = presentOutcomes(outcomes, (node) => presentItem(node, contextOf(request)));
        return ok({ moved: done, failed });
      },
    )
    .post(
      "/copy",
      {
        access: "writer",
        scope: "files:write",
        rate: "operations",
        audit: { action: "file.copy", files: "all" },
        docs: docs.copy,
        body: CopyBody,
      },
      async ({ principal, body, request, set }) => {
        const { user } = principal;
        const destination = readDestination(body);
        const { onConflict = "rename", preserveMetadata = true } = body;
        const key = request.headers.get("idempotency-key");
        const outcomes = await bulk.copy(
          user,
          body.fileIds,
          destination,
          { onConflict, preserveMetadata },
          keyedRequest(user.id, key, [
            "copy",
            body.fileIds,
            destination.path,
            onConflict,
            preserveMetadata,
            ...(destination.share === undefined ? [] : [destination.share]),
          ]),
        );
        const { done, failed } = presentOutcomes(outcomes, (node, sourceId) => ({
          sourceId,
          ...presentItem(node, contextOf(request)),
        }));
        set.status = 201;
        return ok({ copied: done, failed });
      },
    );
}

function readDestination(body: { destinationFolder: string; share?: string }): Destination {
  return { path: normalizePath(body.destinationFolder, "destinationFolder"), share: body.share };
}

/**
 * The two lists of a bulk response.
 * @throws the first item's error where every item failed
 */
function presentOutcomes<T>(outcomes: readonly BulkOutcome<TreeNode>[], present: (node: TreeNode, id: string) => T) {
  const done: T[] = [];
  const failed: { id: string; error: ReturnType<typeof errorItem> }[] = [];
  let firstError: AppError | undefined;
  for (const outcome of outcomes) {
    if ("done" in outcome) done.push(present(outcome.done, outcome.id));
    else {
      firstError ??= outcome.error;
      failed.push({ id: outcome.id, error: errorItem(outcome.error) });
    }
  }
  if (done.length === 0 && firstError !== undefined) throw firstError;
  return { done, failed };
}
