import { AppError } from "../../../errors.ts";
import { ERROR_RESPONSES } from "../../../http/error-response.ts";
import { rateLimitKey } from "../../../http/client-address.ts";
import { statedLanguage } from "../../../http/language.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import type { RateGate } from "../rate-limits/guard.ts";
import { parseEmail } from "../users/email.ts";
import { Router } from "../routing/router.ts";
import * as docs from "./openapi.ts";
import { type authGuard, identityOf, SESSION_COOKIE } from "./guard.ts";
import { SignInBody, SignOutBody, SignUpBody } from "./model.ts";
import { checkingFrom } from "../users/password-line.ts";
import { presentSession, presentSignedIn, presentUser } from "./present.ts";
import { type ClientInfo, sessionPrincipalOf } from "./principal.ts";
import { type AuthService, DEVICE_TOKEN_LIFETIME_MS, type SignedIn } from "./service.ts";

/** Makes the Set-Cookie headers of the session cookie. */
export interface SessionCookies {
  /** Set-Cookie for a sign-in. */
  forSignIn(request: Request, signedIn: SignedIn): string;
  /** Set-Cookie that removes it from the browser. */
  clear(request: Request): string;
}

/**
 * No script can read the cookie (HttpOnly). Browsers send it with links from other sites but not with their forms
 * (SameSite=Lax), and only over HTTPS if the sign-in used HTTPS.
 * @param path the path for which browsers send it: the base path, or `/`
 */
export function sessionCookies(path: string, tokenLifetimeMs: number): SessionCookies {
  const make = (request: Request, value: string, maxAgeSeconds: number) =>
    new Bun.Cookie(SESSION_COOKIE, value, {
      path,
      httpOnly: true,
      sameSite: "lax",
      secure: requestContextOf(request).isSecure,
      maxAge: maxAgeSeconds,
    }).toString();
  return {
    forSignIn: (request, signedIn) => make(request, signedIn.token, Math.floor(tokenLifetimeMs / 1000)),
    clear: (request) => make(request, "", 0),
  };
}

/** Dependencies of the sign-in routes. */
export interface AuthRoutesOptions {
  readonly auth: AuthService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly rateGate: RateGate;
  readonly tokenLifetimeMs: number;
  readonly cookies: SessionCookies;
}

/** /api/auth: sign-up and sign-in. */
export function authRoutes({ auth, guard, rateGate, tokenLifetimeMs, cookies }: AuthRoutesOptions) {
  return new Router({ prefix: "/api/auth", guard })
    .onError(({ error, request, set }) => {
      // A sign-in that names no account counts too: every request under /api counts towards a limit.
      const isMalformed = isRejectedBody(error) && requestContextOf(request).path === "/api/auth/signin";
      if (isMalformed) rateGate.countMalformedSignIn(request, set.headers);
    })
    .post(
      "/signup",
      {
        access: "public",
        rate: "signup",
        audit: { action: "sign_up", target: "user" },
        docs: docs.signUp,
        body: SignUpBody,
      },
      async ({ body, request, set }) => {
        const addressKey = rateLimitKey(requestContextOf(request).clientAddress);
        const signedIn = await checkingFrom(addressKey, () => auth.signUp(body, clientOf(request)));
        if (body.cookie === true) set.headers["set-cookie"] = cookies.forSignIn(request, signedIn);
        set.status = 201;
        return presentSignedIn(signedIn, tokenLifetimeMs);
      },
    )
    .post(
      "/signin",
      {
        access: "public",
        rate: { category: "signin", countedBy: "handler" },
        audit: { action: "sign_in", isGuess: true },
        docs: docs.signIn,
        body: SignInBody,
      },
      async ({ body, request, set }) => {
        const email = parseEmail(body.email);
        const checked = await rateGate.guardSignIn(request, set.headers, email, () =>
          auth.checkCredentials(email, body.password, body.code),
        );
        const signedIn = await auth.signIn(checked, clientOf(request));
        if (body.cookie === true) set.headers["set-cookie"] = cookies.forSignIn(request, signedIn);
        return presentSignedIn(signedIn, tokenLifetimeMs);
      },
    );
}

/** /api/auth: session, refresh and sign-out. */
export function sessionRoutes({ auth, guard, tokenLifetimeMs, cookies }: AuthRoutesOptions) {
  return new Router({ prefix: "/api/auth", guard })
    .get(
      "/session",
      { access: "self", scope: "any", rate: "general", audit: "unaudited", docs: docs.session },
      ({ principal }) => ({
        success: true as const,
        user: presentUser(principal.user),
        session: presentSession(principal, principal.session && auth.confirmedUntil(principal.session)),
      }),
    )
    .post(
      "/refresh",
      { access: "self", scope: "never", rate: "refresh", audit: "unaudited", docs: docs.refresh, parse: "none" },
      async ({ principal, request, set }) => {
        const signedIn = await auth.refresh(sessionPrincipalOf(principal), clientOf(request));
        if (identityOf(request).isByCookie) set.headers["set-cookie"] = cookies.forSignIn(request, signedIn);
        const lifetimeMs = principal.device === undefined ? tokenLifetimeMs : DEVICE_TOKEN_LIFETIME_MS;
        return presentSignedIn(signedIn, lifetimeMs);
      },
    )
    .post(
      "/signout",
      {
        access: "self",
        scope: "never",
        rate: "general",
        audit: { action: "sign_out" },
        docs: docs.signOut,
        body: SignOutBody,
        isBodyOptional: true,
      },
      async ({ body, principal, request, set }) => {
        await auth.signOut(sessionPrincipalOf(principal), body.everywhere ?? false);
        if (identityOf(request).isByCookie) set.headers["set-cookie"] = cookies.clear(request);
        return { success: true as const, message: body.everywhere ? "Signed out everywhere." : "Signed out." };
      },
    );
}

function isRejectedBody(error: unknown): boolean {
  const cause = error instanceof AppError || !(error instanceof Error) ? error : error.cause;
  return cause instanceof AppError && ERROR_RESPONSES[cause.reason][1] === "VALIDATION_ERROR";
}

/** The origin of a request, as a session stores it. */
export function clientOf(request: Request): ClientInfo {
  return {
    address: requestContextOf(request).clientAddress,
    userAgent: request.headers.get("user-agent") ?? undefined,
    language: statedLanguage(request),
  };
}
