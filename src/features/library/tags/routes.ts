import { Elysia } from "elysia";
import { documented } from "../../../http/documented.ts";
import { ok } from "../../../http/envelope.ts";
import { errorItem } from "../../../http/error-response.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { type authGuard, takesJson } from "../../accounts/auth/guard.ts";
import { presentFileItem } from "../files/present.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { TagBody, TaggedRecord, TagListRecord } from "./model.ts";
import { readTagChanges, type TagOutcome, type TagService } from "./service.ts";

/** What the routes of tags work with. */
export interface TagRoutesOptions {
  readonly tags: TagService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly hasThumbnail: (file: FileNode) => boolean;
}

/** /api/files/tags (contract §4, Tags). Which files carry a tag is told by GET /api/files?tags=. */
export function tagRoutes({ tags, guard, hasThumbnail }: TagRoutesOptions) {
  return new Elysia({ name: "tag-routes", prefix: "/api/files/tags" })
    .use(guard)
    .get("/", ({ principal }) => ok({ tags: tags.list(principal.user.id) }), {
      access: "reader",
      ...documented({
        tag: "Files",
        summary: "The tags of one's own files, and how many carry each",
        description: "Most used first, then by name. Upper and lower case are one tag, in its first spelling.",
        access: "reader",
        data: TagListRecord,
      }),
    })
    .post(
      "/",
      async ({ principal, body, request }) => {
        const outcomes = await tags.change(principal.user, body.fileIds, readTagChanges(body));
        const context = { baseUrl: requestContextOf(request).baseUrl, hasThumbnail };
        return ok(presentOutcomes(outcomes, (file) => presentFileItem(file, context)));
      },
      {
        ...takesJson("writer", TagBody),
        ...documented({
          takesJson: true,
          tag: "Files",
          summary: "Give tags to many files, or take them off",
          description:
            "Each file by itself, 1 to 1,000 a call; the call fails where every file failed. " +
            "A file has at most 50 tags of 64 characters; what a file has or lacks already is no change of it.",
          access: "writer",
          data: TaggedRecord,
          errors: ["invalid_field", "not_found", "share_permission"],
        }),
      },
    );
}

/** @throws AppError the first refusal, where no file was changed or found as wanted */
function presentOutcomes<T>(outcomes: readonly TagOutcome[], present: (file: FileNode) => T) {
  const updated = outcomes.flatMap((outcome) => ("file" in outcome ? [present(outcome.file)] : []));
  const refused = outcomes.flatMap((outcome) => ("error" in outcome ? [outcome] : []));
  const [first] = refused;
  if (updated.length === 0 && first !== undefined) throw first.error;
  return { updated, failed: refused.map(({ id, error }) => ({ id, error: errorItem(error) })) };
}
