/** GET /api/auth/methods, and /api/auth/oidc/*. */
import { Elysia } from "elysia";
import { AppError } from "../../errors.ts";
import { type AuditNote, noteAudit } from "../../http/audit-note.ts";
import { documented } from "../../http/documented.ts";
import { ok } from "../../http/envelope.ts";
import { ERROR_ANSWERS } from "../../http/error-response.ts";
import { exchangeOf } from "../../http/exchange.ts";
import { readChoice, readQuery } from "../../http/fields.ts";
import { toTimestamp } from "../../lib/clock.ts";
import { pageResponse } from "../../web/page.ts";
import { renderSignInCodePage, renderSignInFailedPage } from "../../web/sign-in-page.ts";
import { type authGuard, takesJson } from "../auth/guard.ts";
import { SignedInAnswer } from "../auth/model.ts";
import { presentSignedIn } from "../auth/present.ts";
import { clientOf, type SessionCookies } from "../auth/routes.ts";
import type { AuthService, CheckedUser } from "../auth/service.ts";
import type { RateGate } from "../rate-limits/guard.ts";
import { CodeBody, Identity, LinkBody, Methods } from "./model.ts";
import { ATTEMPT_MS, CODE_MS, type Finished, type OidcService } from "./service.ts";
import { SIGN_IN_MODES } from "./types.ts";

/** What these routes work with. */
export interface OidcRoutesOptions {
  /** Undefined where no provider is configured. */
  readonly oidc: OidcService | undefined;
  readonly auth: AuthService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly rateGate: RateGate;
  readonly tokenLifetimeMs: number;
  readonly cookies: SessionCookies;
  readonly signup: "open" | "invite" | "closed";
  readonly hasMail: boolean;
  /** `""`, or the path below which everything is served. */
  readonly basePath: string;
}

/** Keeps a sign-in that is under way. */
const ATTEMPT_COOKIE = "larder_oidc";

const RETURN_TO = {
  type: "string",
  description: "Path of this server where the browser goes in the end; the start page where it is left out",
};

/** See the head of this file. */
export function oidcRoutes(options: OidcRoutesOptions) {
  const { auth, guard, rateGate, tokenLifetimeMs, signup, hasMail, basePath } = options;
  const provider = () => {
    if (options.oidc !== undefined) return options.oidc;
    throw new AppError("not_found", "No sign-in by another service is set up here. Sign in with your password.");
  };
  const attempts = new AttemptCookie(`${basePath}/api/auth/oidc`);

  const answerOf = (request: Request, finished: Finished) => {
    const forget = attempts.make(request, "", 0);
    noteAudit(request, auditNoteFor(finished));
    if (finished.is === "code" && finished.returnTo === "") {
      const page = pageResponse(renderSignInCodePage(basePath, finished.code, CODE_MS / 60_000));
      page.headers.append("set-cookie", forget);
      return page;
    }
    const target = finished.returnTo === "" ? `${basePath}/` : finished.returnTo;
    if (finished.is === "code") return redirect(`${target.split("#")[0]}#code=${finished.code}`, [forget]);
    return redirect(
      target,
      finished.is === "linked" ? [forget] : [forget, options.cookies.forSignIn(request, finished.signedIn)],
    );
  };

  return new Elysia({ name: "oidc-routes", prefix: "/api/auth" })
    .use(guard)
    .get(
      "/methods",
      ({ request }) =>
        ok({
          password: true,
          signup,
          oidc:
            options.oidc === undefined
              ? null
              : { name: options.oidc.name, startUrl: `${exchangeOf(request).baseUrl}/api/auth/oidc/start` },
          passkeys: canHavePasskeys(exchangeOf(request).baseUrl),
          mail: hasMail,
        }),
      {
        access: "public",
        ...documented({
          tag: "Authentication",
          summary: "How people may sign in here",
          access: "public",
          data: Methods,
        }),
      },
    )
    .get(
      "/oidc/start",
      ({ request }) =>
        asPage(request, basePath, async () => {
          const query = readQuery(exchangeOf(request).query);
          const { address, sealed } = await provider().begin({
            redirectUri: callbackOf(request),
            returnTo: query["returnTo"],
            mode: readChoice(query["mode"], "mode", SIGN_IN_MODES),
            challenge: query["challenge"],
          });
          return redirect(address, [attempts.make(request, sealed, ATTEMPT_MS / 1000)]);
        }),
      {
        access: "public",
        ...documented({
          tag: "Authentication",
          summary: "Begin a sign-in by the OpenID Connect provider",
          description:
            "For browsers: 302 to the provider (authorization code with PKCE, state and nonce), with a cookie that binds " +
            "the sign-in to this browser for 10 minutes. In the end the browser is sent to `returnTo`, signed in by the " +
            "cookie `larder_session`. Programs say `mode=code`: then it ends in a one-time code, behind `#code=` of " +
            "`returnTo`, or on a page to be copied from, which `POST /api/auth/oidc/token` exchanges within 5 minutes; " +
            "`challenge` (base64url of the sha256 of a `verifier`) binds the code to the program. No token is ever part of " +
            "an address. Two-factor sign-in is the provider's to ask for. Accounts: see the settings `oidc.*`.",
          access: "public",
          alsoAnswers: { 302: "To the provider" },
          content: { "text/html": "Never; a redirect" },
          query: {
            returnTo: RETURN_TO,
            mode: { type: "string", enum: [...SIGN_IN_MODES], description: "cookie unless said otherwise" },
            challenge: { type: "string", description: "Binds the code of `mode=code` to the program" },
          },
          errors: ["invalid_field", "not_found", "provider_unavailable"],
        }),
      },
    )
    .get(
      "/oidc/callback",
      ({ request }) =>
        asPage(request, basePath, async () => {
          const sealed = attempts.read(request);
          const finished = await provider().finish(sealed, exchangeOf(request).query, clientOf(request));
          return answerOf(request, finished);
        }),
      {
        access: "public",
        ...documented({
          tag: "Authentication",
          summary: "Where the provider sends the browser back to",
          description:
            "For browsers alone. 302 to `returnTo`, or a page that shows the code. Refusals are a page with words for " +
            "browsers, the usual errors for everybody else.",
          access: "public",
          alsoAnswers: { 302: "Signed in, or linked" },
          content: { "text/html": "The page with the code" },
          query: {
            code: { type: "string", description: "Of the provider" },
            state: { type: "string", description: "As it was sent to the provider" },
            iss: { type: "string", description: "The provider (RFC 9207)" },
            error: { type: "string", description: "Where the provider refused" },
          },
          errors: [
            "invalid_request",
            "invalid_field",
            "not_found",
            "bad_credentials",
            "signup_closed",
            "account_disabled",
            "email_taken",
            "provider_unavailable",
          ],
        }),
      },
    )
    .post(
      "/oidc/token",
      async ({ body, request, set }) => {
        const signedIn = await provider().exchange(body.code, body.verifier, clientOf(request));
        if (body.cookie === true) set.headers["set-cookie"] = options.cookies.forSignIn(request, signedIn);
        return presentSignedIn(signedIn, tokenLifetimeMs);
      },
      {
        ...takesJson("public", CodeBody),
        ...documented({
          takesJson: true,
          tag: "Authentication",
          summary: "Exchange the code of a sign-in by the provider for a token",
          description: "Once; whatever the answer, the code is used up. Counts as sign-in, per address.",
          access: "public",
          body: SignedInAnswer,
          errors: ["invalid_code", "bad_credentials", "account_disabled", "not_found"],
        }),
      },
    )
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
        set.headers["set-cookie"] = attempts.make(request, sealed, ATTEMPT_MS / 1000);
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
    headers: HeaderBag,
  ): Promise<CheckedUser> {
    return rateGate.guardPassword(request, headers, email, () => auth.checkCredentials(email, password, code));
  }
}

