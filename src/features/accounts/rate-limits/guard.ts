/** Counts every request before it is routed, and puts the state of its window into every response. */
import { Elysia } from "elysia";
import { AppError } from "../../../errors.ts";
import { noteAudit } from "../../../http/audit-note.ts";
import { TooManyBodiesError } from "../../../http/body-pace.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { rateLimitKey } from "../../../http/client-address.ts";
import type { Clock } from "../../../lib/clock.ts";
import { identityOf } from "../auth/guard.ts";
import { checkingFrom } from "../users/password-line.ts";
import type { Category, Plan } from "../plans/plans.ts";
import { emailKey } from "../users/email.ts";
import type { RateRule, ResponseHeaders } from "../routing/declaration.ts";
import type { PlanName, User } from "../users/types.ts";
import { allowanceOf, categoryOf, isCountedByHandler } from "./categories.ts";
import type { DownloadLedger } from "./download-ledger.ts";
import { bodyLimitHeaders, RateLimitedError, rateLimitHeaders } from "./headers.ts";
import { addressSubject, userSubject, type RateLimitResult } from "./counters.ts";
import type { RateLimiter } from "./limiter.ts";
import type { PasswordGate, SigninLimiter } from "./signin-limiter.ts";
import { type RateLimitUsage, rateLimitUsage } from "./usage.ts";

/** Dependencies of {@link RateGate}. */
interface RateGateOptions {
  readonly limiter: RateLimiter;
  readonly signins: SigninLimiter;
  /** Records downloads for their category only; the download counts have their own ledger. */
  readonly downloads: DownloadLedger;
  readonly planOf: (name: PlanName) => Plan;
  /** The plan of an account, for its sign-in; undefined if there is no such account. */
  readonly findPlan: (email: string) => PlanName | undefined;
  readonly clock: Clock;
}

/** The rate limits, as routes and the guard use them. */
export class RateGate {
  readonly #options: RateGateOptions;
  #ownerOfSigned: (path: string, query: string) => User | undefined = () => undefined;

  constructor(options: RateGateOptions) {
    this.#options = options;
  }

