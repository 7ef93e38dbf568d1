/** GET /api/auth/methods, and /api/auth/oidc/*. */
import { AppError } from "../../../errors.ts";
import { type AuditNote, noteAudit } from "../../../http/audit-note.ts";
import { ok } from "../../../http/envelope.ts";
import { ERROR_RESPONSES, errorText } from "../../../http/error-response.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { readChoice, queryOf } from "../../../http/fields.ts";
import { pageFrame, type PageFrame, pageResponse } from "../../../web/pages/page.ts";
import { renderConfirmedPage, renderSignInCodePage, renderSignInFailedPage } from "../../../web/pages/sign-in-page.ts";
import type { authGuard } from "../auth/guard.ts";
import { presentSignedIn } from "../auth/present.ts";
import { clientOf, type SessionCookies } from "../auth/routes.ts";
import type { ProofService } from "../auth/proof.ts";
import type { AuthService } from "../auth/service.ts";
import { Router } from "../routing/router.ts";
import * as docs from "./openapi.ts";
import { attemptCookie, callbackOf, requireProvider } from "./link-routes.ts";
import { CodeBody } from "./model.ts";
import type { SignInMethods } from "./sign-in-methods.ts";
import { CODE_MS, type FinishedSignIn, type OidcService } from "./service.ts";
import { SIGN_IN_MODES } from "./types.ts";

/** Dependencies of these routes. */
export interface OidcRoutesOptions {
  /** Undefined if no provider is configured. */
  readonly oidc: OidcService | undefined;
  readonly auth: AuthService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly proof: ProofService;
  readonly tokenLifetimeMs: number;
  readonly cookies: SessionCookies;
  readonly methodsAt: (baseUrl: string) => SignInMethods;
  /** `""`, or the path below which everything is served. */
  readonly basePath: string;
}

/** Sign-in by the provider, and the list of sign-in methods. */
export function oidcRoutes(options: OidcRoutesOptions) {
  const { oidc, guard, cookies, tokenLifetimeMs, methodsAt, basePath } = options;
  const attempts = attemptCookie(basePath);

  return new Router({ prefix: "/api/auth", guard })
    .get("/methods", { access: "public", rate: "general", audit: "unaudited", docs: docs.methods }, ({ request }) =>
      ok(methodsAt(requestContextOf(request).baseUrl)),
    )
    .get("/oidc/start", { access: "public", rate: "general", audit: "unaudited", docs: docs.start }, ({ request }) =>
      asPage(request, basePath, async () => {
        const query = queryOf(request);
        const { address, sealed } = await requireProvider(oidc).begin({
          redirectUri: callbackOf(request),
          returnTo: query["returnTo"],
          mode: readChoice(query["mode"], "mode", SIGN_IN_MODES),
          challenge: query["challenge"],
        });
        return redirect(address, [attempts.store(request, sealed)]);
      }),
    )
    .get(
      "/oidc/callback",
      {
        access: "public",
        rate: "general",
        audit: { action: "sign_in", write: "rejections", isGuess: true },
        docs: docs.callback,
        acknowledges: true,
      },
      ({ request }) =>
        asPage(request, basePath, async () => {
          const sealed = attempts.read(request);
          const finished = await requireProvider(oidc).finish(
            sealed,
            requestContextOf(request).query,
            clientOf(request),
          );
          return finishedResponse(options, request, finished);
        }),
    )
    .post(
      "/oidc/token",
      {
        access: "public",
        rate: "signin",
        audit: { action: "sign_in", isGuess: true },
        docs: docs.token,
        body: CodeBody,
      },
      async ({ body, request, set }) => {
        const signedIn = await requireProvider(oidc).exchange(body.code, body.verifier, clientOf(request));
        if (body.cookie === true) set.headers["set-cookie"] = cookies.forSignIn(request, signedIn);
        return presentSignedIn(signedIn, tokenLifetimeMs);
      },
    );
}

/** The response to the browser that comes back from the provider. */
function finishedResponse(
  { basePath, cookies }: OidcRoutesOptions,
  request: Request,
  finished: FinishedSignIn,
): Response {
  noteAudit(request, auditNoteFor(finished));
  const forget = attemptCookie(basePath).forget(request);
  const page = finished.returnTo === "" ? finishedPage(pageFrame(request, basePath), finished) : undefined;
  if (page !== undefined) {
    const response = pageResponse(page);
    response.headers.append("set-cookie", forget);
    return response;
  }
  const target = finished.returnTo === "" ? `${basePath}/` : finished.returnTo;
  if (finished.is === "code") return redirect(`${target.split("#")[0]}#code=${finished.code}`, [forget]);
  return redirect(
    target,
    finished.is === "signed-in" ? [forget, cookies.forSignIn(request, finished.signedIn)] : [forget],
  );
}

/** The page that ends a sign-in without a page to return to; undefined if the browser goes to the start page. */
function finishedPage(frame: PageFrame, finished: FinishedSignIn): string | undefined {
  if (finished.is === "code") return renderSignInCodePage(frame, finished.code, CODE_MS / 60_000);
  return finished.is === "confirmed" ? renderConfirmedPage(frame) : undefined;
}

/** The audit note of a finished sign-in, by its most important action. A code gets none; its exchange is logged. */
function auditNoteFor(finished: FinishedSignIn): AuditNote {
  const details = { provider: true };
  if (!("entry" in finished)) {
    const done = finished.is === "linked" ? "identity.link" : "session.confirm";
    return { action: done, userId: finished.user.publicId, details };
  }
  const { user, made, role } = finished.entry;
  const changed = made === "account" ? "sign_up" : made === "link" ? "identity.link" : role && "user.change";
  const action = changed ?? (finished.is === "signed-in" ? "sign_in" : undefined);
  if (action === undefined) return {};
  return { action, userId: user.publicId, details: { ...details, ...(role !== undefined && { role }) } };
}

function redirect(location: string, setCookies: readonly string[]): Response {
  const headers = new Headers({ location, "cache-control": "no-store", "referrer-policy": "no-referrer" });
  for (const cookie of setCookies) headers.append("set-cookie", cookie);
  return new Response(null, { status: 302, headers });
}

/** Turns rejections into a page for browsers, and into the JSON envelope for other clients. */
async function asPage(request: Request, basePath: string, handle: () => Promise<Response>): Promise<Response> {
  try {
    return await handle();
  } catch (error) {
    const isPerson = request.headers.get("accept")?.includes("text/html") === true;
    if (!isPerson || !(error instanceof AppError)) throw error;
    noteAudit(request, { reason: error.reason });
    return pageResponse(
      renderSignInFailedPage(pageFrame(request, basePath), errorText(error, request)),
      ERROR_RESPONSES[error.reason][0],
    );
  }
}
