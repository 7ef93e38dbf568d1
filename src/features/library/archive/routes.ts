import { Elysia } from "elysia";
import { documented } from "../../../http/documented.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { IdParams, readQuery } from "../../../http/fields.ts";
import { readForm } from "../../../http/read-form.ts";
import { type authGuard, takesJson } from "../../accounts/auth/guard.ts";
import type { Principal } from "../../accounts/auth/principal.ts";
import type { Permissions } from "../permissions/permissions.ts";
import type { RateGate } from "../../accounts/rate-limits/guard.ts";
import type { TreeNode } from "../../../tree/model/types.ts";
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

const DESCRIPTION =
  `A ZIP whose entries are stored as they are, under the name of each file and folder asked for. The same
files give the same bytes: ETag, Range and If-Range hold, so that a download that broke off goes on. Names that would lead
elsewhere or fail when unpacked (separators, colons, control characters, names of devices, dots and spaces at the end) have
\`_\` in their place; of names that are the same then, and of the same names from several folders, all but one are numbered.
Archives of more than 4 MiB are sent without a Content-Length: HEAD tells it, and so does Content-Range. Where a file can't
be read the connection breaks. Downloads of the single files are not counted.`.replaceAll("\n", " ");

const ERRORS = [
  "not_found",
  "invalid_field",
  "invalid_request",
  "invalid_path",
  "precondition_failed",
  "range_not_satisfiable",
  "content_missing",
  "content_damaged",
] as const;

/** GET /api/files/folders/{id}/archive, POST /api/files/archive (contract §4). */
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
    return send(principal, [node], readQuery(requestContextOf(request).query)["name"], request, set);
  };

  return new Elysia({ name: "archive-routes", prefix: "/api/files" })
    .use(guard)
    .get(
      "/folders/:id/archive",
      ({ principal, params, request, set }) => sendFolder(principal, params.id, request, set),
      {
        access: "reader",
        params: IdParams,
        ...documented({
          tag: "Folders",
          summary: "A folder as a ZIP",
          description: DESCRIPTION,
          access: "reader",
          query: { name: { type: "string", description: "Name of the archive; by default that of the folder" } },
          headers: { Range: "RFC 9110 §14, a single one" },
          content: { "application/zip": "The archive" },
          otherResponses: { 206: "The range asked for", 304: "The client has it already" },
          errors: ERRORS,
        }),
      },
    )
    .post(
      "/archive",
      ({ principal, body, request, set }) => {
        const ids = [...new Set(body.fileIds)];
        const roots = ids.map((id) => permissions.node(principal.user, id, "read").node);
        return send(principal, roots, body.name, request, set);
      },
      {
        ...takesJson("reader", ArchiveBody, true, readArchiveForm),
        ...documented({
          takesJson: true,
          tag: "Files",
          summary: "Files and folders as a ZIP",
          description: `${DESCRIPTION} The same fields may come as a form (application/x-www-form-urlencoded, fileIds repeated), so that a page lets the browser do the saving.`,
          access: "reader",
          content: { "application/zip": "The archive" },
          errors: ERRORS,
        }),
      },
    );
}

/** A thousand ids with their names, and the name of the archive. */
const FORM_BYTES_MAX = 128 * 1024;

/** The body of a form without script (D20); undefined for any other type. */
function readArchiveForm(request: Request): Promise<object> | undefined {
  const type = request.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (type !== "application/x-www-form-urlencoded") return undefined;
  return readForm(request, FORM_BYTES_MAX).then((form) => {
    const name = form.get("name");
    return { fileIds: form.getAll("fileIds"), ...(name !== null && name !== "" && { name }) };
  });
}
