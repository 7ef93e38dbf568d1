import { ok } from "../../../http/envelope.ts";
import { normalizePath } from "../../../lib/path.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import type { FavoriteService } from "../favorites/service.ts";
import { keyedRequest } from "../idempotency/service.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { CHANGE_FILES } from "../../accounts/routing/declaration.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { CopyBody, MoveBody } from "./model.ts";
import { presentContextOf, presentItem, presentOutcomes } from "./present.ts";
import type { Destination, FileBulkService } from "./bulk.ts";
import { doneOf } from "./outcomes.ts";

/** Dependencies of {@link fileBulkRoutes}. */
export interface FileBulkRoutesOptions {
  readonly bulk: FileBulkService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly hasThumbnail: (file: FileNode) => boolean;
  /** Finds the nodes that the caller marked. */
  readonly favorites: Pick<FavoriteService, "among">;
}

/** POST /api/files/move and copy. */
export function fileBulkRoutes({ bulk, guard, hasThumbnail, favorites }: FileBulkRoutesOptions) {
  return new Router({ prefix: "/api/files", guard })
    .post(
      "/move",
      {
        ...CHANGE_FILES,
        audit: { action: "file.move", files: "all" },
        docs: docs.move,
        body: MoveBody,
      },
      async ({ principal, body, request }) => {
        const { user } = principal;
        const outcomes = await bulk.move(user, body.fileIds, readDestination(body));
        const context = presentContextOf(request, hasThumbnail, favorites.among(user, doneOf(outcomes)));
        const { done, failed } = presentOutcomes(request, outcomes, (node) => presentItem(node, context));
        return ok({ moved: done, failed });
      },
    )
    .post(
      "/copy",
      {
        ...CHANGE_FILES,
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
        const context = presentContextOf(request, hasThumbnail, favorites.among(user, doneOf(outcomes)));
        const { done, failed } = presentOutcomes(request, outcomes, (node, sourceId) => ({
          sourceId,
          ...presentItem(node, context),
        }));
        set.status = 201;
        return ok({ copied: done, failed });
      },
    );
}

function readDestination(body: { destinationFolder: string; share?: string }): Destination {
  return { path: normalizePath(body.destinationFolder, "destinationFolder"), share: body.share };
}
