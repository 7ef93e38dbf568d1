import { Elysia, t } from "elysia";
import { rateLimitKey } from "../../../http/client-address.ts";
import { documented } from "../../../http/documented.ts";
import { ok } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { linkRequestOf } from "../../sharing/shares/guard.ts";
import type { DropBox } from "../../sharing/shares/upload-form.ts";
import { guestSender } from "./guest-sender.ts";
import { capabilities, homeOf, type TusCall, TusCalls, type TusCallsOptions } from "./guard.ts";
import { FirstBytes, GuestTusRecord, OffsetBytes } from "./model.ts";
import { presentGuestTus } from "./present.ts";
import { BYTES_ERRORS, BYTES_HEADERS, CREATION_HEADERS, TUS_HEADERS } from "./routes.ts";

/** What the routes of guests work with. */
export interface PublicTusRoutesOptions extends TusCallsOptions {
  readonly dropBox: DropBox;
  readonly guard: ReturnType<typeof authGuard>;
}

const TokenParams = t.Object({ token: t.String() });
const UploadParams = t.Object({ token: t.String(), uploadId: t.String({ description: "tus_…, as Location gave it" }) });
const HOME = "/api/public/:token/tus";
const GRANT = { "X-Share-Grant": "What unlock gave, for a locked share" };
const ERRORS = [...BYTES_ERRORS, "share_expired", "share_used_up", "password_required"] as const;

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
  return new Elysia({ name: "public-tus-routes" })
    .use(guard)
    .options(HOME, setCapabilities, { access: "public" })
    .options(`${HOME}/:uploadId`, setCapabilities, { access: "public" })
    .post(
      HOME,
      async ({ params, request, set }) => {
        return ok(presentGuestTus(await calls.create(callOf(params.token, request, set))));
      },
      {
        access: "public",
        parse: "none",
        params: TokenParams,
        ...documented({
          tag: "Public links",
          summary: "Begin a resumable upload into a drop box",
          description:
            "As /api/tus, for whoever has the link. Of the metadata filename, filetype, checksum and sender count. Only who " +
            "knows its address goes on with it. The owner's quota is asked for as the bytes come.",
          access: "public",
          status: 201,
          headers: { ...CREATION_HEADERS, ...GRANT },
          requestBody: FirstBytes,
          data: GuestTusRecord,
          errors: ERRORS,
        }),
      },
    )
    .get(
      `${HOME}/:uploadId`,
      async ({ params, request, set }) => {
        return ok(presentGuestTus(await calls.show(callOf(params.token, request, set), params.uploadId)));
      },
      {
        access: "public",
        params: UploadParams,
        ...documented({
          tag: "Public links",
          summary: "How far a resumable upload into a drop box is",
          description: "HEAD tells it in headers, as tus has it.",
          access: "public",
          headers: { ...TUS_HEADERS, ...GRANT },
          data: GuestTusRecord,
          errors: ERRORS,
        }),
      },
    )
    .patch(
      `${HOME}/:uploadId`,
      ({ params, request, set }) => calls.append(callOf(params.token, request, set), params.uploadId),
      {
        access: "public",
        parse: "none",
        params: UploadParams,
        ...documented({
          tag: "Public links",
          summary: "Send bytes of a resumable upload into a drop box",
          description: "Durable when answered. The last bytes make the file.",
          access: "public",
          status: 204,
          headers: { ...BYTES_HEADERS, ...GRANT },
          requestBody: OffsetBytes,
          errors: ERRORS,
        }),
      },
    )
    .post(
      `${HOME}/:uploadId`,
      ({ params, request, set }) => calls.override(callOf(params.token, request, set), params.uploadId),
      {
        access: "public",
        parse: "none",
        params: UploadParams,
        ...documented({
          tag: "Public links",
          summary: "PATCH, HEAD or DELETE of a resumable upload into a drop box, for clients that can't send these",
          description: "The method is named by the header X-HTTP-Method-Override.",
          access: "public",
          status: 204,
          otherResponses: { 200: "In place of HEAD" },
          headers: { ...BYTES_HEADERS, ...GRANT, "X-HTTP-Method-Override": "PATCH, HEAD or DELETE" },
          requestBody: OffsetBytes,
          errors: [...ERRORS, "method_not_allowed"],
        }),
      },
    )
    .delete(
      `${HOME}/:uploadId`,
      ({ params, request, set }) => calls.end(callOf(params.token, request, set), params.uploadId),
      {
        access: "public",
        params: UploadParams,
        ...documented({
          tag: "Public links",
          summary: "End a resumable upload into a drop box",
          description: "Its bytes are removed.",
          access: "public",
          status: 204,
          headers: { ...TUS_HEADERS, ...GRANT },
          errors: ERRORS,
        }),
      },
    );
}
