import { Elysia } from "elysia";
import { documented } from "../../http/documented.ts";
import { exchangeOf } from "../../http/exchange.ts";
import type { RateGate } from "../rate-limits/guard.ts";
import { authGuard, identityOf, SESSION_COOKIE, takesJson } from "./guard.ts";
import { SessionAnswer, SignedInAnswer, SignInBody, SignOutBody, SignUpBody } from "./model.ts";
import { presentSession, presentSignedIn, presentUser } from "./present.ts";
import type { ClientInfo } from "./principal.ts";
import type { AuthService, SignedIn } from "./service.ts";

/** What the sign-in routes work with. */
export interface AuthRoutesOptions {
  readonly auth: AuthService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly rateGate: RateGate;
  readonly tokenLifetimeMs: number;
  /** The path that the cookie is for: the base path, or `/`. */
  readonly cookiePath: string;
}

/** /api/auth/* (api.md, Authentication endpoints; contract §2). */
export function authRoutes({ auth, guard, rateGate, tokenLifetimeMs, cookiePath }: AuthRoutesOptions) {
  const sessionCookie = (request: Request, value: string, maxAgeSeconds: number) =>
    new Bun.Cookie(SESSION_COOKIE, value, {
      path: cookiePath,
      httpOnly: true,
      sameSite: "lax",
      secure: exchangeOf(request).isSecure,
      maxAge: maxAgeSeconds,
    }).toString();
  const cookieFor = (request: Request, signedIn: SignedIn) =>
    sessionCookie(request, signedIn.token, Math.floor(tokenLifetimeMs / 1000));

  return new Elysia({ name: "auth-routes", prefix: "/api/auth" })
    .use(guard)
    .post(
      "/signup",
      async ({ body, request, set }) => {
        const signedIn = await auth.signUp(body, clientOf(request));
        set.status = 201;
        return presentSignedIn(signedIn, tokenLifetimeMs);
      },
      {
        ...takesJson("public"),
        body: SignUpBody,
        ...documented({
          tag: "Authentication",
          summary: "Make an account and sign in",
          access: "public",
          status: 201,
          body: SignedInAnswer,
          errors: ["invalid_json", "invalid_field", "email_taken", "signup_closed", "body_too_large", "unsupported_media_type"],
        }),
      },
    )
    .post(
      "/signin",
      async ({ body, request, set }) => {
        const user = await rateGate.guardSignIn(request, set.headers, body.email, () =>
          auth.checkPassword(body.email, body.password),
        );
        const signedIn = await auth.startSession(user, "web", clientOf(request));
        if (body.cookie === true) set.headers["set-cookie"] = cookieFor(request, signedIn);
        return presentSignedIn(signedIn, tokenLifetimeMs);
      },
      {
        ...takesJson("public"),
        body: SignInBody,
        ...documented({
          tag: "Authentication",
          summary: "Sign in",
          description: "An unknown e-mail and a wrong password get the same answer.",
          access: "public",
          body: SignedInAnswer,
          errors: [
            "invalid_json",
            "invalid_field",
            "bad_credentials",
            "account_disabled",
            "body_too_large",
            "unsupported_media_type",
          ],
        }),
      },
    )
    .get(
      "/session",
      ({ principal }) => ({
        success: true as const,
        user: presentUser(principal.user),
        session: presentSession(principal.session),
      }),
      {
        access: "self",
        ...documented({
          tag: "Authentication",
          summary: "Who am I, and until when",
          access: "self",
          body: SessionAnswer,
        }),
      },
    )
    .post(
      "/refresh",
      async ({ principal, request, set }) => {
        const signedIn = await auth.refresh(principal, clientOf(request));
        if (identityOf(request).isByCookie) set.headers["set-cookie"] = cookieFor(request, signedIn);
        return presentSignedIn(signedIn, tokenLifetimeMs);
      },
      {
        access: "self",
        parse: "none",
        ...documented({
          tag: "Authentication",
          summary: "A new token in place of this one",
          description: "The token that was sent is dead from then on.",
          access: "self",
          body: SignedInAnswer,
        }),
      },
    )
    .post(
      "/signout",
      async ({ body, principal, request, set }) => {
        await auth.signOut(principal, body.everywhere ?? false);
        if (identityOf(request).isByCookie) set.headers["set-cookie"] = sessionCookie(request, "", 0);
        return { success: true as const, message: body.everywhere ? "Signed out everywhere." : "Signed out." };
      },
      {
        ...takesJson("self", false),
        body: SignOutBody,
        ...documented({
          tag: "Authentication",
          summary: "End this session, or all of them",
          access: "self",
          body: {
            type: "object",
            required: ["success", "message"],
            properties: { success: { type: "boolean" }, message: { type: "string" } },
          },
          errors: ["invalid_json", "invalid_field"],
        }),
      },
    );
}

/** What a session remembers of where it was started. */
export function clientOf(request: Request): ClientInfo {
  return {
    address: exchangeOf(request).clientAddress,
    userAgent: request.headers.get("user-agent") ?? undefined,
  };
}
