import { IdParams, queryOf } from "../../../http/fields.ts";
import { readForm } from "../../../http/read-form.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import type { Principal } from "../../accounts/auth/principal.ts";
import type { Permissions } from "../permissions/permissions.ts";
import type { RateGate } from "../../accounts/rate-limits/guard.ts";
import type { TreeNode } from "../../../tree/model/types.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import type { ArchiveRequest, ArchiveSender } from "./archive-sender.ts";
import { ArchiveBody } from "./model.ts";
import type { ArchiveService } from "./service.ts";

/** What the archive routes work with. */
export interface ArchiveRoutesOptions {
  readonly archives: ArchiveService;
  readonly archiveSender: ArchiveSender;
  readonly permissions: Permissions;
  readonly rateGate: RateGate;
  readonly guard: ReturnType<typeof authGuard>;
}

/** GET /api/files/folders/{id}/archive, POST /api/files/archive. */
export function archiveRoutes({ archives, archiveSender, permissions, rateGate, guard }: ArchiveRoutesOptions) {
  const send = async (
    principal: Principal,
    roots: readonly TreeNode[],
    name: string | undefined,
    request: Request,
    set: ArchiveRequest["set"],
  ) =>
    archiveSender.send(await archives.plan(roots, name), {
      request,
      set,
      callerKey: `u:${principal.user.id}`,
      countWhole: () => rateGate.countWholeDownload(request, set.headers),
    });
  const sendFolder = (principal: Principal, folderId: string, request: Request, set: ArchiveRequest["set"]) => {
    const { node } = permissions.folder(principal.user, folderId, "read");
    return send(principal, [node], queryOf(request)["name"], request, set);
  };

  return new Router({ name: "archive-routes", prefix: "/api/files", guard })
    .get(
      "/folders/:id/archive",
      {
        access: "reader",
        scope: "files:read",
        rate: "downloads",
        audit: { action: "file.download", target: "folder", targetParam: "id", files: "all" },
        docs: docs.downloadFolder,
        params: IdParams,
      },
      ({ principal, params, request, set }) => sendFolder(principal, params.id, request, set),
    )
    .post(
      "/archive",
      {
        access: "reader",
        scope: "files:read",
        rate: "downloads",
        audit: { action: "file.download", files: "all" },
        docs: docs.downloadSelection,
        body: ArchiveBody,
        readOther: readArchiveForm,
      },
      ({ principal, body, request, set }) => {
        const ids = [...new Set(body.fileIds)];
        const roots = ids.map((id) => permissions.node(principal.user, id, "read").node);
        return send(principal, roots, body.name, request, set);
      },
    );
}

/** A thousand ids with their names, and the name of the archive. */
const FORM_BYTES_MAX = 128 * 1024;

/** The body of a form without script; undefined for any other type. */
function readArchiveForm(request: Request): Promise<object> | undefined {
  const type = request.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (type !== "application/x-www-form-urlencoded") return undefined;
  return readForm(request, FORM_BYTES_MAX).then((form) => {
    const name = form.get("name");
    return { fileIds: form.getAll("fileIds"), ...(name !== null && name !== "" && { name }) };
  });
}
