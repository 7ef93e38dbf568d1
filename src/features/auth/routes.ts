import { Elysia } from "elysia";
import { AppError } from "../../errors.ts";
import { documented } from "../../http/documented.ts";
import { ERROR_ANSWERS } from "../../http/error-response.ts";
import { exchangeOf } from "../../http/exchange.ts";
import type { RateGate } from "../rate-limits/guard.ts";
import { parseEmail } from "../users/email.ts";
import { authGuard, identityOf, SESSION_COOKIE, takesJson } from "./guard.ts";
import { SessionAnswer, SignedInAnswer, SignInBody, SignOutBody, SignUpBody } from "./model.ts";
import { presentSession, presentSignedIn, presentUser } from "./present.ts";
import type { ClientInfo } from "./principal.ts";
import { type AuthService, DEVICE_TOKEN_LIFETIME_MS, type SignedIn } from "./service.ts";

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
    .onError(({ error, request, set }) => {
      // A sign-in that names no account counts too: nothing under /api is free of every limit.
      const isMalformed = isRefusedBody(error) && exchangeOf(request).path === "/api/auth/signin";
      if (isMalformed) rateGate.countMalformedSignIn(request, set.headers);
    })
    .post(
      "/signup",
      async ({ body, request, set }) => {
        const signedIn = await auth.signUp(body, clientOf(request));
        set.status = 201;
        return presentSignedIn(signedIn, tokenLifetimeMs);
      },
      {
        ...takesJson("public", SignUpBody),
        ...documented({
          takesJson: true,
          tag: "Authentication",
          summary: "Make an account and sign in",
          access: "public",
          status: 201,
          body: SignedInAnswer,
          errors: ["email_taken", "signup_closed"],
        }),
      },
    )
    .post(
      "/signin",
      async ({ body, request, set }) => {
        const email = parseEmail(body.email);
        const checked = await rateGate.guardSignIn(request, set.headers, email, () =>
          auth.checkPassword(email, body.password),
        );
        const signedIn = await auth.signIn(checked, clientOf(request));
        if (body.cookie === true) set.headers["set-cookie"] = cookieFor(request, signedIn);
        return presentSignedIn(signedIn, tokenLifetimeMs);
      },
      {
        ...takesJson("public", SignInBody),
        ...documented({
          takesJson: true,
          tag: "Authentication",
          summary: "Sign in",
          description: "An unknown e-mail and a wrong password get the same answer.",
          access: "public",
          body: SignedInAnswer,
          errors: ["bad_credentials", "account_disabled"],
        }),
      },
    )
    .get(
      "/session",
      ({ principal }) => ({
        success: true as const,
        user: presentUser(principal.user),
        session: presentSession(principal),
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
        const lifetimeMs = principal.device === undefined ? tokenLifetimeMs : DEVICE_TOKEN_LIFETIME_MS;
        return presentSignedIn(signedIn, lifetimeMs);
      },
      {
        access: "self",
        parse: "none",
        ...documented({
          tag: "Authentication",
          summary: "A new token in place of this one",
          description:
            "The token that was sent is dead from then on. A device's token gives one of that device, for 7 days; its " +
            "refresh token stays as it is.",
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
        ...takesJson("self", SignOutBody, false),
        ...documented({
          takesJson: true,
          tag: "Authentication",
          summary: "End this session, or all of them",
          description: "A device's token ends all that the device is signed in by. The device stays registered.",
          access: "self",
          body: {
            type: "object",
            required: ["success", "message"],
            properties: { success: { type: "boolean" }, message: { type: "string" } },
          },
        }),
      },
    );
}

function isRefusedBody(error: unknown): boolean {
  const cause = error instanceof AppError || !(error instanceof Error) ? error : error.cause;
  return cause instanceof AppError && ERROR_ANSWERS[cause.reason][1] === "VALIDATION_ERROR";
}

/** What a session remembers of where it was started. */
export function clientOf(request: Request): ClientInfo {
  return {
    address: exchangeOf(request).clientAddress,
    userAgent: request.headers.get("user-agent") ?? undefined,
  };
}
