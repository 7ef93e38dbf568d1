/** /api/auth/oidc/link: by which providers an account can be entered; and what links and sign-ins begin with. */
import { Elysia } from "elysia";
import { AppError } from "../../../errors.ts";
import { documented } from "../../../http/documented.ts";
import { ok } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import { PROOF_ERRORS } from "../auth/confirm-routes.ts";
import { type authGuard, takesJson } from "../auth/guard.ts";
import { sessionPrincipalOf } from "../auth/principal.ts";
import type { Asking, ProofService, Proven } from "../auth/proof.ts";
import { Identity, LinkBody, ProviderConfirmBody } from "./model.ts";
import { ATTEMPT_MS, type OidcService } from "./service.ts";

/** What these routes work with. */
export interface OidcLinkRoutesOptions {
  /** @throws AppError not_found where none is configured */
  readonly provider: () => OidcService;
  readonly attempts: ReturnType<typeof attemptCookie>;
  readonly proof: ProofService;
  readonly guard: ReturnType<typeof authGuard>;
}

const ATTEMPT_COOKIE = "larder_oidc";

/** See the head of this file. */
export function oidcLinkRoutes({ provider, attempts, proof, guard }: OidcLinkRoutesOptions) {
  return new Elysia({ name: "oidc-link-routes" })
    .use(guard)
    .get(
      "/oidc/link",
      ({ principal }) =>
        ok({
          identities: provider()
            .identities.list(principal.user.id)
            .map(({ issuer, createdAtMs }) => ({ issuer, createdAt: toTimestamp(createdAtMs) })),
        }),
      {
        access: "self",
        ...documented({
          tag: "Authentication",
          summary: "By which providers this account can be entered",
          description: "Identities of OpenID Connect providers that are linked to the account.",
          access: "self",
          data: {
            type: "object",
            required: ["identities"],
            properties: { identities: { type: "array", items: Identity } },
          },
          errors: ["not_found"],
        }),
      },
    )
    .post(
      "/oidc/link",
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
      {
        ...takesJson("self", LinkBody, false),
        ...documented({
          takesJson: true,
          tag: "Authentication",
          summary: "Let this account be entered by the provider",
          description:
            "For browsers: go to `url` with the cookie that the answer sets, and sign in there; from then on whoever signs " +
            "in there enters this account. Its owner gets a mail. Needs proof: `currentPassword` (and `code`), or a confirmed " +
            "session.",
          access: "self",
          data: { type: "object", required: ["url"], properties: { url: { type: "string" } } },
          errors: [...PROOF_ERRORS, "not_found", "provider_unavailable"],
        }),
      },
    )
    .post(
      "/confirm/provider",
      async ({ body, principal, request, set }) => {
        const { user, session } = sessionPrincipalOf(principal);
        const oidc = provider();
        if (!proof.methodsOf(user).includes("provider")) {
          throw new AppError("invalid_request", "This account confirms by its password or a passkey. Use one of them.");
        }
        const { address, sealed } = await oidc.begin({
          redirectUri: callbackOf(request),
          returnTo: body.returnTo,
          bySession: { purpose: "confirm", user, sessionId: session.publicId },
        });
        set.headers["set-cookie"] = attempts.keep(request, sealed);
        return ok({ url: address });
      },
      {
        ...takesJson("self", ProviderConfirmBody, false),
        ...documented({
          takesJson: true,
          tag: "Authentication",
          summary: "Begin to confirm this session by the provider",
          description:
            "For browsers, and for accounts whose password nobody knows: go to `url` with the cookie that the response sets, " +
            "and sign in there once more (prompt=login, max_age=0; the provider's auth_time is checked). Then this session " +
            "is confirmed as by POST /api/auth/confirm, and the browser is sent to `returnTo`, or shows a page to be closed.",
          access: "self",
          data: { type: "object", required: ["url"], properties: { url: { type: "string" } } },
          errors: ["invalid_request", "not_found", "provider_unavailable"],
        }),
      },
    )
    .delete(
      "/oidc/link",
      async ({ body, principal, request, set }) => {
        const { identities } = provider();
        const proven = await prove({ request, headers: set.headers, principal }, body);
        return ok({ removed: await identities.unlink(principal.user.id, proven) });
      },
      {
        ...takesJson("self", LinkBody, false),
        ...documented({
          takesJson: true,
          tag: "Authentication",
          summary: "Enter this account by the provider no more",
          description: "Sessions stay. Without a password of its own, set one first: see password/forgot.",
          access: "self",
          data: { type: "object", required: ["removed"], properties: { removed: { type: "integer" } } },
          errors: [...PROOF_ERRORS, "not_found"],
        }),
      },
    );

  /** A sign-in by the provider skips our second factor, so linking one requires it. */
  async function prove(asking: Omit<Asking, "access">, body: typeof LinkBody.static): Promise<Proven> {
    const currentPassword = body.currentPassword ?? body.password;
    return proof.require({ ...asking, access: "self" }, { currentPassword, code: body.code });
  }
}

/** Where the provider sends the browser back to. */
export function callbackOf(request: Request): string {
  return `${requestContextOf(request).baseUrl}/api/auth/oidc/callback`;
}

/** The cookie that keeps a sign-in under way with its browser. Lax: the browser comes back from another site. */
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
    /** For the answer that begins it. */
    keep: (request: Request, sealed: string) => make(request, sealed, ATTEMPT_MS / 1000),
    /** For the answer that ends it. */
    forget: (request: Request) => make(request, "", 0),
    /** What the browser kept. */
    read(request: Request): string | undefined {
      const header = request.headers.get("cookie");
      return header === null ? undefined : (new Bun.CookieMap(header).get(ATTEMPT_COOKIE) ?? undefined);
    },
  };
}
