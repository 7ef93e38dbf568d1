import { describe, expect, test } from "bun:test";
import { buildPlans } from "../../../../src/features/accounts/plans/plans.ts";
import type { PlanName } from "../../../../src/features/accounts/users/types.ts";
import { rateLimitHeaders } from "../../../../src/features/accounts/rate-limits/headers.ts";
import type { RateLimitResult } from "../../../../src/features/accounts/rate-limits/counters.ts";
import { type PasswordGate, SigninLimiter } from "../../../../src/features/accounts/rate-limits/signin-limiter.ts";
import { START_MS, testLimiter } from "./support.ts";

const HERE = "192.0.2.1";
const THERE = "192.0.2.2";
const ADA = "ada@example.org";

const attemptOf = (gate: PasswordGate) => {
  if (!gate.allowed) throw new Error("the attempt was rejected");
  return gate.attempt;
};

const summary = (outcome: string, limitResult: RateLimitResult) =>
  `${outcome} ${limitResult.remaining}/${limitResult.limit}`;

function setUp(settings: Parameters<typeof buildPlans>[0] = {}) {
  const { limiter, clock } = testLimiter();
  const signin = new SigninLimiter({ limiter, plans: buildPlans(settings) });
  /** Makes one attempt. @returns its result, then the remaining attempts and the limit */
  const attempt = async (isRight: boolean, plan: PlanName | undefined, account = ADA, address = HERE) => {
    const gate = await signin.before(address, account, plan);
    if (!gate.allowed) return summary("refused", gate.limitResult);
    return isRight ? summary("right", gate.attempt.succeeded()) : summary("wrong", gate.attempt.failed());
  };
  return { signin, clock, limiter, attempt, attemptOf };
}

