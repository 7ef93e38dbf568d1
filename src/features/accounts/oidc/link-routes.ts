/** /api/auth/oidc/link links an account to the provider. Also the state that every sign-in by the provider needs. */
import { AppError } from "../../../errors.ts";
import { ok } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import { say } from "../../../translations/say.ts";
import type { authGuard } from "../auth/guard.ts";
import { sessionPrincipalOf } from "../auth/principal.ts";
import type { GivenProof, ProofContext, ProofService } from "../auth/proof.ts";
import { Router } from "../routing/router.ts";
import * as docs from "./openapi.ts";
import { LinkBody, ProviderConfirmBody } from "./model.ts";
import { ATTEMPT_MS, type OidcService } from "./service.ts";

/** Dependencies of these routes. */
interface OidcLinkRoutesOptions {
  /** Undefined if no provider is configured. */
  readonly oidc: OidcService | undefined;
  readonly proof: ProofService;
  readonly guard: ReturnType<typeof authGuard>;
  /** `""`, or the path below which everything is served. */
  readonly basePath: string;
}

type LinkContext = ProofContext<GivenProof & { readonly password?: string; readonly returnTo?: string }>;

const ATTEMPT_COOKIE = "larder_oidc";
const LINK_BODY = { body: LinkBody, isBodyOptional: true } as const;
/** No API key can call these routes. */
const OWN_ROUTE = { access: "self", scope: "never", rate: "general" } as const;

export function oidcLinkRoutes({ oidc, proof, guard, basePath }: OidcLinkRoutesOptions) {
  const attempts = attemptCookie(basePath);
  // The provider's sign-in skips our second factor, so linking one requires it.
  const prove = ({ body, ...context }: LinkContext) => {
    const { currentPassword, password, code } = body;
    return proof.require("self", { ...context, body: { currentPassword: currentPassword ?? password, code } });
  };
  const begin = async (purpose: "link" | "confirm", { request, set, principal, body }: LinkContext) => {
    const { user, session } = sessionPrincipalOf(principal);
    const { address, sealed } = await requireProvider(oidc).begin({
      redirectUri: callbackOf(request),
      returnTo: body.returnTo,
      bySession: { purpose, user, sessionId: session.publicId },
    });
    set.headers["set-cookie"] = attempts.store(request, sealed);
    return ok({ url: address });
  };

  return new Router({ prefix: "/api/auth", guard })
    .get("/oidc/link", { ...OWN_ROUTE, audit: "unaudited", docs: docs.getLink }, ({ principal }) => {
      const identities = requireProvider(oidc).identities.list(principal.user.id);
      return ok({
        identities: identities.map(({ issuer, createdAtMs }) => ({ issuer, createdAt: toTimestamp(createdAtMs) })),
      });
    })
    .post(
      "/oidc/link",
      {
        ...OWN_ROUTE,
        audit: { action: "identity.link", write: "rejections", isGuess: true },
        docs: docs.link,
        ...LINK_BODY,
      },
      async ({ request, set, principal, body }) => {
        await prove({ request, set, principal, body });
        return begin("link", { request, set, principal, body });
      },
    )
    .post(
      "/confirm/provider",
      {
        ...OWN_ROUTE,
        audit: { action: "session.confirm", write: "rejections" },
        docs: docs.confirmByProvider,
        body: ProviderConfirmBody,
        isBodyOptional: true,
      },
      async ({ request, set, principal, body }) => {
        requireProvider(oidc);
        if (!proof.methodsOf(principal.user).includes("provider")) throw notConfirmable();
        return begin("confirm", { request, set, principal, body });
      },
    )
    .delete(
      "/oidc/link",
      {
        ...OWN_ROUTE,
        audit: { action: "identity.unlink", isGuess: true },
        docs: docs.unlink,
        ...LINK_BODY,
      },
      async ({ request, set, principal, body }) => {
        const { identities } = requireProvider(oidc);
        const checkProof = await prove({ request, set, principal, body });
        return ok({ removed: await identities.unlink(principal.user.id, checkProof) });
      },
    );
}

/** @throws AppError not_found if no provider is configured */
export function requireProvider(oidc: OidcService | undefined): OidcService {
  if (oidc !== undefined) return oidc;
  throw new AppError("not_found", say`This server has no sign-in service. Sign in with your password.`);
}

function notConfirmable(): AppError {
  const message = say`This account can't be confirmed with this service. Use your password or a passkey.`;
  return new AppError("invalid_request", message);
}

/** The address to which the provider redirects the browser. */
export function callbackOf(request: Request): string {
  return `${requestContextOf(request).baseUrl}/api/auth/oidc/callback`;
}

/** The cookie of a sign-in in progress. Lax: the browser comes back from another site. */
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
    /** For the response that starts the sign-in. */
    store: (request: Request, sealed: string) => make(request, sealed, ATTEMPT_MS / 1000),
    /** For the response that ends the sign-in. */
    forget: (request: Request) => make(request, "", 0),
    /** The state from the browser's cookie. */
    read(request: Request): string | undefined {
      const header = request.headers.get("cookie");
      return header === null ? undefined : (new Bun.CookieMap(header).get(ATTEMPT_COOKIE) ?? undefined);
    },
  };
}
