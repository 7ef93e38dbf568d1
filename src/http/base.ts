/** Hooks for every request: its id, security headers, and the conversion of errors to responses. Mounted first. */
import { Elysia } from "elysia";
import { AppError, invalidField, unknownAddress } from "../errors.ts";
import type { Log } from "../lib/log.ts";
import { nameRequest } from "../lib/async-context.ts";
import { anyOf, say } from "../translations/say.ts";
import { errorResponseOf, DEFAULT_RETRY_AFTER_S } from "./error-response.ts";
import {
  beginRequestContext,
  type RequestContextSettings,
  requestContextOf,
  type ResponseState,
} from "./request-context.ts";
import { ClientGoneError } from "./request-body.ts";
import { schemaProblem } from "./schema-problem.ts";

/** Dependencies of the base hooks. */
export interface BaseOptions extends RequestContextSettings {
  readonly log: Log;
  /** Origins that browsers may call from: exact origins, or `*`. Empty: none. */
  readonly corsOrigins: readonly string[];
  /** Methods that routes have for a path; empty for an unknown path. */
  readonly methodsOf: (path: string) => string[];
  /** The page for a browser after an error outside /api. */
  readonly renderErrorPage: (request: Request, status: number, message: string) => Response;
  /**
   * The response to an error at an address whose clients don't read JSON; undefined for other addresses. It replaces the
   * headers with the same name.
   */
  readonly renderClientError: (request: Request, error: unknown) => Response | undefined;
  /** Translates errors of the platform to errors of this program. Returns other errors unchanged. */
  readonly translate: (error: unknown) => unknown;
  /** Called for each rejected or failed request, with the headers of the response. */
  readonly onFailure?: (request: Request, error: unknown, headers: Record<string, string | number>) => void;
}

/** A request with the error that a hook or its handler threw. */
interface FailedRequest {
  /** By which the framework names some of its errors. */
  readonly code: unknown;
  readonly error: unknown;
  readonly request: Request;
  readonly set: ResponseState;
}

/** The status of requests whose client disconnected before the response. nginx uses the same. */
const CLIENT_GONE = 499;

/** Half a year, for this host only (RFC 6797). Subdomains and preload lists are up to the operator. */
const HSTS = "max-age=15552000";

const CORS_HEADERS = {
  "Access-Control-Allow-Methods":
    "GET, HEAD, POST, PUT, PATCH, DELETE, PROPFIND, PROPPATCH, REPORT, MKCOL, COPY, MOVE, LOCK, UNLOCK",
  "Access-Control-Allow-Headers":
    "Authorization, X-API-Key, Content-Type, If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since, Range, If-Range, Idempotency-Key, Content-Digest, X-Share-Grant, X-HTTP-Method-Override, Depth, Destination, Overwrite, If, Lock-Token, Timeout, X-OC-Mtime, OC-Checksum, Tus-Resumable, Upload-Length, Upload-Defer-Length, Upload-Offset, Upload-Metadata, Upload-Concat, Upload-Checksum",
  "Access-Control-Expose-Headers":
    "ETag, DAV, Lock-Token, OC-ETag, OC-FileId, X-OC-Mtime, Content-Range, Content-Disposition, Accept-Ranges, Retry-After, X-Request-Id, Location, Tus-Resumable, Tus-Version, Tus-Extension, Tus-Max-Size, Tus-Checksum-Algorithm, Upload-Length, Upload-Defer-Length, Upload-Offset, Upload-Metadata, Upload-Concat, Upload-Expires, Larder-File-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Window, X-RateLimit-Resource",
  "Access-Control-Max-Age": "600",
} as const;

/** The base hooks for the whole application. */
export function base(options: BaseOptions) {
  const { corsOrigins } = options;
  return new Elysia({ name: "base" })
    .onRequest(({ request, set }) => {
      // The OpenAPI document is generated from a request that no server received.
      const requestContext = beginRequestContext(request, options);
      requestContext.set = set;
      const { headers } = set;
      headers["x-request-id"] = requestContext.requestId;
      headers["x-content-type-options"] = "nosniff";
      if (options.isTls) headers["strict-transport-security"] = HSTS;
      if (requestContext.isApi) headers["cache-control"] = "no-store";
      const origin = corsOrigins.length === 0 ? null : request.headers.get("origin");
      if (origin !== null && (corsOrigins.includes(origin) || corsOrigins.includes("*"))) {
        headers["access-control-allow-origin"] = origin;
        headers["vary"] = "Origin";
        Object.assign(headers, CORS_HEADERS);
        // A preflight is not a request of a user, and does not count as one.
        const isPreflight = request.method === "OPTIONS" && request.headers.has("access-control-request-method");
        if (isPreflight) return new Response(null, { status: 204 });
      }
      return undefined;
    })
    .onError({ as: "global" }, ({ code, error, request, set }) => presentError(options, { code, error, request, set }));
}

/** Attaches the context to a new request, before anything else. */
export function beginRequest(options: BaseOptions, request: Request): void {
  nameRequest(beginRequestContext(request, options).requestId);
}

/** The response to an error that the framework does not catch, such as the rejected promise of a synchronous handler. */
export function respondToFailure(options: BaseOptions, request: Request, error: unknown): Response {
  const { set } = requestContextOf(request);
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const body = presentError(options, { code, error, request, set });
  const headers = Object.entries(set.headers).map(([name, value]): [string, string] => [name, String(value)]);
  if (!(body instanceof Response)) return Response.json(body, { status: Number(set.status), headers });
  for (const [name, value] of headers) if (!body.headers.has(name)) body.headers.set(name, value);
  return body;
}