/** What the audit log tells of it, by the weightiest of what was done; nothing of a code alone, whose exchange it tells. */
function auditNoteFor(finished: Finished): AuditNote {
  const details = { provider: true };
  if (finished.is === "linked") return { action: "identity.link", userId: finished.user.publicId, details };
  const { user, made, role } = finished.entry;
  const changed = made === "account" ? "sign_up" : made === "link" ? "identity.link" : role && "user.change";
  const action = changed ?? (finished.is === "signed-in" ? "sign_in" : undefined);
  if (action === undefined) return {};
  return { action, userId: user.publicId, details: { ...details, ...(role !== undefined && { role }) } };
}

/** Where the provider sends the browser back to. */
function callbackOf(request: Request): string {
  return `${exchangeOf(request).baseUrl}/api/auth/oidc/callback`;
}

/** Browsers offer passkeys to sites with a name, and over HTTPS alone; but to the machine itself (WebAuthn, 5.1.3). */
function canHavePasskeys(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return hostname === "localhost" || (protocol === "https:" && !/^[\d.]+$|^\[/.test(hostname));
}

/** Response headers as the framework keeps them until they are sent. */
type HeaderBag = Record<string, string | number>;

/** The cookie of a sign-in under way. Lax: the browser comes back from another site. */
class AttemptCookie {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  make(request: Request, sealed: string, maxAge: number): string {
    const { isSecure: secure } = exchangeOf(request);
    return new Bun.Cookie(ATTEMPT_COOKIE, sealed, {
      path: this.#path,
      httpOnly: true,
      sameSite: "lax",
      secure,
      maxAge,
    }).toString();
  }

  read(request: Request): string | undefined {
    const header = request.headers.get("cookie");
    return header === null ? undefined : (new Bun.CookieMap(header).get(ATTEMPT_COOKIE) ?? undefined);
  }
}

function redirect(location: string, setCookies: readonly string[]): Response {
  const headers = new Headers({ location, "cache-control": "no-store", "referrer-policy": "no-referrer" });
  for (const cookie of setCookies) headers.append("set-cookie", cookie);
  return new Response(null, { status: 302, headers });
}

/** A browser gets a page with words where something is refused; everybody else the envelope. */
async function asPage(request: Request, basePath: string, answer: () => Promise<Response>): Promise<Response> {
  try {
    return await answer();
  } catch (error) {
    const isPerson = request.headers.get("accept")?.includes("text/html") === true;
    if (!isPerson || !(error instanceof AppError)) throw error;
    noteAudit(request, { reason: error.reason });
    return pageResponse(renderSignInFailedPage(basePath, error.message), ERROR_ANSWERS[error.reason][0]);
  }
}
