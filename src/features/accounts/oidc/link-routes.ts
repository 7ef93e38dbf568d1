/** /api/auth/oidc/link: by which providers an account can be entered; and what links and sign-ins begin with. */
import { AppError } from "../../../errors.ts";
import { ok } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import type { authGuard } from "../auth/guard.ts";
import { sessionPrincipalOf } from "../auth/principal.ts";
import type { Asking, ProofService, Proven } from "../auth/proof.ts";
import { Router } from "../routing/router.ts";
import * as docs from "./openapi.ts";
import { LinkBody, ProviderConfirmBody } from "./model.ts";
import { ATTEMPT_MS, type OidcService } from "./service.ts";

/** Dependencies of these routes. */
export interface OidcLinkRoutesOptions {
  /** @throws AppError not_found where none is configured */
  readonly provider: () => OidcService;
  readonly attempts: ReturnType<typeof attemptCookie>;
  readonly proof: ProofService;
  readonly guard: ReturnType<typeof authGuard>;
}

const ATTEMPT_COOKIE = "larder_oidc";

export function oidcLinkRoutes({ provider, attempts, proof, guard }: OidcLinkRoutesOptions) {
  return new Router({ name: "oidc-link-routes", guard })
    .get(
      "/oidc/link",
      { access: "self", scope: "never", rate: "general", audit: "unaudited", docs: docs.getLink },
      ({ principal }) =>
        ok({
          identities: provider()
            .identities.list(principal.user.id)
            .map(({ issuer, createdAtMs }) => ({ issuer, createdAt: toTimestamp(createdAtMs) })),
        }),
    )
    .post(
      "/oidc/link",
      {
        access: "self",
        scope: "never",
        rate: "general",
        audit: { action: "identity.link", write: "rejections", isGuess: true },
        docs: docs.link,
        body: LinkBody,
        isBodyOptional: true,
      },
      async ({ body, principal, request, set }) => {
        const { user, session } = sessionPrincipalOf(principal);
        await prove({ request, headers: set.headers, principal }, body);
        const { address, sealed } = await provider().begin({
          redirectUri: callbackOf(request),
          returnTo: body.returnTo,
          bySession: { purpose: "link", user, sessionId: session.publicId },
        });
        set.headers["set-cookie"] = attempts.keep(request, sealed);
        return ok({ url: address });
      },
    )
    .post(
      "/confirm/provider",
      {
        access: "self",
        scope: "never",
        rate: "general",
        audit: { action: "session.confirm", write: "rejections" },
        docs: docs.confirmByProvider,
        body: ProviderConfirmBody,
        isBodyOptional: true,
      },
      async ({ body, principal, request, set }) => {
        const { user, session } = sessionPrincipalOf(principal);
        const oidc = provider();
        if (!proof.methodsOf(user).includes("provider")) {
          throw new AppError(
            "invalid_request",
            "This account can't be confirmed with this service. Use your password or a passkey.",
          );
        }
        const { address, sealed } = await oidc.begin({
          redirectUri: callbackOf(request),
          returnTo: body.returnTo,
          bySession: { purpose: "confirm", user, sessionId: session.publicId },
        });
        set.headers["set-cookie"] = attempts.keep(request, sealed);
        return ok({ url: address });
      },
    )
    .delete(
      "/oidc/link",
      {
        access: "self",
        scope: "never",
        rate: "general",
        audit: { action: "identity.unlink", isGuess: true },
        docs: docs.unlink,
        body: LinkBody,
        isBodyOptional: true,
      },
      async ({ body, principal, request, set }) => {
        const { identities } = provider();
        const proven = await prove({ request, headers: set.headers, principal }, body);
        return ok({ removed: await identities.unlink(principal.user.id, proven) });
      },
    );

  /** A sign-in by the provider skips our second factor, so linking one requires it. */
  async function prove(asking: Omit<Asking, "access">, body: typeof LinkBody.static): Promise<Proven> {
    const currentPassword = body.currentPassword ?? body.password;
    return proof.require({ ...asking, access: "self" }, { currentPassword, code: body.code });
  }
}

/** The address to which the provider redirects the browser. */
export function callbackOf(request: Request): string {
  return `${requestContextOf(request).baseUrl}/api/auth/oidc/callback`;
}

/** The cookie that keeps a sign-in in progress with its browser. Lax: the browser comes back from another site. */
export function attemptCookie(basePath: string) {
  const make = (request: Request, sealed: string, maxAge: number) =>
    new Bun.Cookie(ATTEMPT_COOKIE, sealed, {
      path: `${basePath}/api/auth/oidc`,
      httpOnly: true,
      sameSite: "lax",
      secure: requestContextOf(request).isSecure,
      maxAge,
    }).toString();
  return {
    /** For the response that begins it. */
    keep: (request: Request, sealed: string) => make(request, sealed, ATTEMPT_MS / 1000),
    /** For the response that ends it. */
    forget: (request: Request) => make(request, "", 0),
    /** The state from the browser's cookie. */
    read(request: Request): string | undefined {
      const header = request.headers.get("cookie");
      return header === null ? undefined : (new Bun.CookieMap(header).get(ATTEMPT_COOKIE) ?? undefined);
    },
  };
}
