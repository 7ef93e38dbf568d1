import { t } from "elysia";
import { invalidField } from "../../../errors.ts";
import { noteAudit } from "../../../http/audit-note.ts";
import { ok } from "../../../http/envelope.ts";
import { IdParams, readBoolean, queryOf } from "../../../http/fields.ts";
import type { Clock } from "../../../lib/clock.ts";
import { normalizeName, normalizePath } from "../../../lib/path.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import type { FavoriteService } from "../favorites/service.ts";
import type { ShareMarks } from "../marks/share-marks.ts";
import { presentDeleted, presentFolder } from "../files/present.ts";
import { keyedRequest } from "../idempotency/service.ts";
import { checkMetadata } from "../../../tree/model/labels.ts";
import type { FolderNode } from "../../../tree/model/types.ts";
import type { User } from "../../accounts/users/types.ts";
import { CHANGE_FILES } from "../../accounts/routing/declaration.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import { say } from "../../../translations/say.ts";
import type { FolderService } from "./service.ts";

/** Dependencies of the folder routes. */
export interface FolderRoutesOptions {
  readonly folders: FolderService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly clock: Clock;
  /** Finds the nodes that the caller marked. */
  readonly favorites: Pick<FavoriteService, "among">;
  /** Finds the nodes that the caller shares. */
  readonly shareMarks: Pick<ShareMarks, "among">;
  readonly tree: TreeReader;
}

const CreateBody = t.Object({
  name: t.String(),
  path: t.Optional(t.String({ default: "/", description: "Parent path; created if it is missing" })),
  description: t.Optional(t.String()),
  share: t.Optional(t.String({ description: "Id of a share with you; path is below it" })),
});

const UpdateBody = t.Object({
  name: t.Optional(t.String()),
  path: t.Optional(t.String({ description: "New parent path: moves the folder" })),
  folder: t.Optional(t.String({ description: "The same as path, as files call it" })),
  description: t.Optional(t.String()),
});

/** /api/files/folders */
export function folderRoutes({ folders, guard, clock, ...marks }: FolderRoutesOptions) {
  const present = presenter(marks);
  return new Router({ prefix: "/api/files/folders", guard })
    .post(
      "/",
      {
        ...CHANGE_FILES,
        audit: { action: "folder.create", target: "folder", files: "all" },
        docs: docs.create,
        body: CreateBody,
      },
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
        return ok(present(user, folder));
      },
    )
    .get(
      "/:id",
      { access: "reader", scope: "files:read", rate: "listing", audit: "unaudited", docs: docs.get, params: IdParams },
      ({ principal, params }) => ok(present(principal.user, folders.get(principal.user, params.id))),
    )
    .put(
      "/:id",
      {
        ...CHANGE_FILES,
        audit: { action: "folder.change", target: "folder", targetParam: "id", files: "all" },
        docs: docs.update,
        params: IdParams,
        body: UpdateBody,
      },
      async ({ principal, params, body }) => {
        const { name, description } = body;
        const path = body.path ?? body.folder;
        if (name === undefined && path === undefined && description === undefined) {
          throw invalidField("body", say`The request contains no changes. Send name, path or description.`);
        }
        const folder = await folders.update(principal.user, params.id, {
          name: name === undefined ? undefined : normalizeName(name),
          folderPath: path === undefined ? undefined : normalizePath(path, "path"),
          metadata: description === undefined ? undefined : { description: checkDescription(description) || null },
        });
        return ok(present(principal.user, folder));
      },
    )
    .delete(
      "/:id",
      {
        ...CHANGE_FILES,
        audit: { action: "folder.delete", target: "folder", targetParam: "id", files: "changes" },
        docs: docs.remove,
        params: IdParams,
      },
      async ({ principal, params, request }) => {
        const query = queryOf(request);
        const isRecursive = readBoolean(query["recursive"], "recursive") ?? false;
        const { node: folder, owner } = await folders.delete(principal.user, params.id, isRecursive);
        noteAudit(request, { subjectId: owner.publicId });
        return ok(presentDeleted(folder, clock), "The folder was deleted permanently.");
      },
    );
}

function checkDescription(text: string | undefined): string | undefined {
  if (text !== undefined) checkMetadata({ description: text }, "description");
  return text;
}

/** Presents a folder with the marks of the user. */
function presenter({ favorites, shareMarks, tree }: Pick<FolderRoutesOptions, "favorites" | "shareMarks" | "tree">) {
  return (user: User, folder: FolderNode) =>
    presentFolder(folder, {
      favorites: favorites.among(user, [folder]),
      shares: shareMarks.among(user, [folder]),
      sizes: tree.folderSizes([folder]),
    });
}
