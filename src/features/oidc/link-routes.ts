/** /api/auth/oidc/link: by which providers an account can be entered; and what links and sign-ins begin with. */
import { Elysia } from "elysia";
import { documented } from "../../http/documented.ts";
import { ok } from "../../http/envelope.ts";
import { exchangeOf } from "../../http/exchange.ts";
import { toTimestamp } from "../../lib/clock.ts";
import { type authGuard, takesJson } from "../auth/guard.ts";
import type { AuthService, CheckedUser } from "../auth/service.ts";
import type { RateGate } from "../rate-limits/guard.ts";
import { Identity, LinkBody } from "./model.ts";
import { ATTEMPT_MS, type OidcService } from "./service.ts";

/** What these routes work with. */
export interface OidcLinkRoutesOptions {
  /** @throws AppError not_found where none is configured */
  readonly provider: () => OidcService;
  readonly attempts: ReturnType<typeof attemptCookie>;
  readonly auth: AuthService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly rateGate: RateGate;
}

const ATTEMPT_COOKIE = "larder_oidc";

/** See the head of this file. */
export function oidcLinkRoutes({ provider, attempts, auth, guard, rateGate }: OidcLinkRoutesOptions) {
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
        const linkTo = await prove(principal.user.email, body, request, set.headers);
        const { address, sealed } = await provider().begin({
          redirectUri: callbackOf(request),
          returnTo: body.returnTo,
          linkTo,
        });
        set.headers["set-cookie"] = attempts.keep(request, sealed);
        return ok({ url: address });
      },
      {
        ...takesJson("self", LinkBody),
        ...documented({
          takesJson: true,
          tag: "Authentication",
          summary: "Let this account be entered by the provider",
          description:
            "For browsers: go to `url` with the cookie that the answer sets, and sign in there; from then on whoever signs " +
            "in there enters this account. Its owner is told by mail. With two-factor sign-in on it needs `code` too.",
          access: "self",
          data: { type: "object", required: ["url"], properties: { url: { type: "string" } } },
          errors: ["bad_credentials", "second_factor_required", "invalid_code", "not_found", "provider_unavailable"],
        }),
      },
    )
    .delete(
      "/oidc/link",
      async ({ body, principal, request, set }) => {
        const { identities } = provider();
        await prove(principal.user.email, body, request, set.headers);
        return ok({ removed: await identities.unlink(principal.user.id) });
      },
      {
        ...takesJson("self", LinkBody),
        ...documented({
          takesJson: true,
          tag: "Authentication",
          summary: "Enter this account by the provider no more",
          description: "Sessions stay. Without a password of its own, set one first: see password/forgot.",
          access: "self",
          data: { type: "object", required: ["removed"], properties: { removed: { type: "integer" } } },
          errors: ["bad_credentials", "second_factor_required", "invalid_code", "not_found"],
        }),
      },
    );

  /** The provider asks for no code of ours: whoever lets it in must show the second factor that sign-in asks for. */
  async function prove(
    email: string,
    { password, code }: typeof LinkBody.static,
    request: Request,
    headers: Record<string, string | number>,
  ): Promise<CheckedUser> {
    return rateGate.guardPassword(request, headers, email, () => auth.checkCredentials(email, password, code));
  }
}

/** Where the provider sends the browser back to. */
export function callbackOf(request: Request): string {
  return `${exchangeOf(request).baseUrl}/api/auth/oidc/callback`;
}

/** The cookie that keeps a sign-in under way with its browser. Lax: the browser comes back from another site. */
export function attemptCookie(basePath: string) {
  const make = (request: Request, sealed: string, maxAge: number) =>
    new Bun.Cookie(ATTEMPT_COOKIE, sealed, {
      path: `${basePath}/api/auth/oidc`,
      httpOnly: true,
      sameSite: "lax",
      secure: exchangeOf(request).isSecure,
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
