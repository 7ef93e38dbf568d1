/**
 * The OpenID Connect provider, through openid-client, which no other file imports.
 * It uses the authorization code flow with PKCE, state and nonce. It checks the signature of the ID token although that
 * comes over our own connection. The provider's metadata is fetched when first needed, so an outage does not affect
 * other sign-ins.
 */
import type * as Library from "openid-client";
import { AppError } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { lazy } from "../../../lib/lazy.ts";
import type { Log } from "../../../lib/log.ts";
import { OutboundError } from "../../../net/outbound-error.ts";
import { sendToService } from "../../../net/service.ts";
import { say } from "../../../translations/say.ts";
import type { Attempt, ProviderUser } from "./types.ts";

/** The address and the credentials of the provider. */
export interface ProviderOptions {
  readonly issuer: string;
  readonly clientId: string;
  /** Null for a public client, which has none. */
  readonly clientSecret: string | null;
  readonly scopes: string;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The provider's metadata is fetched again after this time. Its keys are fetched again as soon as an unknown one is
 * used.
 */
const KNOWN_MS = 60 * 60_000;
/** The provider's clock may differ by this much. */
const CLOCK_SECONDS = 60;

/** Loaded at the first sign-in, because most servers have no provider. */
const loadLibrary = lazy(() => import("openid-client"));

export class OidcProvider {
  readonly #options: ProviderOptions;
  #known: { readonly provider: Promise<Library.Configuration>; readonly untilMs: number } | undefined;

  constructor(options: ProviderOptions) {
    this.#options = options;
  }

  get issuer(): string {
    return this.#options.issuer;
  }

  /** Checks whether the provider can be used. @returns the problem, or undefined */
  async probe(): Promise<string | undefined> {
    try {
      await this.#discover();
      return undefined;
    } catch (error) {
      return findCause(error, OutboundError)?.message ?? describe(await loadLibrary(), error);
    }
  }

  /** The provider's sign-in page for an attempt. @throws AppError provider_unavailable */
  async addressFor(attempt: Attempt): Promise<string> {
    const openid = await loadLibrary();
    const provider = await this.#provider();
    const challenge = await openid.calculatePKCECodeChallenge(attempt.verifier);
    return openid.buildAuthorizationUrl(provider, {
      redirect_uri: attempt.redirectUri,
      scope: this.#options.scopes,
      state: attempt.state,
      nonce: attempt.nonce,
      code_challenge: challenge,
      code_challenge_method: "S256",
      // An existing session at the provider proves nothing, so users sign in again.
      ...(isFresh(attempt) && { prompt: "login", max_age: "0" }),
    }).href;
  }

  /**
   * The user who signed in, from the provider's response to an attempt.
   * @param query of the request with which the browser returned
   * @throws AppError bad_credentials | provider_unavailable
   */
  async identify(attempt: Attempt, query: string): Promise<ProviderUser> {
    const openid = await loadLibrary();
    const provider = await this.#provider();
    try {
      const tokens = await openid.authorizationCodeGrant(provider, new URL(`${attempt.redirectUri}?${query}`), {
        pkceCodeVerifier: attempt.verifier,
        expectedState: attempt.state,
        expectedNonce: attempt.nonce,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined) throw notConfirmed();
      if (isFresh(attempt)) checkFresh(attempt, claims.auth_time);
      // Many providers put only the subject into the ID token.
      const hasAll = confirmsEmail(claims) && claims["groups"] !== undefined;
      const hasUserInfo = provider.serverMetadata().userinfo_endpoint !== undefined;
      const more = hasAll || !hasUserInfo ? {} : await openid.fetchUserInfo(provider, tokens.access_token, claims.sub);
      return toProviderUser(claims.sub, { ...more, ...claims }, emailSource(claims, more));
    } catch (error) {
      throw this.#translate(openid, error);
    }
  }

  async #provider(): Promise<Library.Configuration> {
    const nowMs = this.#options.clock.nowMs();
    const isKnown =
      this.#known !== undefined && nowMs < this.#known.untilMs && nowMs > this.#known.untilMs - KNOWN_MS - 1;
    if (!isKnown) this.#known = { provider: this.#discover(), untilMs: nowMs + KNOWN_MS };
    const known = this.#known;
    try {
      return await (known?.provider ?? this.#discover());
    } catch (error) {
      // The next call fetches it again.
      if (this.#known === known) this.#known = undefined;
      throw this.#translate(await loadLibrary(), error, true);
    }
  }

  async #discover(): Promise<Library.Configuration> {
    const openid = await loadLibrary();
    const { issuer, clientId, clientSecret } = this.#options;
    const isPlain = issuer.startsWith("http:");
    return openid.discovery(
      new URL(issuer),
      clientId,
      { [openid.clockTolerance]: CLOCK_SECONDS },
      clientSecret === null ? openid.None() : authenticateBy(openid, clientSecret),
      {
        [openid.customFetch]: boundedFetch,
        execute: [openid.enableNonRepudiationChecks, ...(isPlain ? [openid.allowInsecureRequests] : [])],
      },
    );
  }

  /** Translates a failure for the client. The cause goes to the log, without anything that could sign in. */
  #translate(openid: typeof Library, error: unknown, isDiscovery = false): AppError {
    if (error instanceof AppError) return error;
    const { log } = this.#options;
    const outage = findCause(error, OutboundError);
    if (outage !== undefined || isDiscovery) {
      log.warn("Cannot use the OpenID Connect provider; single sign-on fails until it responds.", {
        why: outage?.message ?? describe(openid, error),
      });
      return new AppError(
        "provider_unavailable",
        say`The sign-in service can't be reached. Try again later, or sign in with your password.`,
      );
    }
    log.info("Single sign-on rejected.", { why: describe(openid, error) });
    return error instanceof openid.AuthorizationResponseError && error.error === "access_denied"
      ? new AppError("bad_credentials", say`The sign-in was rejected or canceled. To sign in, start again.`)
      : notConfirmed();
  }
}

/** Whether the provider must ask its user to sign in again. */
function isFresh({ bySession }: Attempt): boolean {
  return bySession?.purpose === "confirm";
}

/** The browser could remove the prompt from the address, but can't change what the provider signed. */
function checkFresh({ startedAtMs }: Attempt, authTime: number | undefined): void {
  if (authTime !== undefined && authTime >= startedAtMs / 1000 - CLOCK_SECONDS) return;
  throw new AppError(
    "bad_credentials",
    say`The sign-in service did not ask you to sign in again. Sign out there, then start again.`,
  );
}

/** Uses the header, unless the provider requires another method (OpenID Connect Core 1.0, section 9). */
function authenticateBy(openid: typeof Library, secret: string): Library.ClientAuth {
  const byHeader = openid.ClientSecretBasic(secret);
  const inBody = openid.ClientSecretPost(secret);
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported;
    const isInBody = methods !== undefined && !methods.includes("client_secret_basic");
    (isInBody ? inBody : byHeader)(server, client, body, headers);
  };
}

