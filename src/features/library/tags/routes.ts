import { ok } from "../../../http/envelope.ts";
import { errorItem } from "../../../http/error-response.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { presentFileItem } from "../files/present.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { TagBody } from "./model.ts";
import { readTagChanges, type TagOutcome, type TagService } from "./service.ts";

/** What the routes of tags work with. */
export interface TagRoutesOptions {
  readonly tags: TagService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly hasThumbnail: (file: FileNode) => boolean;
}

/** /api/files/tags. GET /api/files?tags= lists the files that have a tag. */
export function tagRoutes({ tags, guard, hasThumbnail }: TagRoutesOptions) {
  return new Router({ name: "tag-routes", prefix: "/api/files/tags", guard })
    .get(
      "/",
      { access: "reader", scope: "files:read", rate: "listing", audit: "unaudited", docs: docs.listTags },
      ({ principal }) => ok({ tags: tags.list(principal.user.id) }),
    )
    .post(
      "/",
      {
        access: "writer",
        scope: "files:write",
        rate: "operations",
        audit: { action: "file.tag", files: "all" },
        docs: docs.updateTags,
        body: TagBody,
      },
      async ({ principal, body, request }) => {
        const outcomes = await tags.change(principal.user, body.fileIds, readTagChanges(body));
        const context = { baseUrl: requestContextOf(request).baseUrl, hasThumbnail };
        return ok(presentOutcomes(outcomes, (file) => presentFileItem(file, context)));
      },
    );
}

/** @throws AppError the first error, if no file was changed or already had the tags */
function presentOutcomes<T>(outcomes: readonly TagOutcome[], present: (file: FileNode) => T) {
  const updated = outcomes.flatMap((outcome) => ("file" in outcome ? [present(outcome.file)] : []));
  const rejected = outcomes.flatMap((outcome) => ("error" in outcome ? [outcome] : []));
  const [first] = rejected;
  if (updated.length === 0 && first !== undefined) throw first.error;
  return { updated, failed: rejected.map(({ id, error }) => ({ id, error: errorItem(error) })) };
}
