import { requestContextOf } from "../../../http/request-context.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import type { AuditRule } from "../../accounts/routing/audit-rule.ts";
import { Router } from "../../accounts/routing/router.ts";
import type { DavRequest } from "./dav-request.ts";
import { explainLocked } from "./locked-error.ts";
import { remove } from "./methods/delete.ts";
import { get } from "./methods/get.ts";
import { lock } from "./methods/lock.ts";
import { mkcol } from "./methods/mkcol.ts";
import { copy, move } from "./methods/move.ts";
import { options } from "./methods/options.ts";
import { propfind } from "./methods/propfind.ts";
import { proppatch } from "./methods/proppatch.ts";
import { put } from "./methods/put.ts";
import { report } from "./methods/report.ts";
import { unlock } from "./methods/unlock.ts";
import type { WebDavServices } from "./services.ts";

/** Dependencies of {@link webDavRoutes}. */
export interface WebDavRoutesOptions {
  readonly webDav: WebDavServices;
  readonly guard: ReturnType<typeof authGuard>;
}

/** A method, how it is audited, and what it does. */
interface Method {
  readonly name: string;
  readonly audit: AuditRule | "unaudited";
  readonly run: (services: WebDavServices, davRequest: DavRequest) => Response | Promise<Response>;
}

const METHODS: readonly Method[] = [
  { name: "GET", audit: { action: "file.download", files: "all" }, run: get },
  { name: "PROPFIND", audit: "unaudited", run: propfind },
  { name: "REPORT", audit: "unaudited", run: report },
  { name: "PROPPATCH", audit: { action: "file.change", files: "all" }, run: proppatch },
  { name: "PUT", audit: { action: "file.upload", files: "all" }, run: put },
  { name: "MKCOL", audit: { action: "folder.create", files: "changes" }, run: mkcol },
  { name: "DELETE", audit: { action: "file.trash", files: "changes" }, run: remove },
  { name: "MOVE", audit: { action: "file.move", files: "changes" }, run: move },
  { name: "COPY", audit: { action: "file.copy", files: "changes" }, run: copy },
  // Only for a name that is free, which it gives to an empty file.
  { name: "LOCK", audit: { action: "file.upload", files: "all" }, run: lock },
  { name: "UNLOCK", audit: "unaudited", run: unlock },
];

/** The roots of the tree: see `address.ts`. */
const ROOTS = ["/dav", "/remote.php/webdav", "/remote.php/dav/files/:user"];

const PUBLIC = { access: "public", rate: "uncounted", audit: "unaudited", docs: "hidden" } as const;

/** Programs look for the address of WebDAV here, with any method. */
function toRoot(request: Request): Response {
  return Response.redirect(`${requestContextOf(request).baseUrl}/dav/`, 301);
}

/** WebDAV for files, at the addresses that clients know. */
export function webDavRoutes({ webDav, guard }: WebDavRoutesOptions): Router {
  const router = new Router({ guard })
    .options("/", PUBLIC, () => options())
    .get("/.well-known/webdav", PUBLIC, ({ request }) => toRoot(request))
    .on("PROPFIND", "/.well-known/webdav", PUBLIC, ({ request }) => toRoot(request));
  for (const root of ROOTS) {
    for (const path of [root, `${root}/*`]) {
      router.options(path, PUBLIC, () => options());
      for (const { name, audit, run } of METHODS) {
        const declaration = { access: "client", rate: "dav", audit, docs: "hidden", parse: "none" } as const;
        router.on(name, path, declaration, ({ request, set, principal }) =>
          explainLocked(webDav, { request, set, principal }, run),
        );
      }
    }
  }
  return router;
}