/** Sets the status and headers of the response to an error. @returns the response, or its body */
function presentError(options: BaseOptions, { code, error, request, set }: FailedRequest): Response | object {
  const { log, methodsOf } = options;
  const requestContext = requestContextOf(request);
  const { path, requestId, isApi } = requestContext;
  const known = options.translate(toAppError(code, error, request.method, path, methodsOf));
  if (known instanceof ClientGoneError) {
    const { receivedBytes } = known;
    requestContext.brokeOffAtBytes = receivedBytes;
    log.debug("The client disconnected.", {
      requestId,
      method: request.method,
      path: withoutTokens(path),
      receivedBytes,
    });
    // No client reads this response, but the log and the metrics count its status.
    return new Response(null, { status: CLIENT_GONE });
  }
  const response = errorResponseOf(known, requestId, request);
  if (response.status === 500) {
    log.error("Request failed.", { requestId, method: request.method, path: withoutTokens(path), error: known });
  }
  set.status = response.status;
  Object.assign(set.headers, response.headers);
  if (response.status === 503 && !isApi) set.headers["retry-after"] = String(response.body.error.details["retryAfter"]);
  // OPTIONS returns the list of methods; any other method is an ordinary 405.
  if (request.method === "OPTIONS" && response.status === 405) {
    return new Response(null, { status: 204 });
  }
  options.onFailure?.(request, known, set.headers);
  const forClient = isApi ? undefined : options.renderClientError(request, known);
  if (forClient !== undefined) {
    for (const name of Object.keys(set.headers)) if (forClient.headers.has(name)) delete set.headers[name];
    return forClient;
  }
  const isFromPage = request.method === "GET" || request.method === "POST";
  if (!isApi && isFromPage && request.headers.get("accept")?.includes("text/html")) {
    return options.renderErrorPage(request, response.status, response.body.error.message);
  }
  return response.body;
}

/**
 * Adds Retry-After to a 503 outside /api, if it is missing: browsers, proxies and probes read this header. Responses
 * under /api have `details.retryAfter` instead.
 */
export function withRetryAfter(request: Request, response: Response): Response {
  if (response.status === 503 && !requestContextOf(request).isApi && !response.headers.has("retry-after")) {
    response.headers.set("retry-after", String(DEFAULT_RETRY_AFTER_S));
  }
  return response;
}

/**
 * Rejects requests while the server is stopping or overloaded. Mounted after the guards, so that its responses have all
 * headers.
 */
export function gate(options: { isDraining: () => boolean; isOverloaded: () => boolean }) {
  return new Elysia({ name: "gate" }).onRequest(() => {
    if (options.isDraining()) {
      throw new AppError("shutting_down", say`The server is stopping. Try again in a few seconds.`);
    }
    if (options.isOverloaded()) {
      throw new AppError("overloaded", say`The server is handling too many requests. Try again in a few seconds.`);
    }
  });
}

/**
 * Rejects changes before their bodies are read, while none can be confirmed. Mounted after {@link gate}.
 * @param mayChange whether the response to a request would acknowledge a change
 */
export function changeGate(mayChange: (request: Request) => boolean, rejection: () => AppError | undefined) {
  return new Elysia({ name: "change-gate" }).onRequest(({ request, set }) => {
    if (!mayChange(request)) return;
    const rejected = rejection();
    if (rejected !== undefined) throw rejected;
    requestContextOf(request).commonHeaders = { ...set.headers };
  });
}

/** The response to a request whose change can't be confirmed, instead of the response of its handler. */
export function respondInstead(options: BaseOptions, request: Request, error: unknown): Response {
  const context = requestContextOf(request);
  context.set = { headers: { ...context.commonHeaders } };
  return respondToFailure(options, request, error);
}

function toAppError(
  code: unknown,
  error: unknown,
  method: string,
  path: string,
  methodsOf: (path: string) => string[],
): unknown {
  if (error instanceof AppError || error instanceof ClientGoneError) return error;
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof AppError || cause instanceof ClientGoneError) return cause;
  if (code === 20 || (error instanceof Error && error.name === "AbortError")) return new ClientGoneError(error);
  if (code === "NOT_FOUND") {
    const allow = methodsOf(path);
    if (allow.length === 0) return unknownAddress();
    return new AppError("method_not_allowed", say`${method} is not supported at this address. Use ${anyOf(allow)}.`, {
      allow,
    });
  }
  if (code === "PARSE")
    return new AppError("invalid_json", say`The request body is not valid JSON. Check its syntax.`, {}, error);
  if (code === "INVALID_COOKIE_SIGNATURE")
    return new AppError("invalid_token", say`The session cookie is not valid. Sign in again.`);
  if (code === "VALIDATION") return toInvalidField(error);
  return error;
}

/** The error for a value that a schema rejected. The framework's own message is for developers and reveals too much. */
function toInvalidField(error: unknown): unknown {
  if (typeof error !== "object" || error === null || !("type" in error) || !("all" in error)) return error;
  if (error.type === "response" || !Array.isArray(error.all)) return error;
  const first: unknown = error.all[0];
  const detail = typeof first === "object" && first !== null ? first : {};
  const path = "path" in detail && typeof detail.path === "string" ? detail.path : "";
  const field = path.slice(1).replaceAll("/", ".") || String(error.type);
  const problem = "message" in detail && typeof detail.message === "string" ? detail.message : undefined;
  return invalidField(field, schemaProblem(field, problem));
}

/**
 * A path for the logs. Masks tokens of links and of programs' sign-ins, also in links that were copied incorrectly, and
 * any segment as long as a token.
 */
export function withoutTokens(path: string): string {
  return path.replace(/(^|\/)(s|public|connect|login-flows)\/+[^/]+/gi, "$1$2/…").replace(/[\w-]{28,}/g, "…");
}
