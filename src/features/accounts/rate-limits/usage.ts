import { toTimestamp } from "../../../lib/clock.ts";
import { RATE_CATEGORIES } from "../../../config/settings/plans.ts";
import { type Category, type Plan, UNLIMITED_ON_WIRE } from "../plans/plans.ts";
import { percentageOf } from "../plans/usage.ts";
import type { RateLimiter } from "./limiter.ts";

/** One category in GET /api/users/usage/rate-limits. */
interface RateLimitUsageRecord {
  readonly endpoint: string;
  readonly resource: Category;
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  readonly usagePercentage: number;
  readonly resetsAt: string;
}

/** The data of GET /api/users/usage/rate-limits. */
export interface RateLimitUsage {
  readonly period: "1h";
  readonly endpoints: RateLimitUsageRecord[];
  readonly overallUsage: {
    readonly totalRequests: number;
    readonly successfulRequests: number;
    readonly rateLimitedRequests: number;
    readonly successRate: number;
  };
}

/** The subjects of a user: the user in every category, except sign-ins, which count by address and account. */
interface CountedSubjects {
  readonly user: string;
  /** {@link SigninLimiter.subjectOf} the address of the request and the user's own email. */
  readonly signin: string;
}

/** The path that represents each category. */
const ENDPOINT_OF: Readonly<Record<Category, string>> = {
  signin: "/api/auth/signin",
  signup: "/api/auth/signup",
  refresh: "/api/auth/refresh",
  uploads: "/api/files/upload",
  downloads: "/api/files/{id}/download",
  listing: "/api/files",
  operations: "/api/files/{id}",
  profile: "/api/users/profile",
  usage: "/api/users/usage",
  sync: "/api/mobile/sync/status",
  dav: "/dav",
  general: "/api",
};

/**
 * What a user has used of every limit, and all their requests of the last hour. A "successful" request is one that no
 * rate limit rejected. Without any request, the success rate is 100.
 */
export function rateLimitUsage(limiter: RateLimiter, plan: Plan, subjects: CountedSubjects): RateLimitUsage {
  const endpoints = RATE_CATEGORIES.map((category): RateLimitUsageRecord => {
    const limit = plan.limits[category];
    const subject = category === "signin" ? subjects.signin : subjects.user;
    const limitResult = limiter.peek(subject, category, limit);
    const used = limiter.used(subject, category);
    return {
      endpoint: ENDPOINT_OF[category],
      resource: category,
      limit: limit ?? UNLIMITED_ON_WIRE,
      used,
      remaining: limitResult.remaining ?? UNLIMITED_ON_WIRE,
      usagePercentage: percentageOf(used, limit),
      resetsAt: toTimestamp(limitResult.resetAtMs),
    };
  });
  const requests = limiter.totals(subjects.user);
  const signins = limiter.totals(subjects.signin);
  const successfulRequests = requests.accepted + signins.accepted;
  const rateLimitedRequests = requests.rejected + signins.rejected;
  const totalRequests = successfulRequests + rateLimitedRequests;
  return {
    period: "1h",
    endpoints,
    overallUsage: {
      totalRequests,
      successfulRequests,
      rateLimitedRequests,
      successRate: totalRequests === 0 ? 100 : percentageOf(successfulRequests, totalRequests),
    },
  };
}
