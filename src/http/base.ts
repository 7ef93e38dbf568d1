/**
 * What holds for every request: an id, security headers and the error boundary, through which every failure becomes
 * the envelope. Mounted first; knows no feature.
 */
import { Elysia } from "elysia";
import { AppError, invalidField } from "../errors.ts";
import type { Log } from "../lib/log.ts";
import { nameRequest } from "../lib/async-context.ts";
import { errorResponseOf, DEFAULT_RETRY_AFTER_S } from "./error-response.ts";
import { beginRequestContext, type RequestContextSettings, requestContextOf } from "./request-context.ts";
import { ClientGoneError } from "./request-body.ts";

/** Dependencies of the base hooks. */
export interface BaseOptions extends RequestContextSettings {
  readonly log: Log;
  /** Origins that browsers may call from: exact origins, or `*`. Empty: none. */
  readonly corsOrigins: readonly string[];
  /** Methods that routes have for a path; empty for an unknown path. */
  readonly methodsOf: (path: string) => string[];
  /** The page for a browser that met an error outside /api. */
  readonly renderErrorPage: (status: number, message: string) => Response;
  /** What an error is called that doesn't come from this program's own code; others as they are. */
  readonly translate: (error: unknown) => unknown;
  /** Called for each request that is answered with a rejection or a failure, with the headers of the response. */
  readonly onFailure?: (request: Request, error: unknown, headers: Record<string, string | number>) => void;
}

/** The status of requests whose client went away before a response: nginx's, which log readers know. */
const CLIENT_GONE = 499;

/**
 * Half a year, for this name alone (RFC 6797): what is below it, and lists in browsers, are the operator's to decide.
 */
const HSTS = "max-age=15552000";

const CORS_HEADERS = {
  "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
  "Access-Control-Allow-Headers":
    "Authorization, X-API-Key, Content-Type, If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since, Range, If-Range, Idempotency-Key, Content-Digest, X-Share-Grant, X-HTTP-Method-Override, Tus-Resumable, Upload-Length, Upload-Defer-Length, Upload-Offset, Upload-Metadata, Upload-Concat, Upload-Checksum",
  "Access-Control-Expose-Headers":
    "ETag, Content-Range, Content-Disposition, Accept-Ranges, Retry-After, X-Request-Id, Location, Tus-Resumable, Tus-Version, Tus-Extension, Tus-Max-Size, Tus-Checksum-Algorithm, Upload-Length, Upload-Defer-Length, Upload-Offset, Upload-Metadata, Upload-Concat, Upload-Expires, Larder-File-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Window, X-RateLimit-Resource",
  "Access-Control-Max-Age": "600",
} as const;

/** The base hooks for the whole application. */
export function base(options: BaseOptions) {
  const { log, corsOrigins, methodsOf } = options;
  return new Elysia({ name: "base" })
    .onRequest(({ request, set }) => {
      const requestContext = beginRequestContext(request, options);
      nameRequest(requestContext.requestId);
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
        // A browser's question before the request proper: nobody's request yet, and not counted as one.
        const isPreflight = request.method === "OPTIONS" && request.headers.has("access-control-request-method");
        if (isPreflight) return new Response(null, { status: 204 });
      }
      return undefined;
    })
    .onError({ as: "global" }, ({ code, error, request, set }) => {
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
        // Nobody reads it; the log and the metrics count it for what it is.
        return new Response(null, { status: CLIENT_GONE });
      }
      const response = errorResponseOf(known, requestId);
      if (response.status === 500) {
        log.error("Request failed.", { requestId, method: request.method, path: withoutTokens(path), error: known });
      }
      set.status = response.status;
      Object.assign(set.headers, response.headers);
      if (response.status === 503 && !isApi)
        set.headers["retry-after"] = String(response.body.error.details["retryAfter"]);
      // CORS preflight asks for a method list and gets one; everything else is an ordinary 405.
      if (request.method === "OPTIONS" && response.status === 405) {
        return new Response(null, { status: 204 });
      }
      options.onFailure?.(request, known, set.headers);
      if (!isApi && request.method === "GET" && request.headers.get("accept")?.includes("text/html")) {
        return options.renderErrorPage(response.status, response.body.error.message);
      }
      return response.body;
    });
}

/**
 * Says with a 503 outside /api when to try again, where that is not said yet: browsers, proxies and probes read the
 * header. Answers under /api have it in `details.retryAfter` instead.
 */
export function withRetryAfter(request: Request, response: Response): Response {
  if (response.status === 503 && !requestContextOf(request).isApi && !response.headers.has("retry-after")) {
    response.headers.set("retry-after", String(DEFAULT_RETRY_AFTER_S));
  }
  return response;
}

/**
 * Turns requests away while the server stops, or has too many in hand. Mounted after the guards, so that its answers
 * carry what every response carries.
 */
export function gate(options: { isDraining: () => boolean; isOverloaded: () => boolean }) {
  return new Elysia({ name: "gate" }).onRequest(() => {
    if (options.isDraining()) {
      throw new AppError("shutting_down", "The server is stopping. Try again in a few seconds.");
    }
    if (options.isOverloaded()) {
      throw new AppError("overloaded", "The server is handling too many requests. Try again in a few seconds.");
    }
  });
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
    if (allow.length === 0)
      return new AppError("not_found", "This address does not exist. See /docs for a list of addresses.");
    return new AppError(
      "method_not_allowed",
      `${method} is not supported at this address. Use ${allow.join(" or ")}.`,
      { allow },
    );
  }
  if (code === "PARSE")
    return new AppError("invalid_json", "The request body is not valid JSON. Check its syntax.", {}, error);
  if (code === "INVALID_COOKIE_SIGNATURE")
    return new AppError("invalid_token", "The session cookie is not valid. Sign in again.");
  if (code === "VALIDATION") return toInvalidField(error);
  return error;
}

/** What a schema rejected, in our own words: the framework's are for developers and say too much. */
function toInvalidField(error: unknown): unknown {
  if (typeof error !== "object" || error === null || !("type" in error) || !("all" in error)) return error;
  if (error.type === "response" || !Array.isArray(error.all)) return error;
  const first: unknown = error.all[0];
  const detail = typeof first === "object" && first !== null ? first : {};
  const path = "path" in detail && typeof detail.path === "string" ? detail.path : "";
  const field = path.slice(1).replaceAll("/", ".") || String(error.type);
  const problem =
    "message" in detail && typeof detail.message === "string" ? detail.message : "the value is not allowed";
  return invalidField(field, `${field} is not valid: ${problem}. See /docs for the allowed values.`);
}

/**
 * A path for the logs. Tokens of links are masked, also in links that were copied badly, and so is any segment as long
 * as a token.
 */
export function withoutTokens(path: string): string {
  return path.replace(/(^|\/)(s|public)\/+[^/]+/gi, "$1$2/…").replace(/[\w-]{28,}/g, "…");
}
