import { noteAudit } from "../../../http/audit-note.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { queryOf } from "../../../http/fields.ts";
import type { AppPasswordService } from "../../accounts/app-passwords/service.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import type { RateGate } from "../../accounts/rate-limits/guard.ts";
import { CLIENT_ROUTE } from "../../accounts/routing/declaration.ts";
import { Router } from "../../accounts/routing/router.ts";
import type { User } from "../../accounts/users/types.ts";
import type { ContentSender } from "../../library/files/content-sender.ts";
import { ocsNotFound, ocsResponse } from "./ocs-response.ts";
import { capabilitiesData, SERVER_STATUS } from "./capabilities.ts";
import { previewedFile, type PreviewSources, variantFor } from "./preview.ts";
import type { AccountStorage } from "../account-storage.ts";
import { userData } from "./user.ts";

/** Dependencies of {@link ocsRoutes}. */
export interface OcsRoutesOptions extends PreviewSources {
  readonly guard: ReturnType<typeof authGuard>;
  readonly appPasswords: AppPasswordService;
  readonly sender: Pick<ContentSender, "sendThumbnail">;
  readonly rateGate: Pick<RateGate, "countWholeDownload">;
  readonly storageOf: (user: User) => AccountStorage;
}

/** Clients ask for these before they sign in, and each time they check whether the server is there. */
const PUBLIC = { access: "public", rate: "uncounted", audit: "unaudited", docs: "hidden" } as const;
const READ = { ...CLIENT_ROUTE, audit: "unaudited" } as const;

/** What the Nextcloud and ownCloud clients ask besides WebDAV. */
export function ocsRoutes(options: OcsRoutesOptions): Router[] {
  return [serverRoutes(), accountRoutes(options), previewRoutes(options), absentRoutes()];
}

/** The server itself: `/status.php`, the capabilities, and the check whether there is a connection. */
function serverRoutes(): Router {
  const router = new Router()
    .get("/status.php", PUBLIC, () => Response.json(SERVER_STATUS, { headers: { "Cache-Control": "no-store" } }))
    .get("/index.php/204", PUBLIC, () => new Response(null, { status: 204 }));
  for (const version of ["v1.php", "v2.php"]) {
    router.get(`/ocs/${version}/cloud/capabilities`, PUBLIC, ({ request }) =>
      ocsResponse(request, capabilitiesData(requestContextOf(request).baseUrl)),
    );
  }
  return router;
}

/** The account that asks, and the end of its app password. */
function accountRoutes({ guard, appPasswords, storageOf }: OcsRoutesOptions): Router {
  const router = new Router({ guard });
  for (const version of ["v1.php", "v2.php"]) {
    router
      .get(`/ocs/${version}/cloud/user`, READ, ({ request, principal: { user } }) =>
        ocsResponse(request, userData(user, storageOf(user))),
      )
      .get(`/ocs/${version}/cloud/users/:id`, READ, ({ request, principal: { user }, params }) => {
        // Null, which the framework passes for a name that is not valid percent-encoding, is nobody's.
        const id: string | null | undefined = params["id"];
        const isOwn = typeof id === "string" && appPasswords.namesAccount(user, id);
        return isOwn ? ocsResponse(request, userData(user, storageOf(user))) : ocsNotFound(request);
      })
      .delete(
        `/ocs/${version}/core/apppassword`,
        { ...CLIENT_ROUTE, audit: { action: "app_password.delete" } },
        async ({ request, principal: { user, appPassword } }) => {
          noteAudit(request, { target: { type: "app_password", id: appPassword.publicId } });
          await appPasswords.revoke(user.id, appPassword.publicId);
          return ocsResponse(request, []);
        },
      );
  }
  return router;
}

/** Thumbnails of files, by their number. */
function previewRoutes({ guard, sender, rateGate, ...sources }: OcsRoutesOptions): Router {
  const router = new Router({ guard });
  for (const path of ["/index.php/core/preview", "/index.php/core/preview.png"]) {
    router.get(path, READ, ({ request, set, principal }) => {
      const query = queryOf(request);
      const file = previewedFile(sources, principal, query["fileId"]);
      return sender.sendThumbnail(file, variantFor(query["x"], query["y"]), {
        request,
        set,
        query,
        callerKey: `u:${principal.user.id}`,
        countWhole: () => rateGate.countWholeDownload(request, set.headers),
      });
    });
  }
  return router;
}

/** What this server does not have, in the form that the clients understand. */
function absentRoutes(): Router {
  const router = new Router();
  const paths = ["/ocs/*", "/index.php/apps/*", "/index.php/ocs/*", "/index.php/avatar/*", "/remote.php/dav/avatars/*"];
  for (const path of paths) {
    router
      .get(path, PUBLIC, ({ request }) => ocsNotFound(request))
      .post(path, PUBLIC, ({ request }) => ocsNotFound(request))
      .put(path, PUBLIC, ({ request }) => ocsNotFound(request))
      .delete(path, PUBLIC, ({ request }) => ocsNotFound(request));
  }
  return router;
}
