import { Elysia, t } from "elysia";
import { invalidField } from "../../../errors.ts";
import { noteAudit } from "../../../http/audit-note.ts";
import { documented, ref } from "../../../http/documented.ts";
import { ok } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { IdParams, readBoolean, readQuery } from "../../../http/fields.ts";
import { type Clock, toTimestamp } from "../../../lib/clock.ts";
import { normalizeName, normalizePath } from "../../../lib/path.ts";
import { type authGuard, takesJson } from "../../accounts/auth/guard.ts";
import { presentFolder } from "../files/present.ts";
import { keyedRequest } from "../idempotency/service.ts";
import { checkMetadata } from "../../../tree/model/labels.ts";
import type { FolderService } from "./service.ts";

/** What the folder routes work with. */
export interface FolderRoutesOptions {
  readonly folders: FolderService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly clock: Clock;
}

const CreateBody = t.Object({
  name: t.String(),
  path: t.Optional(t.String({ default: "/", description: "Parent path; made where it is missing" })),
  description: t.Optional(t.String()),
  share: t.Optional(t.String({ description: "Id of a share that was made for you: path is one below it" })),
});

const UpdateBody = t.Object({
  name: t.Optional(t.String()),
  path: t.Optional(t.String({ description: "New parent path: moves the folder" })),
  folder: t.Optional(t.String({ description: "The same as path, as files call it" })),
  description: t.Optional(t.String()),
});

/** /api/files/folders… (api.md, Folder operations; contract §4). */
export function folderRoutes({ folders, guard, clock }: FolderRoutesOptions) {
  return new Elysia({ name: "folder-routes", prefix: "/api/files/folders" })
    .use(guard)
    .post(
      "/",
      async ({ principal, body, request, set }) => {
        const { user } = principal;
        const input = {
          parentPath: normalizePath(body.path ?? "/", "path"),
          name: normalizeName(body.name),
          description: checkDescription(body.description),
          share: body.share,
        };
        const key = keyedRequest(user.id, request.headers.get("idempotency-key"), ["folder", input]);
        const folder = await folders.create(user, input, key);
        set.status = 201;
        return ok(presentFolder(folder));
      },
      {
        ...takesJson("writer", CreateBody),
        ...documented({
          takesJson: true,
          tag: "Folders",
          summary: "Make a folder",
          access: "writer",
          status: 201,
          headers: { "Idempotency-Key": "The same key within 24 hours gets the first answer again" },
          data: ref("FolderItem"),
          description: "With share it is made in what somebody shares with you for writing.",
          errors: [
            "invalid_path",
            "path_too_long",
            "not_a_folder",
            "name_taken",
            "quota_exceeded",
            "idempotency_key",
            "not_found",
            "share_permission",
          ],
        }),
      },
    )
    .get("/:id", ({ principal, params }) => ok(presentFolder(folders.get(principal.user, params.id))), {
      access: "reader",
      params: IdParams,
      ...documented({
        tag: "Folders",
        summary: "All about a folder",
        access: "reader",
        description: "In what others share with you, paths begin at the share: a shared folder is /.",
        data: ref("FolderItem"),
        errors: ["not_found", "invalid_field"],
      }),
    })
    .put(
      "/:id",
      async ({ principal, params, body }) => {
        const { name, description } = body;
        const path = body.path ?? body.folder;
        if (name === undefined && path === undefined && description === undefined) {
          throw invalidField("body", "There is nothing to change. Give name, path or description.");
        }
        const folder = await folders.update(principal.user, params.id, {
          name: name === undefined ? undefined : normalizeName(name),
          folderPath: path === undefined ? undefined : normalizePath(path, "path"),
          metadata: description === undefined ? undefined : { description: checkDescription(description) || null },
        });
        return ok(presentFolder(folder));
      },
      {
        ...takesJson("writer", UpdateBody),
        params: IdParams,
        ...documented({
          takesJson: true,
          tag: "Folders",
          summary: "Rename, move or describe a folder",
          access: "writer",
          description: "What was itself shared with you keeps its name and place.",
          data: ref("FolderItem"),
          errors: [
            "invalid_path",
            "path_too_long",
            "not_a_folder",
            "not_found",
            "name_taken",
            "quota_exceeded",
            "share_permission",
          ],
        }),
      },
    )
    .delete(
      "/:id",
      async ({ principal, params, request }) => {
        const query = readQuery(requestContextOf(request).query);
        const isRecursive = readBoolean(query["recursive"], "recursive") ?? false;
        const { node: folder, owner } = await folders.delete(principal.user, params.id, isRecursive);
        noteAudit(request, { subjectId: owner.publicId });
        return ok(
          { id: folder.publicId, name: folder.name, deletedAt: toTimestamp(clock.nowMs()) },
          "Folder permanently deleted.",
        );
      },
      {
        access: "writer",
        params: IdParams,
        ...documented({
          tag: "Folders",
          summary: "Delete a folder for good",
          description: "A folder that is not empty needs `recursive=true`.",
          access: "writer",
          query: { recursive: { type: "boolean", default: false, description: "Needed where it is not empty" } },
          data: ref("DeletedNode"),
          errors: ["not_found", "invalid_field", "invalid_path", "folder_not_empty", "share_permission"],
        }),
      },
    );
}

function checkDescription(text: string | undefined): string | undefined {
  if (text !== undefined) checkMetadata({ description: text }, "description");
  return text;
}