describe("sign-in attempts", () => {
  test("with the right password count against the account's plan, and report its numbers", async () => {
    for (const [plan, limit] of [
      ["free", 5],
      ["pro", 10],
      ["enterprise", 20],
    ] as const) {
      const { attempt } = setUp();
      for (let i = 1; i <= limit; i++) expect(await attempt(true, plan)).toBe(`right ${limit - i}/${limit}`);
      expect(await attempt(true, plan)).toBe(`refused 0/${limit}`);
    }
  });

  test("with a wrong password look the same for every plan and for an unknown name", async () => {
    for (const plan of ["free", "pro", "enterprise", undefined] as const) {
      const { attempt, clock } = setUp();
      const seen: string[] = [];
      for (let i = 0; i < 7; i++) {
        seen.push(await attempt(false, plan));
        clock.ms += 1000;
      }
      expect(seen).toEqual([
        "wrong 4/5",
        "wrong 3/5",
        "wrong 2/5",
        "wrong 1/5",
        "wrong 0/5",
        "refused 0/5",
        "refused 0/5",
      ]);
    }
  });

  test("are rejected after five wrong ones, even with the right password, until the first is a minute old", async () => {
    const { attempt, signin, clock } = setUp();
    for (let i = 0; i < 5; i++) {
      await attempt(false, "pro");
      clock.ms += 1000;
    }
    const gate = await signin.before(HERE, ADA, "pro");
    expect(gate).toMatchObject({
      allowed: false,
      limitResult: { limit: 5, remaining: 0, resetAtMs: START_MS + 60_000 },
    });
    clock.ms = START_MS + 59_999;
    expect(await attempt(true, "pro")).toBe("refused 0/5");
    clock.ms = START_MS + 60_000;
    expect(await attempt(true, "pro")).toBe("right 5/10");
  });

  test("with a wrong password also count against the account's plan", async () => {
    const { attempt } = setUp();
    for (let i = 0; i < 4; i++) await attempt(false, "pro");
    for (let i = 0; i < 6; i++) expect(await attempt(true, "pro")).toBe(`right ${5 - i}/10`);
    expect(await attempt(true, "pro")).toBe("refused 0/10");
    expect(await attempt(false, "pro")).toBe("refused 0/10");
  });

  test("that were rejected don't count", async () => {
    const { attempt, clock } = setUp();
    for (let i = 0; i < 5; i++) await attempt(false, "free");
    for (let i = 0; i < 50; i++) {
      clock.ms += 1000;
      expect(await attempt(false, "free")).toBe("refused 0/5");
    }
    clock.ms = START_MS + 60_000;
    expect(await attempt(false, "free")).toBe("wrong 4/5");
  });

  test("from one address don't affect another address", async () => {
    const { attempt } = setUp();
    for (let i = 0; i < 8; i++) await attempt(false, "free");
    expect(await attempt(true, "free")).toBe("refused 0/5");
    expect(await attempt(true, "free", ADA, THERE)).toBe("right 4/5");
    expect(await attempt(true, "free", "bob@example.org")).toBe("right 4/5");
  });

  test("from one address are limited over all accounts, known or not", async () => {
    const { attempt, clock } = setUp();
    for (let i = 0; i < 20; i++) expect(await attempt(false, undefined, `${i}@example.org`)).toBe("wrong 4/5");
    expect(await attempt(false, undefined, "unknown@example.org")).toBe("refused 0/20");
    expect(await attempt(true, "enterprise")).toBe("refused 0/20");
    expect(await attempt(true, "enterprise", ADA, THERE)).toBe("right 19/20");
    clock.ms += 60_000;
    expect(await attempt(true, "enterprise")).toBe("right 19/20");
  });

  test("with a malformed body count for the address only, and report the numbers of free", async () => {
    const { signin, attempt } = setUp();
    for (let i = 0; i < 3; i++) expect(signin.preview(HERE)).toMatchObject({ allowed: true, limit: 5, remaining: 5 });
    expect(signin.malformed(HERE)).toMatchObject({ allowed: true, limit: 5, remaining: 5 });
    for (let i = 0; i < 19; i++) signin.malformed(HERE);
    expect(signin.preview(HERE)).toMatchObject({ allowed: true, limit: 5, remaining: 0 });
    expect(signin.malformed(HERE).allowed).toBe(false);
    expect(await attempt(true, "pro")).toBe("refused 0/20");
  });

  test("made concurrently allow no more wrong ones than sequential ones, for known and unknown names", async () => {
    for (const plan of ["enterprise", undefined] as const) {
      const { signin } = setUp();
      const gates = Array.from({ length: 15 }, () => signin.before(HERE, ADA, plan));
      const outcomes = await Promise.all(
        gates.map(async (pending) => {
          const gate = await pending;
          if (!gate.allowed) return "refused";
          await Promise.resolve();
          gate.attempt.failed();
          return "wrong";
        }),
      );
      expect(outcomes.filter((outcome) => outcome === "wrong")).toHaveLength(5);
    }
  });

  test("made concurrently with the right password are all accepted, up to the plan's limit", async () => {
    const { attempt } = setUp();
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => attempt(true, "pro")));
    expect(outcomes.filter((outcome) => outcome.startsWith("right"))).toHaveLength(10);
    expect(outcomes.filter((outcome) => outcome === "refused 0/10")).toHaveLength(2);
  });

  test("waiting for others are limited in number", async () => {
    const { signin, attemptOf } = setUp();
    const open = await Promise.all(Array.from({ length: 5 }, () => signin.before(HERE, ADA, undefined)));
    const waiting = Array.from({ length: 100 }, () => signin.before(HERE, ADA, undefined));
    expect(await signin.before(HERE, ADA, undefined)).toMatchObject({
      allowed: false,
      limitResult: { limit: 5, remaining: 0 },
    });
    for (const gate of open) attemptOf(gate).failed();
    expect((await Promise.all(waiting)).every((gate) => !gate.allowed)).toBe(true);
  });

  test("that were abandoned don't count, once each", async () => {
    const { signin, attempt, attemptOf } = setUp();
    const one = attemptOf(await signin.before(HERE, ADA, "enterprise"));
    expect(one.abandoned()).toMatchObject({ limit: 5, remaining: 5 });
    one.failed();
    one.failed();
    expect(await attempt(false, "enterprise")).toBe("wrong 4/5");
  });

  test("that were abandoned don't distinguish known from unknown names", async () => {
    for (const plan of ["free", "pro", undefined] as const) {
      const { signin, attempt, attemptOf } = setUp();
      for (let i = 0; i < 8; i++) attemptOf(await signin.before(HERE, ADA, plan)).abandoned();
      for (let i = 1; i <= 5; i++) expect(await attempt(false, plan)).toBe(`wrong ${5 - i}/5`);
      expect(await attempt(false, plan)).toBe("refused 0/5");
    }
  });

  test("with the right password are unlimited if rate limits are off", async () => {
    const { attempt } = setUp({ rateLimits: "off" });
    for (let i = 0; i < 100; i++) expect(await attempt(true, "free")).toBe("right null/null");
  });

  test.each([
    ["switched off", { rateLimits: "off" }],
    ["multiplied", { limitMultiplier: 100 }],
    ["multiplied by the configuration", { limitMultiplier: 100, overrides: { free: { limits: { signin: 500 } } } }],
  ] as const)("with a wrong password stay limited if rate limits are %s", async (_how, settings) => {
    // The household preset once allowed 500 wrong passwords a minute, and rateLimits=off any number.
    const { attempt, clock } = setUp(settings);
    for (let i = 1; i <= 5; i++) expect(await attempt(false, "enterprise")).toBe(`wrong ${5 - i}/5`);
    expect(await attempt(true, "enterprise")).toBe("refused 0/5");
    for (let i = 0; i < 15; i++) expect(await attempt(false, undefined, `${i}@example.org`)).toBe("wrong 4/5");
    expect(await attempt(false, undefined, "unknown@example.org")).toBe("refused 0/20");
    expect(await attempt(true, "free", ADA, THERE)).toStartWith("right");
    clock.ms += 60_000;
    expect(await attempt(true, "free")).toStartWith("right");
  });

  test("with a wrong password are limited to 50 an hour for an address and account", async () => {
    const { attempt, signin, clock } = setUp();
    for (let i = 0; i < 50; i++) {
      expect(await attempt(false, "pro")).toStartWith("wrong");
      clock.ms += 12_001;
    }
    const gate = await signin.before(HERE, ADA, "pro");
    const resetAtMs = START_MS + 3_600_000;
    expect(gate).toMatchObject({
      allowed: false,
      limitResult: { category: "signin", limit: 50, remaining: 0, windowSeconds: 3600, resetAtMs },
    });
    expect(await signin.beforeElsewhere(HERE, ADA)).toMatchObject({
      allowed: false,
      limitResult: { limit: 50, resetAtMs },
    });
    expect(await attempt(true, "pro", ADA, THERE)).toBe("right 9/10");
    expect(await attempt(true, "pro", "bob@example.org")).toBe("right 9/10");
    clock.ms = resetAtMs - 1;
    expect(await attempt(true, "pro")).toBe("refused 0/50");
    clock.ms = resetAtMs;
    expect(await attempt(true, "pro")).toBe("right 9/10");
  });

  test("rejected by the hourly limit are accepted after the reported time, which includes the minute's limit", async () => {
    const { attempt, signin, clock } = setUp();
    for (let i = 0; i < 45; i++) {
      await attempt(false, "free");
      clock.ms += 60_000;
    }
    clock.ms = START_MS + 3_599_000;
    for (let i = 0; i < 5; i++) expect(await attempt(false, "free")).toStartWith("wrong");
    const gate = await signin.before(HERE, ADA, "free");
    // The oldest of the 50 leaves in a second, but the five of this minute only in 60.
    expect(gate).toMatchObject({ allowed: false, limitResult: { limit: 50, resetAtMs: clock.ms + 60_000 } });
    clock.ms += 60_000;
    expect(await attempt(true, "free")).toBe("right 4/5");
  });

  test("stay limited to 50 an hour if the configuration sets the limit of free", async () => {
    const { attempt } = setUp({ overrides: { free: { limits: { signin: null } } } });
    for (let i = 0; i < 20; i++) expect(await attempt(false, "free")).toBe("wrong null/null");
    expect(await attempt(false, "free")).toBe("refused 0/20");
    const other = setUp({ overrides: { free: { limits: { signin: 1000 } } } });
    for (let i = 1; i <= 50; i++) expect(await other.attempt(false, "free")).toBe(`wrong ${1000 - i}/1000`);
    expect(await other.attempt(false, "free")).toBe("refused 0/50");
  });

  test("that fail by their code count for the account, but not for the address", async () => {
    const { signin, attempt } = setUp();
    for (let i = 0; i < 20; i++) attemptOf(await signin.beforeElsewhere(HERE, `${i}@example.org`)).failedByCode();
    expect(await attempt(false, "free", "0@example.org")).toBe("wrong 3/5");
    for (let i = 0; i < 3; i++) attemptOf(await signin.beforeElsewhere(HERE, "0@example.org")).failedByCode();
    expect(await attempt(true, "free", "0@example.org")).toBe("refused 0/5");
  });

  test("for many accounts made concurrently allow no more wrong ones than sequential ones", async () => {
    const { signin } = setUp({ rateLimits: "off" });
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, async (_, i) => {
        const gate = await signin.before(HERE, `${i}@example.org`, undefined);
        if (!gate.allowed) return "refused";
        await Promise.resolve();
        gate.attempt.failed();
        return "wrong";
      }),
    );
    expect(outcomes.filter((outcome) => outcome === "wrong")).toHaveLength(20);
  });

  test("have headers of their own category", async () => {
    const { signin, clock } = setUp();
    for (let i = 0; i < 5; i++) {
      const gate = await signin.before(HERE, ADA, undefined);
      if (gate.allowed) gate.attempt.failed();
    }
    clock.ms += 500;
    const gate = await signin.before(HERE, ADA, undefined);
    if (gate.allowed) throw new Error("must be rejected");
    expect(rateLimitHeaders(gate.limitResult, clock.ms)).toEqual({
      "X-RateLimit-Limit": "5",
      "X-RateLimit-Remaining": "0",
      "X-RateLimit-Reset": String(Math.ceil((START_MS + 60_000) / 1000)),
      "X-RateLimit-Window": "60",
      "X-RateLimit-Resource": "signin",
      "Retry-After": "60",
    });
  });
});

