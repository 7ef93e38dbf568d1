import { t } from "elysia";
import { rateLimitKey } from "../../../http/client-address.ts";
import { ok } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { linkRequestOf } from "../../sharing/shares/share-requests.ts";
import type { DropBox } from "../../sharing/shares/drop-box-form.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { guestSender } from "./guest-sender.ts";
import { capabilities, uploadsPathOf, type TusRequest, TusRequests, type TusRequestsOptions } from "./tus-requests.ts";
import { presentGuestTus } from "./present.ts";

/** Dependencies of the routes of guests. */
export interface PublicTusRoutesOptions extends TusRequestsOptions {
  readonly dropBox: DropBox;
  readonly guard: ReturnType<typeof authGuard>;
}

const TokenParams = t.Object({ token: t.String() });
const UploadParams = t.Object({ token: t.String(), uploadId: t.String({ description: "tus_…, as Location gave it" }) });
const GUEST_UPLOAD = { access: "public", rate: "general" } as const;
const AUDITED_UPLOAD = { action: "share.upload", files: "all" } as const;
const UPLOADS_PATH = "/api/public/:token/tus";

const setCapabilities = ({ set }: { set: TusRequest["set"] }) => {
  Object.assign(set.headers, capabilities(null));
  return new Response(null, { status: 204 });
};

/** /api/public/{token}/tus: as /api/tus, into a drop box. */
export function publicTusRoutes(options: PublicTusRoutesOptions) {
  const { dropBox, guard } = options;
  const requests = new TusRequests(options);
  const tusRequestOf = (token: string, request: Request, set: TusRequest["set"]): TusRequest => ({
    sender: guestSender(
      dropBox,
      linkRequestOf(request, token, "upload"),
      rateLimitKey(requestContextOf(request).clientAddress),
    ),
    request,
    set,
    uploadsPath: uploadsPathOf(request, `/api/public/${encodeURIComponent(token)}/tus`),
  });
  return new Router({ guard })
    .options(
      UPLOADS_PATH,
      { access: "public", rate: "operations", audit: "unaudited", docs: "hidden" },
      setCapabilities,
    )
    .options(`${UPLOADS_PATH}/:uploadId`, { ...GUEST_UPLOAD, audit: "unaudited", docs: "hidden" }, setCapabilities)
    .post(
      UPLOADS_PATH,
      {
        ...GUEST_UPLOAD,
        rate: "uploads",
        audit: AUDITED_UPLOAD,
        docs: docs.createInDropBox,
        params: TokenParams,
        parse: "none",
      },
      async ({ params, request, set }) => {
        return ok(presentGuestTus(await requests.create(tusRequestOf(params.token, request, set))));
      },
    )
    .get(
      `${UPLOADS_PATH}/:uploadId`,
      {
        ...GUEST_UPLOAD,
        audit: "unaudited",
        docs: docs.progressInDropBox,
        params: UploadParams,
        acknowledges: true,
      },
      async ({ params, request, set }) => {
        return ok(presentGuestTus(await requests.show(tusRequestOf(params.token, request, set), params.uploadId)));
      },
    )
    .patch(
      `${UPLOADS_PATH}/:uploadId`,
      { ...GUEST_UPLOAD, audit: AUDITED_UPLOAD, docs: docs.appendInDropBox, params: UploadParams, parse: "none" },
      ({ params, request, set }) => requests.append(tusRequestOf(params.token, request, set), params.uploadId),
    )
    .post(
      `${UPLOADS_PATH}/:uploadId`,
      { ...GUEST_UPLOAD, audit: AUDITED_UPLOAD, docs: docs.overrideInDropBox, params: UploadParams, parse: "none" },
      ({ params, request, set }) => requests.override(tusRequestOf(params.token, request, set), params.uploadId),
    )
    .delete(
      `${UPLOADS_PATH}/:uploadId`,
      { ...GUEST_UPLOAD, audit: "unaudited", docs: docs.endInDropBox, params: UploadParams },
      ({ params, request, set }) => requests.end(tusRequestOf(params.token, request, set), params.uploadId),
    );
}