/**
 * Sends requests to the provider, at any address that the operator configured: 15 s and 64 KiB at most, no redirects.
 */
const boundedFetch: Library.CustomFetch = async (url, { method, headers, body, signal }) => {
  const response = await sendToService(url, {
    method: method === "POST" ? "POST" : "GET",
    headers,
    ...(body !== undefined && body !== null && { body: Buffer.from(bodyText(body)) }),
    ...(signal !== undefined && { signal }),
  });
  const type = response.header("content-type");
  return new Response(new Uint8Array(response.body), {
    status: response.status,
    headers: type === undefined ? {} : { "content-type": type },
  });
};

function bodyText(body: unknown): string {
  if (typeof body === "string" || body instanceof URLSearchParams) return body.toString();
  throw new TypeError("a request to the provider is a form");
}

/** The claims of the ID token or the userinfo endpoint, by name. */
type Claims = Readonly<Record<string, unknown>>;

/** Whether these claims name an address and say whether it is verified. */
function confirmsEmail(claims: Claims): boolean {
  return claims["email"] !== undefined && claims["email_verified"] !== undefined;
}

/**
 * The claims with the email and its confirmation. Both come from one source, since a confirmation says nothing about
 * another address: the ID token if it has both, otherwise userinfo if it has an address.
 */
function emailSource(idToken: Claims, userinfo: Claims): Claims {
  if (confirmsEmail(idToken)) return idToken;
  return userinfo["email"] === undefined ? idToken : userinfo;
}

/** @param email the claims that contain the email and its confirmation */
function toProviderUser(subject: string, claims: Claims, email: Claims): ProviderUser {
  const text = (from: Claims, name: string) => {
    const value = from[name];
    return typeof value === "string" && value.trim() !== "" ? value : undefined;
  };
  const groups = claims["groups"];
  return {
    subject,
    email: text(email, "email"),
    // Some providers send it as text.
    isEmailVerified: email["email_verified"] === true || email["email_verified"] === "true",
    name: text(claims, "name") ?? text(claims, "preferred_username"),
    groups: (Array.isArray(groups) ? groups : [groups]).filter((group) => typeof group === "string"),
  };
}

function notConfirmed(): AppError {
  return new AppError("bad_credentials", say`The sign-in service did not confirm your identity. Start again.`);
}

function findCause<T>(error: unknown, kind: abstract new (...parameters: never[]) => T): T | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    if (cause instanceof kind) return cause;
  }
  return undefined;
}

/** The codes and messages of the library; never the data that was sent. */
function describe(openid: typeof Library, error: unknown): string {
  if (error instanceof openid.AuthorizationResponseError || error instanceof openid.ResponseBodyError)
    return error.error;
  if (!(error instanceof Error)) return "unknown cause";
  return "code" in error && typeof error.code === "string" ? `${error.code}: ${error.message}` : error.message;
}
