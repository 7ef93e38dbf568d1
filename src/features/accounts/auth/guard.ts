/** Authenticates every request under /api once. Each route declares the access that it requires. */
import type { TSchema } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { AppError } from "../../../errors.ts";
import { rateLimitKey } from "../../../http/client-address.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { jsonChecker, readJson } from "../../../http/json-body.ts";
import { invariant } from "../../../lib/invariant.ts";
import { say } from "../../../translations/say.ts";
import { isClientPath } from "../app-passwords/client-paths.ts";
import type { User } from "../users/types.ts";
import {
  type AppPasswordPrincipal,
  type Caller,
  checkAppPasswordWrites,
  checkWriter,
  type ClientInfo,
  type DeviceRef,
  type KeyPrincipal,
  notByKey,
  type Principal,
  type Uploader,
  type SessionPrincipal,
} from "./principal.ts";
import { missingToken, notBearer } from "./rejections.ts";
import type { Scope, ScopeRule } from "./scopes.ts";
import type { AuthService } from "./service.ts";

/**
 * The access that a route requires: `public` nothing; `reader` any account; `self` any account, for its own data
 * (profile, settings, sessions); `writer` an account that may change files; `admin` an administrator; `device` a
 * registered device with its own token; `deviceWriter` a device of an account that may change files; `client` a program
 * with an app password, at an address for such programs.
 */
export type Access = "public" | "reader" | "self" | "writer" | "admin" | "device" | "deviceWriter" | "client";

/** The access that a closed route requires, and the scope that an API key needs. */
interface ClosedRule {
  readonly access: Exclude<Access, "public" | "client">;
  readonly scope: ScopeRule;
}

/** A route for programs with app passwords, which have no scopes. */
interface ClientRule {
  readonly access: "client";
  readonly scope?: undefined;
}

/** The access that a route requires. On a public route, an API key and an app password count as anonymous. */
export type AccessRule = { readonly access: "public"; readonly scope?: undefined } | ClosedRule | ClientRule;

/** The cookie that a sign-in sets on request. */
export const SESSION_COOKIE = "larder_session";

/** Prefix of every API key. It distinguishes keys from access tokens. */
const KEY_PREFIX = "lk_";

/** Finds the owner of an API key; `features/accounts/api-keys` implements it. */
interface KeyIdentifier {
  /** @throws AppError invalid_token | expired_token | revoked_token */
  identify(key: string): KeyPrincipal;
  /** The current state of the user whose request began with this key. @throws AppError expired_token | revoked_token */
  confirm(principal: KeyPrincipal): User;
}

/** Finds the owner of an app password; `features/accounts/app-passwords` implements it. */
interface AppPasswordIdentifier {
  /**
   * @param authorization the header `Authorization`; null without one
   * @param addressKey the client address, or its /64
   * @throws AppError missing_token | invalid_token | bad_credentials | expired_token | revoked_token | rate_limited
   */
  identify(authorization: string | null, client: ClientInfo, addressKey: string): AppPasswordPrincipal;
  /** The current state of a caller whose request began with this app password. @throws AppError revoked_token */
  confirm(principal: AppPasswordPrincipal): AppPasswordPrincipal;
}

/** Dependencies of the guard. */
export interface AuthGuardOptions {
  readonly auth: AuthService;
  readonly apiKeys: KeyIdentifier;
  readonly appPasswords: AppPasswordIdentifier;
  /** Origins of other sites that browsers may call from: exact origins, or `*`. */
  readonly corsOrigins: readonly string[];
  /** Called for each request, before authentication: notices changes by other processes. */
  readonly noticeChanges: () => void;
  /** Lets the reads of all requests in this turn of the event loop share a transaction. */
  readonly shareReads: () => void;
  /** Like `shareReads`, with all that is committed by now. */
  readonly renewReads: () => void;
}