  /**
   * Counts a new request and shows its window.
   * @param rule of its route; undefined if no route matches
   * @throws AppError rate_limited
   */
  countRequest(request: Request, rule: RateRule | undefined, headers: ResponseHeaders): void {
    const requestContext = requestContextOf(request);
    const { path, query } = requestContext;
    const category = categoryOf(rule, path, query);
    if (category === undefined) return;
    // Some WebDAV programs send each request without the app password first, and again after the 401, which costs nothing.
    if (category === "dav" && identityOf(request).problem?.reason === "missing_token") return;
    if (isCountedByHandler(rule)) {
      if (category === "uploads") this.#showUploads(request, headers);
      else this.#show(this.#options.signins.preview(this.#addressKey(request)), headers);
      return;
    }
    const user = identityOf(request).principal?.user ?? this.#signedOwner(request);
    const plan = this.#options.planOf(user?.plan ?? "free");
    const subject = user === undefined ? addressSubject(this.#addressKey(request)) : userSubject(user.id);
    if (category === "downloads") this.#countDownload(request, path, subject, plan, headers);
    else this.#count(subject, category, plan, headers, category === "dav" ? allowanceOf(request) : 0);
  }

  /**
   * Counts a request as a download if it was admitted as something less, and the whole content is sent. Otherwise
   * `?thumbnail` or a meaningless range would bypass the limit. The response shows the category of the request,
   * `general`, unless this rejects it.
   * @throws AppError rate_limited
   */
  countWholeDownload(request: Request, headers: ResponseHeaders): void {
    if (headers["X-RateLimit-Resource"] !== "general") return;
    const { principal } = identityOf(request);
    const plan = this.#options.planOf(principal?.user.plan ?? "free");
    const subject =
      principal === undefined ? addressSubject(this.#addressKey(request)) : userSubject(principal.user.id);
    this.#count(subject, "downloads", plan, headers);
  }

  /**
   * Counts the files that the start of an upload session plans, each as an upload, up to the limit. A call that plans
   * none counts as `general`. Call it once for each such request.
   * @returns how many files may continue, and the error for the others
   * @throws AppError rate_limited if nothing is planned and the window is full
   */
  countPlanned(
    request: Request,
    headers: ResponseHeaders,
    count: number,
  ): { readonly taken: number; readonly rejection: AppError | undefined } {
    const { limiter, clock } = this.#options;
    const { subject, plan } = this.#callerOf(request);
    if (count === 0) {
      this.#count(subject, "general", plan, headers);
      return { taken: 0, rejection: undefined };
    }
    const { taken, limitResult } = limiter.takeUpTo(subject, "uploads", plan.limits.uploads, count);
    // Retry-After belongs to the error, and is set only if the call fails with it.
    this.#show({ ...limitResult, allowed: true }, headers);
    return { taken, rejection: taken < count ? new RateLimitedError(limitResult, clock.nowMs()) : undefined };
  }

  /**
   * Sets how the owner of a request without a token is found by the signature in its address. The request counts as
   * theirs.
   */
  setOwnerOfSigned(ownerOf: (path: string, query: string) => User | undefined): void {
    this.#ownerOfSigned = ownerOf;
  }

  /**
   * Runs the password check of a sign-in, within the limits of sign-ins.
   * @throws AppError rate_limited; what `check` throws
   */
  async guardSignIn<T>(request: Request, headers: ResponseHeaders, email: string, check: () => Promise<T>): Promise<T> {
    noteAudit(request, { email });
    const { signins, findPlan } = this.#options;
    const account = emailKey(email);
    const gate = await signins.before(this.#addressKey(request), account, findPlan(email));
    return this.#guard(request, gate, check, (limitResult) => this.#show(limitResult, headers));
  }

  /** Counts a sign-in that names no account. @throws AppError rate_limited if the address has used up its ceiling */
  countMalformedSignIn(request: Request, headers: ResponseHeaders): void {
    const limitResult = this.#options.signins.malformed(this.#addressKey(request));
    this.#show(limitResult, headers);
    if (!limitResult.allowed) throw new RateLimitedError(limitResult, this.#options.clock.nowMs());
  }

  /**
   * Like {@link guardSignIn}, for a password that is checked elsewhere. The request itself counts in its own category.
   */
  async guardPassword<T>(
    request: Request,
    headers: ResponseHeaders,
    email: string,
    check: () => Promise<T>,
  ): Promise<T> {
    const isShare = email.startsWith("share:");
    noteAudit(request, isShare ? { target: { type: "share", id: email.slice("share:".length) } } : { email });
    const gate = await this.#options.signins.beforeElsewhere(this.#addressKey(request), emailKey(email));
    // The response shows the category of the request, unless this limit rejects it.
    return this.#guard(request, gate, check, (limitResult) => {
      if (!limitResult.allowed) this.#show(limitResult, headers);
    });
  }

  /**
   * Describes the limit of unfinished bodies in the headers, if that limit rejected the request. Its own window may
   * have room, and its Reset would differ from Retry-After.
   */
  showBodyLimit(error: unknown, headers: ResponseHeaders): void {
    if (!(error instanceof TooManyBodiesError) || headers["X-RateLimit-Resource"] === undefined) return;
    Object.assign(headers, bodyLimitHeaders(error, this.#options.clock.nowMs()));
  }

  /** GET /api/users/usage/rate-limits. */
  usageOf(user: User, request: Request): RateLimitUsage {
    const { limiter, planOf, signins } = this.#options;
    return rateLimitUsage(limiter, planOf(user.plan), {
      user: userSubject(user.id),
      signin: signins.subjectOf(this.#addressKey(request), emailKey(user.email)),
    });
  }

  async #guard<T>(
    request: Request,
    gate: PasswordGate,
    check: () => Promise<T>,
    show: (limitResult: RateLimitResult) => void,
  ): Promise<T> {
    if (!gate.allowed) {
      show(gate.limitResult);
      throw new RateLimitedError(gate.limitResult, this.#options.clock.nowMs());
    }
    try {
      const checked = await checkingFrom(this.#addressKey(request), check);
      show(gate.attempt.succeeded());
      return checked;
    } catch (error) {
      const reason = error instanceof AppError ? error.reason : undefined;
      if (reason === "bad_credentials") show(gate.attempt.failed());
      else if (reason === "invalid_code") show(gate.attempt.failedByCode());
      else if (reason === "account_disabled" || reason === "second_factor_required") show(gate.attempt.succeeded());
      else {
        const limitResult = gate.attempt.abandoned();
        // Other limits, such as that of codes, show their own state when they reject.
        show(error instanceof RateLimitedError ? error.limitResult : limitResult);
      }
      throw error;
    }
  }

  /** @param allowance how far beyond the limit this request may go; the response shows the limit without it */
  #count(subject: string, category: Category, plan: Plan, headers: ResponseHeaders, allowance = 0): void {
    const limit = plan.limits[category];
    const limitResult = this.#options.limiter.check(subject, category, limit === null ? null : limit + allowance);
    const { remaining } = limitResult;
    const shown =
      allowance === 0
        ? limitResult
        : { ...limitResult, limit, remaining: remaining === null ? null : Math.max(0, remaining - allowance) };
    this.#show(shown, headers);
    if (!limitResult.allowed) throw new RateLimitedError(limitResult, this.#options.clock.nowMs());
  }

  /** Further ranges of a download in progress count as `general`. A rejected download is not in progress. */
  #countDownload(request: Request, path: string, subject: string, plan: Plan, headers: ResponseHeaders): void {
    const { downloads, clock } = this.#options;
    const isRange = request.headers.has("range");
    if (downloads.peek(subject, path, isRange, clock.nowMs()) === "continues") {
      this.#count(subject, "general", plan, headers);
      return;
    }
    this.#count(subject, "downloads", plan, headers);
    downloads.begin(subject, path, isRange, clock.nowMs());
  }

  /** The state of the window of uploads, without counting: for requests that are rejected before they plan anything. */
  #showUploads(request: Request, headers: ResponseHeaders): void {
    const { subject, plan } = this.#callerOf(request);
    const limitResult = this.#options.limiter.peek(subject, "uploads", plan.limits.uploads);
    this.#show({ ...limitResult, allowed: true }, headers);
  }

  #callerOf(request: Request): { subject: string; plan: Plan } {
    const { principal } = identityOf(request);
    return {
      subject: principal === undefined ? addressSubject(this.#addressKey(request)) : userSubject(principal.user.id),
      plan: this.#options.planOf(principal?.user.plan ?? "free"),
    };
  }

  #signedOwner(request: Request): User | undefined {
    const { path, query } = requestContextOf(request);
    return request.method === "PUT" && path.startsWith("/api/mobile/upload/")
      ? this.#ownerOfSigned(path, query)
      : undefined;
  }

  #show(limitResult: RateLimitResult, headers: ResponseHeaders): void {
    Object.assign(headers, rateLimitHeaders(limitResult, this.#options.clock.nowMs()));
  }

  #addressKey(request: Request): string {
    return rateLimitKey(requestContextOf(request).clientAddress);
  }
}

/**
 * Counts each request. Mounted after the auth guard, because the caller decides which counts apply.
 * @param ruleOf the rule of the route of a request; undefined if no route matches
 */
export function rateLimitGuard(gate: RateGate, ruleOf: (method: string, path: string) => RateRule | undefined) {
  return new Elysia({ name: "rate-limit-guard" }).onRequest(({ request, set }) => {
    gate.countRequest(request, ruleOf(request.method, requestContextOf(request).path), set.headers);
  });
}
