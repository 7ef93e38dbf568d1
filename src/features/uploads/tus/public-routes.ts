import { t } from "elysia";
import { rateLimitKey } from "../../../http/client-address.ts";
import { ok } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { linkRequestOf } from "../../sharing/shares/guard.ts";
import type { DropBox } from "../../sharing/shares/upload-form.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { guestSender } from "./guest-sender.ts";
import { capabilities, homeOf, type TusCall, TusCalls, type TusCallsOptions } from "./guard.ts";
import { presentGuestTus } from "./present.ts";

/** What the routes of guests work with. */
export interface PublicTusRoutesOptions extends TusCallsOptions {
  readonly dropBox: DropBox;
  readonly guard: ReturnType<typeof authGuard>;
}

const TokenParams = t.Object({ token: t.String() });
const UploadParams = t.Object({ token: t.String(), uploadId: t.String({ description: "tus_…, as Location gave it" }) });
const HOME = "/api/public/:token/tus";

const setCapabilities = ({ set }: { set: TusCall["set"] }) => {
  Object.assign(set.headers, capabilities(null));
  return new Response(null, { status: 204 });
};

/** /api/public/{token}/tus: as /api/tus, into a drop box. */
export function publicTusRoutes(options: PublicTusRoutesOptions) {
  const { dropBox, guard } = options;
  const calls = new TusCalls(options);
  const callOf = (token: string, request: Request, set: TusCall["set"]): TusCall => ({
    sender: guestSender(
      dropBox,
      linkRequestOf(request, token, "drop"),
      rateLimitKey(requestContextOf(request).clientAddress),
    ),
    request,
    set,
    home: homeOf(request, `/api/public/${encodeURIComponent(token)}/tus`),
  });
  return new Router({ name: "public-tus-routes", guard })
    .options(HOME, { access: "public", rate: "operations", audit: "unaudited", docs: "hidden" }, setCapabilities)
    .options(
      `${HOME}/:uploadId`,
      { access: "public", rate: "general", audit: "unaudited", docs: "hidden" },
      setCapabilities,
    )
    .post(
      HOME,
      {
        access: "public",
        rate: "uploads",
        audit: { action: "share.upload", files: "all" },
        docs: docs.createInDropBox,
        params: TokenParams,
        parse: "none",
      },
      async ({ params, request, set }) => {
        return ok(presentGuestTus(await calls.create(callOf(params.token, request, set))));
      },
    )
    .get(
      `${HOME}/:uploadId`,
      { access: "public", rate: "general", audit: "unaudited", docs: docs.progressInDropBox, params: UploadParams },
      async ({ params, request, set }) => {
        return ok(presentGuestTus(await calls.show(callOf(params.token, request, set), params.uploadId)));
      },
    )
    .patch(
      `${HOME}/:uploadId`,
      {
        access: "public",
        rate: "general",
        audit: { action: "share.upload", files: "all" },
        docs: docs.appendInDropBox,
        params: UploadParams,
        parse: "none",
      },
      ({ params, request, set }) => calls.append(callOf(params.token, request, set), params.uploadId),
    )
    .post(
      `${HOME}/:uploadId`,
      {
        access: "public",
        rate: "general",
        audit: { action: "share.upload", files: "all" },
        docs: docs.overrideInDropBox,
        params: UploadParams,
        parse: "none",
      },
      ({ params, request, set }) => calls.override(callOf(params.token, request, set), params.uploadId),
    )
    .delete(
      `${HOME}/:uploadId`,
      { access: "public", rate: "general", audit: "unaudited", docs: docs.endInDropBox, params: UploadParams },
      ({ params, request, set }) => calls.end(callOf(params.token, request, set), params.uploadId),
    );
}