/** The identity of the caller, as far as known. */
export interface Identity {
  readonly principal: Caller | undefined;
  /** Why the caller is unknown: the error of routes that require a caller. */
  readonly problem: AppError | undefined;
  /** Only the cookie identifies the caller, so another site could have sent the request. */
  readonly isByCookie: boolean;
}

const identities = new WeakMap<Request, KnownIdentity>();

/** The identity with its guard, to authenticate again after a body that took long. */
interface KnownIdentity extends Identity {
  readonly options: AuthGuardOptions;
  /** Why the request could not be authenticated, although its credentials may be right. */
  readonly failure?: unknown;
}

/** The caller's identity from the guard, for routes and rate limits. */
export function identityOf(request: Request): Identity {
  return identities.get(request) ?? { principal: undefined, problem: missingToken(), isByCookie: false };
}

/**
 * Checks who made a request, which {@link authenticateFirst} found out. `access` is a macro: `{ access: { access:
 * "writer", scope: "files:write" } }` on a route gives it `principal`.
 */
export function authGuard() {
  return new Elysia({ name: "auth-guard" })
    .onRequest(({ request }) => {
      const failure = identities.get(request)?.failure;
      if (failure !== undefined) throw failure;
    })
    .macro({
      access: (rule: ClosedRule | ClientRule) => ({
        resolve({ request }) {
          return { principal: rule.access === "client" ? requireClient(request) : requirePrincipal(rule, request) };
        },
      }),
    });
}

/**
 * Authenticates a request before the framework receives it. Only an unknown token takes a promise; as a hook of the
 * framework, this would make every request wait for promises. Never throws: {@link authGuard} throws the failure.
 */
export function authenticateFirst(options: AuthGuardOptions, request: Request): Promise<void> | undefined {
  const { isApi, path } = requestContextOf(request);
  if (!isApi && path !== "/metrics" && !isClientPath(path)) return undefined;
  const fail = (failure: unknown) => void identities.set(request, { ...identityOf(request), options, failure });
  try {
    return authenticate(options, request)?.catch(fail);
  } catch (error) {
    fail(error);
    return undefined;
  }
}

/**
 * The caller of a route for programs with app passwords.
 * @throws AppError if no app password opens the route
 */
function requireClient(request: Request): AppPasswordPrincipal {
  const { principal, problem } = identityOf(request);
  if (principal?.appPassword === undefined) throw problem ?? missingToken();
  return principal;
}

/**
 * For routes with a JSON body. It authenticates before it reads the body, so that an anonymous client learns nothing
 * about the body and costs little. It authenticates again afterwards: the session may have ended during a slow upload.
 * It validates the body strictly, because the framework would coerce types.
 * @param isRequired whether a request without a body is rejected
 * @param readOther reads bodies of another type, which are validated like JSON; undefined for bodies that are JSON
 */
export function takesJson(
  rule: AccessRule,
  body: TSchema,
  isRequired = true,
  readOther?: (request: Request) => Promise<object> | undefined,
) {
  const checkBody = jsonChecker(body);
  const checkSender = (request: Request) => {
    if (rule.access === "client") requireClient(request);
    else if (rule.access !== "public") requirePrincipal(rule, request);
  };
  return {
    body,
    parse: async ({ request }: { request: Request }) => {
      checkSender(request);
      const given = await (readOther?.(request) ?? readJson(request, isRequired));
      const known = identities.get(request);
      if (known?.principal !== undefined) await authenticate(known.options, request);
      checkSender(request);
      return checkBody(given);
    },
  };
}

/**
 * The caller of a route that is not public.
 * @throws AppError if nobody is signed in, or if this caller may not use the route
 */
export function requirePrincipal({ access, scope }: ClosedRule, request: Request): Principal {
  const identity = identityOf(request);
  const { principal, problem } = identity;
  if (principal === undefined || principal.appPassword !== undefined) throw problem ?? missingToken();
  if (identity.isByCookie) checkSameOrigin(request);
  if (principal.key !== undefined) checkScope(principal, scope);
  const isForDevices = access === "device" || access === "deviceWriter";
  if (isForDevices && principal.device === undefined) {
    throw new AppError(
      "invalid_token",
      say`Only registered devices can do this. Register a device at /api/mobile/auth/register.`,
    );
  }
  checkRole(access, principal.user);
  return principal;
}

