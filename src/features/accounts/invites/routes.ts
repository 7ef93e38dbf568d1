/** /api/admin/invites, and the page of an invitation. */
import { parseDuration } from "../../../config/quantities.ts";
import { AppError, invalidField } from "../../../errors.ts";
import { noteAudit } from "../../../http/audit-note.ts";
import { ok, paginate } from "../../../http/envelope.ts";
import { ERROR_RESPONSES, errorText } from "../../../http/error-response.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { statedLanguage } from "../../../http/language.ts";
import { IdParams, readInteger, queryOf } from "../../../http/fields.ts";
import { readForm } from "../../../http/read-form.ts";
import type { Clock } from "../../../lib/clock.ts";
import {
  INVITE_FIELDS,
  type InvitePageModel,
  renderInviteDonePage,
  renderInviteGonePage,
  renderInvitePage,
} from "../../../web/pages/invite-page.ts";
import { SCRIPTED_PAGE_HEADERS } from "../../../web/pages/scripted-page.ts";
import { say } from "../../../translations/say.ts";
import type { PageScripts } from "../../../web/bundle/client-files.ts";
import { pageFrame, pageResponse } from "../../../web/pages/page.ts";
import type { authGuard } from "../auth/guard.ts";
import { isFromOurPage } from "../auth/own-forms.ts";
import type { ProofService } from "../auth/proof.ts";
import { clientOf, type SessionCookies } from "../auth/routes.ts";
import type { AuthService } from "../auth/service.ts";
import type { User } from "../users/types.ts";
import { ADMIN_READ, ADMIN_ROUTE, PAGE_ROUTE } from "../routing/declaration.ts";
import { Router } from "../routing/router.ts";
import * as docs from "./openapi.ts";
import { LIMIT_DEFAULT, LIMIT_MAX, NewInviteBody } from "./model.ts";
import { presentInvite } from "./present.ts";
import type { InviteService } from "./service.ts";
import type { Invite } from "./types.ts";

/** Dependencies of the routes of invitations. */
export interface InviteRoutesOptions {
  readonly invites: InviteService;
  readonly auth: AuthService;
  readonly proof: ProofService;
  readonly cookies: SessionCookies;
  readonly guard: ReturnType<typeof authGuard>;
  readonly clock: Clock;
  /** `""`, or the path below which everything is served. */
  readonly basePath: string;
  /** The scripts of the page; empty if they could not be loaded. */
  readonly welcomeScripts: (language: string) => Promise<PageScripts>;
}
const HEADERS = SCRIPTED_PAGE_HEADERS;

export function inviteRoutes(options: InviteRoutesOptions) {
  const { invites, guard, proof, clock } = options;
  const present = (invite: Invite) => presentInvite(invite, invites.stateOf(invite));
  return new Router({ guard })
    .post(
      "/api/admin/invites",
      {
        ...ADMIN_ROUTE,
        audit: { action: "invite.create", target: "invite" },
        docs: docs.createInvite,
        body: NewInviteBody,
      },
      async ({ request, set, principal, body }) => {
        const { email, role = "user", plan } = body;
        const checkProof =
          role === "admin" ? await proof.require("admin", { request, set, principal, body }) : undefined;
        const { id, name } = principal.user;
        const expiresAtMs = readExpiry(body, clock.nowMs());
        const { baseUrl } = requestContextOf(request);
        const newInvite = { email, role, plan, expiresAtMs, by: { id, name } };
        const { invite, token, url, isMailed } = await invites.add(
          newInvite,
          (token) => inviteUrl(baseUrl, token),
          checkProof,
        );
        noteAudit(request, { details: { role, plan: plan ?? null, email: email ?? null } });
        set.status = 201;
        return ok({ ...present(invite), invite: token, url, mailed: isMailed });
      },
    )
    .get("/api/admin/invites", { ...ADMIN_READ, docs: docs.listInvites }, ({ request }) => {
      const query = queryOf(request);
      const page = readInteger(query, "page", {
        min: 1,
        max: Math.floor(Number.MAX_SAFE_INTEGER / 1000),
        default: 1,
      });
      const limit = readInteger(query, "limit", { min: 1, max: LIMIT_MAX, default: LIMIT_DEFAULT });
      const { invites: found, total } = invites.list(limit, (page - 1) * limit);
      return ok({ invites: found.map(present), pagination: paginate(page, limit, total) });
    })
    .delete(
      "/api/admin/invites/:id",
      {
        ...ADMIN_ROUTE,
        audit: { action: "invite.revoke", target: "invite", targetParam: "id" },
        docs: docs.revokeInvite,
        params: IdParams,
      },
      async ({ params }) => {
        await invites.remove(params.id);
        return ok({ id: params.id }, "The invitation was revoked.");
      },
    )
    .use(invitePage(options));
}

