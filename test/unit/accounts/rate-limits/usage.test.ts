import { describe, expect, test } from "bun:test";
import { buildPlans } from "../../../../src/features/accounts/plans/plans.ts";
import { RateLimitedError, rateLimitHeaders } from "../../../../src/features/accounts/rate-limits/headers.ts";
import { userSubject } from "../../../../src/features/accounts/rate-limits/counters.ts";
import { rateLimitUsage } from "../../../../src/features/accounts/rate-limits/usage.ts";
import { START_MS, testLimiter } from "./support.ts";

const UNLIMITED = 9_007_199_254_740_991;
const subjects = { user: userSubject(1), signin: "s:here" };

describe("the usage of rate limits", () => {
  test("has one record for each category, used or not", () => {
    const { limiter } = testLimiter();
    const { free } = buildPlans();
    const usage = rateLimitUsage(limiter, free, subjects);
    expect(usage.period).toBe("1h");
    expect(usage.endpoints.map(({ resource, endpoint, limit }) => [resource, endpoint, limit])).toEqual([
      ["signin", "/api/auth/signin", 5],
      ["signup", "/api/auth/signup", 3],
      ["refresh", "/api/auth/refresh", 10],
      ["uploads", "/api/files/upload", 10],
      ["downloads", "/api/files/{id}/download", 50],
      ["listing", "/api/files", 100],
      ["operations", "/api/files/{id}", 50],
      ["profile", "/api/users/profile", 100],
      ["usage", "/api/users/usage", 50],
      ["sync", "/api/mobile/sync/status", 200],
      ["dav", "/dav", 5000],
      ["general", "/api", 1000],
    ]);
    expect(usage.endpoints.every(({ used, limit, remaining }) => used === 0 && remaining === limit)).toBe(true);
    expect(usage.endpoints[0]?.resetsAt).toBe("2026-01-02T03:05:05.678Z");
    expect(usage.endpoints[1]?.resetsAt).toBe("2026-01-02T04:04:05.678Z");
    expect(usage.overallUsage).toEqual({
      totalRequests: 0,
      successfulRequests: 0,
      rateLimitedRequests: 0,
      successRate: 100,
    });
  });

  test("reports used, rejected and remaining requests", () => {
    const { limiter, clock } = testLimiter();
    const { free } = buildPlans();
    limiter.check(subjects.signin, "signin", 5);
    for (let i = 0; i < 12; i++) limiter.check(subjects.user, "uploads", 10);
    clock.ms += 1000;
    for (let i = 0; i < 7; i++) limiter.check(subjects.user, "sync", 200);
    const usage = rateLimitUsage(limiter, free, subjects);
    expect(usage.endpoints.find(({ resource }) => resource === "uploads")).toEqual({
      endpoint: "/api/files/upload",
      resource: "uploads",
      limit: 10,
      used: 10,
      remaining: 0,
      usagePercentage: 100,
      resetsAt: "2026-01-02T04:04:05.678Z",
    });
    expect(usage.endpoints.find(({ resource }) => resource === "sync")).toMatchObject({
      used: 7,
      usagePercentage: 3.5,
    });
    expect(usage.endpoints.find(({ resource }) => resource === "signin")).toMatchObject({
      used: 1,
      usagePercentage: 20,
    });
    expect(usage.overallUsage).toEqual({
      totalRequests: 20,
      successfulRequests: 18,
      rateLimitedRequests: 2,
      successRate: 90,
    });
  });

  test("reports no limit as the largest exact number, with 0 percent", () => {
    const { limiter } = testLimiter();
    limiter.check(subjects.user, "downloads", null);
    const usage = rateLimitUsage(limiter, buildPlans().enterprise, subjects);
    expect(usage.endpoints.find(({ resource }) => resource === "downloads")).toMatchObject({
      limit: UNLIMITED,
      used: 1,
      remaining: UNLIMITED,
      usagePercentage: 0,
    });
  });
});

describe("rate-limit headers", () => {
  test("of an accepted request have no Retry-After", () => {
    const { limiter } = testLimiter();
    expect(rateLimitHeaders(limiter.check(subjects.user, "uploads", 10), START_MS)).toEqual({
      "X-RateLimit-Limit": "10",
      "X-RateLimit-Remaining": "9",
      "X-RateLimit-Reset": String(Math.ceil((START_MS + 3_600_000) / 1000)),
      "X-RateLimit-Window": "3600",
      "X-RateLimit-Resource": "uploads",
    });
  });

  test("without a limit contain the largest exact number", () => {
    const { limiter } = testLimiter();
    expect(rateLimitHeaders(limiter.check(subjects.user, "downloads", null), START_MS)).toMatchObject({
      "X-RateLimit-Limit": String(UNLIMITED),
      "X-RateLimit-Remaining": String(UNLIMITED),
    });
  });

  test("of a rejection contain the time to wait, after which a request succeeds", () => {
    for (const elapsedMs of [0, 1, 999, 1000, 1_800_123, 3_599_000, 3_599_001, 3_599_999]) {
      const { limiter, clock } = testLimiter();
      for (let i = 0; i < 3; i++) limiter.check(subjects.user, "signup", 3);
      clock.ms = START_MS + elapsedMs;
      const limitResult = limiter.check(subjects.user, "signup", 3);
      const headers = rateLimitHeaders(limitResult, clock.ms);
      const retryAfter = Number(headers["Retry-After"]);
      expect(retryAfter).toBeGreaterThanOrEqual(1);
      expect(retryAfter).toBeLessThanOrEqual(3600);
      expect(Math.abs(Number(headers["X-RateLimit-Reset"]) - clock.ms / 1000 - retryAfter)).toBeLessThan(1);
      clock.ms += retryAfter * 1000;
      expect(limiter.peek(subjects.user, "signup", 3).allowed).toBe(true);
      expect(new RateLimitedError(limitResult, START_MS + elapsedMs)).toMatchObject({
        reason: "rate_limited",
        details: { resource: "signup", limit: 3, retryAfter },
      });
    }
  });
});