/** @throws AppError role if this user does not have the access that a route requires */
export function checkRole(access: Access, user: User): void {
  if (access === "writer" || access === "deviceWriter") checkWriter(user);
  if (access === "admin" && user.role !== "admin") {
    throw new AppError("role", say`Only administrators can do this.`);
  }
}

/**
 * The sender of a request's bytes, for routes whose `access` lets accounts write. `confirm` checks the sender again
 * against the database: a stream may take hours, and a sender who was signed out since then must not create a file.
 */
export function uploaderOf(request: Request): Uploader {
  const known = identities.get(request);
  invariant(known?.principal !== undefined, "a route that takes a stream demands a principal");
  const { principal, options } = known;
  const { auth, apiKeys, appPasswords, renewReads } = options;
  const confirm = () => {
    renewReads();
    if (principal.appPassword !== undefined) return checkAppPasswordWrites(appPasswords.confirm(principal));
    return checkWriter(principal.key === undefined ? auth.confirmSignedIn(principal) : apiKeys.confirm(principal));
  };
  return { user: principal.user, confirm };
}

/**
 * The sign-in whose session cookie a request for a page carries. The guard does not authenticate pages.
 * @returns undefined if nobody is signed in
 */
export async function findSignIn(
  auth: Pick<AuthService, "identify">,
  request: Request,
): Promise<SessionPrincipal | undefined> {
  const session = readCookie(request.headers.get("cookie"));
  if (session === undefined) return undefined;
  try {
    return await auth.identify(session);
  } catch (error) {
    // An expired session: nobody is signed in.
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

/**
 * The caller of a public route that does more for accounts. API keys count as anonymous there, because no scope covers
 * such routes, and so do app passwords. So does a cookie on a changing request that another site may have sent.
 */
export function callerOf(request: Request): Principal | undefined {
  const { principal, isByCookie } = identityOf(request);
  if (principal?.session === undefined) return undefined;
  return isByCookie && !isSameOrigin(request) ? undefined : principal;
}

/**
 * Requires a further scope of an API key, for example to make a file public. Sessions always pass.
 * @throws AppError scope
 */
export function requireScope({ key }: Principal, scope: Scope): void {
  if (key === undefined || key.scopes.includes(scope)) return;
  throw new AppError("scope", say`This API key does not have the ${scope} scope. Use a key that has it, or sign in.`, {
    scope,
  });
}

/** The device that makes the request, on a route with the access `device` or `deviceWriter`. */
export function deviceOf(principal: Principal): DeviceRef {
  invariant(principal.device !== undefined, "a route for devices was entered by one");
  return principal.device;
}

/** Authenticates the request now, for {@link identityOf}. Synchronous for a token that was seen before. */
function authenticate(options: AuthGuardOptions, request: Request): Promise<void> | undefined {
  options.noticeChanges();
  options.shareReads();
  const identity = identify(options, request);
  if (identity instanceof Promise) return identity.then((known) => void identities.set(request, known));
  identities.set(request, identity);
  return undefined;
}

/**
 * Authenticates by the first credential of a request: the Authorization header, then X-API-Key, then the cookie. The
 * cookie is last because browsers send it automatically. An invalid credential is never replaced by the next one.
 */
function identify(options: AuthGuardOptions, request: Request): KnownIdentity | Promise<KnownIdentity> {
  if (isClientPath(requestContextOf(request).path)) return identifyClient(options, request);
  const { auth, apiKeys } = options;
  const header = request.headers.get("authorization");
  const key = header === null ? request.headers.get("x-api-key") : null;
  const cookie = header === null && key === null ? readCookie(request.headers.get("cookie")) : undefined;
  const isByCookie = cookie !== undefined;
  const unknown = (error: unknown) => {
    if (error instanceof AppError) return { principal: undefined, problem: error, isByCookie, options };
    throw error;
  };
  try {
    const token = header === null ? (key ?? cookie) : bearerOf(header);
    if (token === undefined) return { principal: undefined, problem: missingToken(), isByCookie, options };
    const isKey = key !== null || (!isByCookie && token.startsWith(KEY_PREFIX));
    const found = isKey ? apiKeys.identify(token) : auth.identify(token);
    const known = (principal: Caller) => ({ principal, problem: undefined, isByCookie, options });
    return found instanceof Promise ? found.then(known, unknown) : known(found);
  } catch (error) {
    return unknown(error);
  }
}

/**
 * Authenticates by an app password. No other credential is read, since programs send the one they have to every address
 * of a server. Browsers store Basic credentials and send them with requests that other sites cause, so those are
 * rejected.
 */
function identifyClient(options: AuthGuardOptions, request: Request): KnownIdentity {
  const { headers } = request;
  try {
    if (headers.get("sec-fetch-site") === "cross-site" && !isAllowedOrigin(options, headers.get("origin"))) {
      throw new AppError("csrf", say`This request came from another site. Open this address directly.`);
    }
    const address = requestContextOf(request).clientAddress;
    const client = { address, userAgent: headers.get("user-agent") ?? undefined };
    const principal = options.appPasswords.identify(headers.get("authorization"), client, rateLimitKey(address));
    return { principal, problem: undefined, isByCookie: false, options };
  } catch (error) {
    if (error instanceof AppError) return { principal: undefined, problem: error, isByCookie: false, options };
    throw error;
  }
}

function isAllowedOrigin({ corsOrigins }: AuthGuardOptions, origin: string | null): boolean {
  return origin !== null && (corsOrigins.includes(origin) || corsOrigins.includes("*"));
}

/** @throws AppError invalid_token */
function bearerOf(header: string): string {
  const token = /^Bearer +(\S+)$/i.exec(header)?.[1];
  if (token !== undefined) return token;
  throw notBearer();
}

/** Checks the scope that a route requires of an API key. @throws AppError scope | invalid_token */
function checkScope(principal: KeyPrincipal, rule: ScopeRule): void {
  if (rule === "any") return;
  if (rule === "never") throw notByKey();
  if (rule === "device") {
    throw new AppError(
      "invalid_token",
      say`Only registered devices can do this. Use the device's own token instead of an API key.`,
    );
  }
  requireScope(principal, rule);
}

/**
 * Browsers send cookies with requests that other sites cause. A changing request must show that it comes from our own
 * pages, by Fetch Metadata or Origin. A request without both is rejected.
 */
function checkSameOrigin(request: Request): void {
  if (isSameOrigin(request)) return;
  throw new AppError(
    "csrf",
    say`This request came from another site with a session cookie. Send it from this server, or use a token.`,
  );
}

/** Whether a changing request comes from our own pages, according to its headers: see {@link checkSameOrigin}. */
export function isSameOrigin(request: Request): boolean {
  if (request.method === "GET" || request.method === "HEAD") return true;
  const origin = request.headers.get("origin");
  return origin === null ? request.headers.get("sec-fetch-site") === "same-origin" : isOurs(origin, request);
}

/** Our public address, or the host of the request: on the local network, that may be another name. */
function isOurs(origin: string, request: Request): boolean {
  const { baseUrl, requestOrigin } = requestContextOf(request);
  const given = URL.parse(origin)?.origin;
  if (given === undefined || given === "null") return false;
  return given === URL.parse(baseUrl)?.origin || given === URL.parse(requestOrigin ?? "")?.origin;
}

function readCookie(header: string | null): string | undefined {
  if (header === null) return undefined;
  const value = new Bun.CookieMap(header).get(SESSION_COOKIE);
  return value === null || value === "" ? undefined : value;
}
