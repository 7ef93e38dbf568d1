import { ok } from "../../../http/envelope.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import type { FavoriteService } from "../favorites/service.ts";
import { presentContextOf, presentFileItem, presentOutcomes } from "../files/present.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { CHANGE_FILES } from "../../accounts/routing/declaration.ts";
import { Router } from "../../accounts/routing/router.ts";
import { doneOf } from "../files/outcomes.ts";
import * as docs from "./openapi.ts";
import { TagBody } from "./model.ts";
import { readTagChanges, type TagService } from "./service.ts";

/** Dependencies of the routes of tags. */
export interface TagRoutesOptions {
  readonly tags: TagService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly hasThumbnail: (file: FileNode) => boolean;
  /** Finds the nodes that the caller marked. */
  readonly favorites: Pick<FavoriteService, "among">;
}

/** /api/files/tags. GET /api/files?tags= lists the files that have a tag. */
export function tagRoutes({ tags, guard, hasThumbnail, favorites }: TagRoutesOptions) {
  return new Router({ prefix: "/api/files/tags", guard })
    .get(
      "/",
      { access: "reader", scope: "files:read", rate: "listing", audit: "unaudited", docs: docs.listTags },
      ({ principal }) => ok({ tags: tags.list(principal.user.id) }),
    )
    .post(
      "/",
      {
        ...CHANGE_FILES,
        audit: { action: "file.tag", files: "all" },
        docs: docs.updateTags,
        body: TagBody,
      },
      async ({ principal, body, request }) => {
        const { user } = principal;
        const outcomes = await tags.change(user, body.fileIds, readTagChanges(body));
        const context = presentContextOf(request, hasThumbnail, favorites.among(user, doneOf(outcomes)));
        const { done, failed } = presentOutcomes(request, outcomes, (file) => presentFileItem(file, context));
        return ok({ updated: done, failed });
      },
    );
}