describe("passwords checked outside sign-in", () => {
  test("count in the same window if wrong, and are limited with it", async () => {
    const { signin, attempt } = setUp();
    for (let i = 0; i < 3; i++) {
      const gate = await signin.beforeElsewhere(HERE, ADA);
      if (gate.allowed) gate.attempt.failed();
    }
    expect(await attempt(false, "enterprise")).toBe("wrong 1/5");
    expect(await attempt(false, "enterprise")).toBe("wrong 0/5");
    expect(await signin.beforeElsewhere(HERE, ADA)).toMatchObject({
      allowed: false,
      limitResult: { category: "signin", limit: 5 },
    });
    expect((await signin.beforeElsewhere(THERE, ADA)).allowed).toBe(true);
  });

  test("don't count if right", async () => {
    const { signin, attempt } = setUp();
    for (let i = 0; i < 50; i++) {
      const gate = await signin.beforeElsewhere(HERE, ADA);
      if (gate.allowed) gate.attempt.succeeded();
    }
    expect(await attempt(true, "free")).toBe("right 4/5");
  });

  test("don't depend on sign-ins of others from the same address", async () => {
    const { signin, attempt } = setUp();
    for (let i = 0; i < 21; i++) await attempt(true, "free", `${i}@example.org`);
    expect((await signin.beforeElsewhere(HERE, ADA)).allowed).toBe(true);
  });
});

test("names entered at sign-in are never written to the disk", async () => {
  const { limiter, db } = testLimiter();
  const signin = new SigninLimiter({ limiter, plans: buildPlans() });
  const gate = await signin.before(HERE, "my secret password", undefined);
  if (gate.allowed) gate.attempt.failed();
  await limiter.flush();
  const stored = db.sqlite.query("SELECT subject FROM rate_hits").all();
  expect(stored).toHaveLength(5);
  expect(JSON.stringify(stored)).not.toContain("secret");
});