/** The address of the page of an invitation. The token is in the query, which no log records. */
function inviteUrl(baseUrl: string, token: string): string {
  return `${baseUrl}/invite?token=${token}`;
}

/** GET and POST /invite. */
function invitePage({ invites, auth, cookies, basePath, welcomeScripts }: InviteRoutesOptions) {
  const linkEnded = (request: Request) =>
    pageResponse(renderInviteGonePage(pageFrame(request, basePath)), 404, HEADERS);
  const show = async (request: Request, model: InvitePageModel, status: number) => {
    const frame = pageFrame(request, basePath);
    const scripted = { ...frame, ...(await welcomeScripts(frame.language)) };
    return pageResponse(renderInvitePage(scripted, model), status, HEADERS);
  };
  return new Router()
    .get("/invite", PAGE_ROUTE, ({ request }) => {
      const token = queryOf(request)["token"] ?? "";
      const boundTo = invites.addressOf(token);
      return boundTo === undefined ? linkEnded(request) : show(request, { token, boundTo }, 200);
    })
    .post(
      "/invite",
      {
        ...PAGE_ROUTE,
        audit: { action: "sign_up", target: "user" },
        parse: "none",
      },
      async ({ request }) => {
        const form = await readForm(request);
        const token = form.get("token") ?? "";
        const boundTo = invites.addressOf(token);
        if (boundTo === undefined) return linkEnded(request);
        const email = boundTo ?? form.get("email") ?? "";
        const name = form.get("name")?.trim() ?? "";
        let user: User;
        try {
          const password = form.get("password") ?? "";
          const language = statedLanguage(request);
          user = await invites.accept(token, { email, password, language, ...(name !== "" && { name }) });
        } catch (error) {
          if (!(error instanceof AppError)) throw error;
          // Somebody used the invitation while this form was in progress.
          if (invites.addressOf(token) === undefined) return linkEnded(request);
          const field = INVITE_FIELDS.find((known) => known === error.details["field"]);
          const [status] = ERROR_RESPONSES[error.reason];
          return show(
            request,
            { token, boundTo, email, name, problem: { field, message: errorText(error, request) } },
            status,
          );
        }
        noteAudit(request, { userId: user.publicId, details: { invited: true } });
        // A form of another site must not sign anybody in to an account whose password that site knows.
        const isOurForm = isFromOurPage(request);
        const done = renderInviteDonePage(pageFrame(request, basePath), { email: user.email, isSignedIn: isOurForm });
        if (!isOurForm) return pageResponse(done, 201, HEADERS);
        const signedIn = await auth.signInConfirmed(user, clientOf(request));
        return pageResponse(done, 201, { ...HEADERS, "set-cookie": cookies.forSignIn(request, signedIn) });
      },
    );
}

/** @throws AppError invalid_field */
function readExpiry({ expiresAt, expiresIn }: typeof NewInviteBody.static, nowMs: number): number | undefined {
  if (expiresAt !== undefined && expiresIn !== undefined) {
    throw invalidField("expiresIn", say`Send either expiresAt or expiresIn, not both.`);
  }
  if (expiresIn !== undefined) {
    const lifetimeMs = parseDuration(expiresIn);
    if (lifetimeMs === undefined || lifetimeMs <= 0) {
      throw invalidField("expiresIn", say`expiresIn must be a duration, such as "12h" or "7d".`);
    }
    return nowMs + lifetimeMs;
  }
  if (expiresAt === undefined) return undefined;
  const atMs = /^\d{4}-\d\d-\d\d/.test(expiresAt) ? Date.parse(expiresAt) : Number.NaN;
  if (Number.isNaN(atMs))
    throw invalidField("expiresAt", say`expiresAt must be an ISO 8601 time, such as 2026-01-02T03:04:05.678Z.`);
  return atMs;
}
