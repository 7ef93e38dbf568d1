import { AppError } from "../../../errors.ts";
import { type Message, plural, say } from "../../../translations/say.ts";
import { UNLIMITED_ON_WIRE } from "../plans/plans.ts";
import type { RateLimitResult } from "./counters.ts";

/** Rate limit headers of every response under /api; `Retry-After` only with 429. */
interface RateLimitHeaders {
  "X-RateLimit-Limit": string;
  "X-RateLimit-Remaining": string;
  "X-RateLimit-Reset": string;
  "X-RateLimit-Window": string;
  "X-RateLimit-Resource": string;
  "Retry-After"?: string;
}

/**
 * Headers for a result. Reset is in whole Unix seconds, rounded up, so that a request after it succeeds. A rejection
 * also has `Retry-After`.
 */
export function rateLimitHeaders(limitResult: RateLimitResult, nowMs: number): RateLimitHeaders {
  const headers: RateLimitHeaders = {
    "X-RateLimit-Limit": String(limitResult.limit ?? UNLIMITED_ON_WIRE),
    "X-RateLimit-Remaining": String(limitResult.remaining ?? UNLIMITED_ON_WIRE),
    "X-RateLimit-Reset": String(Math.ceil(limitResult.resetAtMs / 1000)),
    "X-RateLimit-Window": String(limitResult.windowSeconds),
    "X-RateLimit-Resource": limitResult.category,
  };
  if (!limitResult.allowed) headers["Retry-After"] = String(retryAfterSeconds(limitResult, nowMs));
  return headers;
}

/** The headers that describe the limit of unfinished bodies; the resource stays the category of the request. */
export function bodyLimitHeaders(
  { limit, retryAfterSeconds }: { readonly limit: number; readonly retryAfterSeconds: number },
  nowMs: number,
): Omit<RateLimitHeaders, "X-RateLimit-Resource"> {
  return {
    "X-RateLimit-Limit": String(limit),
    "X-RateLimit-Remaining": "0",
    "X-RateLimit-Reset": String(Math.ceil(nowMs / 1000) + retryAfterSeconds),
    "X-RateLimit-Window": String(retryAfterSeconds),
  };
}

/**
 * Whole seconds until a request is accepted, at least 1: Reset − now, rounded up once from milliseconds. Rounding both
 * numbers could make it longer than the window.
 */
export function retryAfterSeconds(limitResult: RateLimitResult, nowMs: number): number {
  return Math.max(1, Math.ceil((limitResult.resetAtMs - nowMs) / 1000));
}

/** The error of a rejected request: its details name category, limit and seconds to wait. */
export class RateLimitedError extends AppError {
  /** @param text replaces the default message */
  constructor(
    readonly limitResult: RateLimitResult,
    nowMs: number,
    text?: Message,
  ) {
    const retryAfter = retryAfterSeconds(limitResult, nowMs);
    super(
      "rate_limited",
      text ??
        say`Too many requests in the category ${limitResult.category}. Try again in ${plural(retryAfter, { one: "# second", other: "# seconds" })}.`,
      { resource: limitResult.category, limit: limitResult.limit ?? UNLIMITED_ON_WIRE, retryAfter },
    );
  }
}
