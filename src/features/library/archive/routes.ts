import { IdParams } from "../../../http/fields.ts";
import { readForm } from "../../../http/read-form.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { downloadBy } from "../files/content-sender.ts";
import type { Permissions } from "../permissions/permissions.ts";
import type { RateGate } from "../../accounts/rate-limits/guard.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import type { ArchiveSender } from "./archive-sender.ts";
import { ArchiveBody } from "./model.ts";
import type { ArchiveService } from "./service.ts";

/** Dependencies of the archive routes. */
export interface ArchiveRoutesOptions {
  readonly archives: ArchiveService;
  readonly archiveSender: ArchiveSender;
  readonly permissions: Permissions;
  readonly rateGate: RateGate;
  readonly guard: ReturnType<typeof authGuard>;
}

/** GET /api/files/folders/{id}/archive, POST /api/files/archive. */
export function archiveRoutes({ archives, archiveSender, permissions, rateGate, guard }: ArchiveRoutesOptions) {
  return new Router({ prefix: "/api/files", guard })
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
      async ({ principal, params, request, set }) => {
        const { node } = permissions.folder(principal.user, params.id, "read");
        const download = downloadBy({ principal, request, set }, rateGate);
        return archiveSender.send(await archives.plan([node], download.query["name"]), download);
      },
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
        acknowledges: false,
      },
      async ({ principal, body, request, set }) => {
        const ids = [...new Set(body.fileIds)];
        const roots = ids.map((id) => permissions.node(principal.user, id, "read").node);
        return archiveSender.send(
          await archives.plan(roots, body.name),
          downloadBy({ principal, request, set }, rateGate),
        );
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
