import { ok, paginate } from "../../../http/envelope.ts";
import { IdParams, queryOf, readBoolean, readInteger } from "../../../http/fields.ts";
import { normalizePath } from "../../../lib/path.ts";
import { type authGuard, uploaderOf } from "../../accounts/auth/guard.ts";
import type { TransferCounters } from "../../accounts/plans/transfers.ts";
import { READ_FILES } from "../../accounts/routing/declaration.ts";
import { Router } from "../../accounts/routing/router.ts";
import type { Permissions } from "../permissions/permissions.ts";
import { sendEntry } from "./entry-sender.ts";
import type { Extractions } from "./extractions.ts";
import { ExtractBody } from "./model.ts";
import * as docs from "./openapi.ts";
import { presentEntry, presentExtraction } from "./present.ts";
import type { ZipBrowser } from "./zip-browser.ts";

/** Dependencies of {@link zipRoutes}. */
export interface ZipRoutesOptions {
  readonly zipBrowser: ZipBrowser;
  readonly extractions: Extractions;
  readonly permissions: Permissions;
  readonly transfers: TransferCounters;
  readonly guard: ReturnType<typeof authGuard>;
  /** Disables the idle timeout of a request. */
  readonly allowLong: (request: Request) => void;
}

const LIMIT_MAX = 1_000;

/** GET /api/files/{id}/archive and …/archive/entry: what is in a stored archive. */
export function zipRoutes({ zipBrowser, permissions, transfers, guard, allowLong }: ZipRoutesOptions) {
  return new Router({ prefix: "/api/files", guard })
    .get(
      "/:id/archive",
      { ...READ_FILES, rate: "listing", docs: docs.listArchive, params: IdParams },
      async ({ principal, params, request }) => {
        const { node } = permissions.file(principal.user, params.id, "read");
        const query = queryOf(request);
        const page = readInteger(query, "page", { min: 1, max: Number.MAX_SAFE_INTEGER, default: 1 });
        const limit = readInteger(query, "limit", { min: 1, max: LIMIT_MAX, default: LIMIT_MAX });
        const path = query["path"] ?? "";
        allowLong(request);
        const entries = await zipBrowser.list(node, path);
        const shown = entries.slice((page - 1) * limit, page * limit);
        return ok({ path, entries: shown.map(presentEntry), pagination: paginate(page, limit, entries.length) });
      },
    )
    .get(
      "/:id/archive/entry",
      {
        access: "reader",
        scope: "files:read",
        rate: "downloads",
        audit: { action: "file.download", target: "file", targetParam: "id", files: "all" },
        docs: docs.openEntry,
        params: IdParams,
      },
      async ({ principal, params, request, set }) => {
        const { node } = permissions.file(principal.user, params.id, "read");
        const query = queryOf(request);
        const { entry, read } = await zipBrowser.open(node, query["path"] ?? "");
        const { headers } = set;
        set.headers = {};
        const inline = readBoolean(query["inline"], "inline") ?? false;
        const noteSent = (bytes: number) => transfers.noteDownload(node.accountId, bytes, 0);
        const response = sendEntry({ request, headers, archive: node, entry, read, inline, noteSent });
        if (response.body !== null) transfers.noteDownload(node.accountId, 0, 1);
        return response;
      },
    );
}

/** POST /api/files/{id}/extract, and the extractions that it begins. */
export function extractionRoutes({ extractions, guard }: ZipRoutesOptions) {
  return new Router({ prefix: "/api/files", guard })
    .post(
      "/:id/extract",
      {
        access: "writer",
        scope: "files:write",
        rate: "uploads",
        audit: { action: "file.extract", target: "file", targetParam: "id", files: "all" },
        docs: docs.extract,
        params: IdParams,
        body: ExtractBody,
        isBodyOptional: true,
      },
      ({ params, body, request, set }) => {
        const { folderPath, share, name } = body;
        const extraction = extractions.begin(uploaderOf(request), {
          fileId: params.id,
          folderPath: folderPath === undefined ? undefined : normalizePath(folderPath, "folderPath"),
          share,
          name,
        });
        set.status = 202;
        return ok(presentExtraction(extraction, request), "The archive is being extracted.");
      },
    )
    .get("/extractions", { ...READ_FILES, docs: docs.listExtractions, acknowledges: true }, ({ principal, request }) =>
      ok({ extractions: extractions.list(principal.user).map((one) => presentExtraction(one, request)) }),
    )
    .get(
      "/extractions/:id",
      // The end of an extraction says that its files are safe.
      { ...READ_FILES, rate: "listing", docs: docs.getExtraction, params: IdParams, acknowledges: true },
      ({ principal, params, request }) => ok(presentExtraction(extractions.get(principal.user, params.id), request)),
    )
    .delete(
      "/extractions/:id",
      {
        access: "writer",
        scope: "files:write",
        rate: "operations",
        audit: "unaudited",
        docs: docs.cancelExtraction,
        params: IdParams,
      },
      ({ principal, params, request }) => ok(presentExtraction(extractions.cancel(principal.user, params.id), request)),
    );
}
