/** What has been counted of requests since the start, by route: for GET /metrics. Costs a request some hundred nanoseconds. */
import { RATE_CATEGORIES, type RateCategory } from "../../config/settings/plans.ts";
import { RoutePatterns } from "../../http/route-patterns.ts";
import { Histogram } from "../../lib/histogram.ts";

/** Seconds; the last ones are those of large uploads. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60] as const;
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
/** Of what no route fits. */
const NO_ROUTE = "other";

/** The figures of one route and method. */
export class RouteFigures {
  /** `/api/files/{id}`; "other" for what no route fits. */
  readonly route: string;
  readonly method: string;
  /** Answers by the first digit of their status, from 1xx on. */
  readonly byClass = new Float64Array(5);
  /** Seconds until the answer began. */
  readonly latency = new Histogram(BOUNDS);

  constructor(route: string, method: string) {
    this.route = route;
    this.method = method;
  }
}

/** See the head of this file. */
export class RequestStatistics {
  readonly #paths: () => Iterable<string>;
  readonly #all: RouteFigures[] = [];
  readonly #noRoute = new Map<string, RouteFigures>();
  readonly #rejections = new Map<string, number>();
  readonly #rateLimited = new Map<string, number>(RATE_CATEGORIES.map((category) => [category, 0]));
  #routes: RoutePatterns<{ readonly route: string; readonly byMethod: Map<string, RouteFigures> }> | undefined;
  #failures = 0;

  /** @param paths of all routes, as the framework writes them; asked once, at the first request */
  constructor(paths: () => Iterable<string>) {
    this.#paths = paths;
  }

  /** Refusals and failures. */
  get failures(): number {
    return this.#failures;
  }

  /** Refusals and failures by the reason of the API's errors; "unexpected" for what has none. */
  get rejections(): ReadonlyMap<string, number> {
    return this.#rejections;
  }

  /** Refusals by a rate limit, by its category. */
  get rateLimited(): ReadonlyMap<string, number> {
    return this.#rateLimited;
  }

  /** Routes that were asked, by method. */
  get routes(): readonly RouteFigures[] {
    return this.#all;
  }

  /** Counts a request that is answered. @param ms until the answer began */
  note(method: string, path: string, status: number, ms: number): void {
    const figures = this.#figuresOf(METHODS.has(method) ? method : "OTHER", path);
    const place = Math.min(4, Math.max(0, Math.floor(status / 100) - 1));
    figures.byClass[place] = (figures.byClass[place] ?? 0) + 1;
    figures.latency.observe(ms / 1000);
  }

  /** Counts a refusal or a failure, where it is answered. @param category what the request counts as, if anything */
  noteFailure(reason: string, category: RateCategory | undefined): void {
    this.#failures++;
    increase(this.#rejections, reason);
    if (reason === "rate_limited") increase(this.#rateLimited, category ?? "general");
  }

  #figuresOf(method: string, path: string): RouteFigures {
    this.#routes ??= new RoutePatterns(this.#paths(), (route) => ({ route, byMethod: new Map() }));
    const found = this.#routes.find(path);
    const byMethod = found?.byMethod ?? this.#noRoute;
    let figures = byMethod.get(method);
    if (figures === undefined) {
      figures = new RouteFigures(found?.route ?? NO_ROUTE, method);
      byMethod.set(method, figures);
      this.#all.push(figures);
    }
    return figures;
  }
}

function increase(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
