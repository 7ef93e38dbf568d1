/** How often: counts every request before it is routed, and puts the state of its window on every answer. */
import { Elysia } from "elysia";
import { AppError } from "../../errors.ts";
import { exchangeOf } from "../../http/exchange.ts";
import { rateLimitKey } from "../../http/client-address.ts";
import type { Clock } from "../../lib/clock.ts";
import { identityOf } from "../auth/guard.ts";
import type { Category, Plan } from "../plans/plans.ts";
import { emailKey } from "../users/email.ts";
import type { PlanName, User } from "../users/types.ts";
import { categorise, isCountedByRoute } from "./categories.ts";
import type { DownloadLedger } from "./download-ledger.ts";
import { rateLimited, rateLimitHeaders } from "./headers.ts";
import { addressSubject, type RateLimiter, userSubject, type Verdict } from "./limiter.ts";
import type { PasswordGate, SigninLimiter } from "./signin-limiter.ts";
import { type RateLimitUsage, rateLimitUsage } from "./usage.ts";

/** What {@link RateGate} works with. */
export interface RateGateOptions {
  readonly limiter: RateLimiter;
  readonly signins: SigninLimiter;
  /** Notes downloads for their category alone; counting them is another's ledger. */
  readonly downloads: DownloadLedger;
  readonly planOf: (name: PlanName) => Plan;
  /** The plan of an account, for its own sign-in; undefined where there is no such account. */
  readonly findPlan: (email: string) => PlanName | undefined;
  readonly clock: Clock;
}

/** Response headers as the framework keeps them until they are sent. */
type HeaderBag = Record<string, string | number>;

/** The limits as routes and guard use them. */
export class RateGate {
  readonly #options: RateGateOptions;

  constructor(options: RateGateOptions) {
    this.#options = options;
  }

  /**
   * Counts a request that has just arrived and shows its window.
   * @throws AppError rate_limited
   */
  countRequest(request: Request, headers: HeaderBag): void {
    const exchange = exchangeOf(request);
    const category = this.#categoryOf(request, exchange.path, exchange.query);
    if (category === undefined) return;
    const { limiter, planOf } = this.#options;
    const { principal } = identityOf(request);
    const limit = planOf(principal?.user.plan ?? "free").limits[category];
    const subject =
      principal === undefined ? addressSubject(this.#addressKey(request)) : userSubject(principal.user.id);
    if (isCountedByRoute(request.method, exchange.path)) {
      this.#show(limiter.peek(subject, category, limit), headers);
      return;
    }
    const verdict = limiter.check(subject, category, limit);
    this.#show(verdict, headers);
    if (!verdict.allowed) throw rateLimited(verdict, this.#options.clock.nowMs());
  }

  /**
   * Runs a sign-in's check of the password, within the limits of sign-ins (contract §3).
   * @throws AppError rate_limited; what `check` throws
   */
  async guardSignIn(request: Request, headers: HeaderBag, email: string, check: () => Promise<User>): Promise<User> {
    const { signins, findPlan } = this.#options;
    const account = emailKey(email);
    return this.#guard(await signins.before(this.#addressKey(request), account, findPlan(email)), headers, check);
  }

  /** The same for a password that is asked elsewhere; the request itself counts in its own category. */
  async guardPassword(request: Request, headers: HeaderBag, email: string, check: () => Promise<User>): Promise<User> {
    return this.#guard(
      await this.#options.signins.beforeElsewhere(this.#addressKey(request), emailKey(email)),
      headers,
      check,
    );
  }

  /** GET /api/users/usage/rate-limits. */
  usageOf(user: User, request: Request): RateLimitUsage {
    const { limiter, planOf, signins } = this.#options;
    return rateLimitUsage(limiter, planOf(user.plan), {
      user: userSubject(user.id),
      signin: signins.subjectOf(this.#addressKey(request), emailKey(user.email)),
    });
  }

  async #guard(gate: PasswordGate, headers: HeaderBag, check: () => Promise<User>): Promise<User> {
    if (!gate.allowed) {
      this.#show(gate.verdict, headers);
      throw rateLimited(gate.verdict, this.#options.clock.nowMs());
    }
    try {
      const user = await check();
      this.#show(gate.attempt.succeeded(), headers);
      return user;
    } catch (error) {
      const reason = error instanceof AppError ? error.reason : undefined;
      if (reason === "bad_credentials") this.#show(gate.attempt.failed(), headers);
      else if (reason === "account_disabled") this.#show(gate.attempt.succeeded(), headers);
      else this.#show(gate.attempt.abandoned(), headers);
      throw error;
    }
  }

  /** Further ranges of a download that has begun, and what is no download after all, count as `general`. */
  #categoryOf(request: Request, path: string, query: string): Category | undefined {
    const category = categorise(request.method, path, query);
    if (category !== "downloads") return category;
    const { downloads, clock } = this.#options;
    const { principal } = identityOf(request);
    const caller = principal === undefined ? this.#addressKey(request) : userSubject(principal.user.id);
    const step = downloads.begin(caller, path, request.headers.has("range"), clock.nowMs());
    return step === "continues" ? "general" : category;
  }

  #show(verdict: Verdict, headers: HeaderBag): void {
    const shown = rateLimitHeaders(verdict, this.#options.clock.nowMs());
    for (const [name, value] of Object.entries(shown)) headers[name.toLowerCase()] = value;
  }

  #addressKey(request: Request): string {
    return rateLimitKey(exchangeOf(request).clientAddress);
  }
}

/** The hook of the head of this file. Mounted after the auth guard: who asks decides who is counted. */
export function rateLimitGuard(gate: RateGate) {
  return new Elysia({ name: "rate-limit-guard" }).onRequest(({ request, set }) => {
    gate.countRequest(request, set.headers as HeaderBag);
  });
}
