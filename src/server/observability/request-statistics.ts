/** Counts requests by route since the start, for GET /metrics. Takes a few hundred nanoseconds per request. */
import { RATE_CATEGORIES, type RateCategory } from "../../config/settings/plans.ts";
import { RoutePatterns } from "../../http/route-patterns.ts";
import { Histogram } from "../../lib/histogram.ts";

/** In seconds; the last ones are for large uploads. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60] as const;
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
/** For requests without a route. */
const NO_ROUTE = "other";

/** The counts of one route and method. */
class RouteStatistics {
  /** The pattern, such as `/api/files/{id}`; "other" for requests without a route. */
  readonly route: string;
  readonly method: string;
  /** Responses by the first digit of their status, from 1xx on. */
  readonly byClass = new Float64Array(5);
  /** Seconds until the response began. */
  readonly latency = new Histogram(BOUNDS);

  constructor(route: string, method: string) {
    this.route = route;
    this.method = method;
  }
}

/** The counts of all requests. */
export class RequestStatistics {
  readonly #paths: () => Iterable<string>;
  readonly #all: RouteStatistics[] = [];
  readonly #noRoute = new Map<string, RouteStatistics>();
  readonly #rejections = new Map<string, number>();
  readonly #rateLimited = new Map<string, number>(RATE_CATEGORIES.map((category) => [category, 0]));
  #routes: RoutePatterns<{ readonly route: string; readonly byMethod: Map<string, RouteStatistics> }> | undefined;
  #total = 0;
  #failures = 0;

  /** @param paths the paths of all routes, in the form of the framework; called once, at the first request */
  constructor(paths: () => Iterable<string>) {
    this.#paths = paths;
  }

  /** The number of requests with a response. */
  get total(): number {
    return this.#total;
  }

  /** The number of rejected and failed requests. */
  get failures(): number {
    return this.#failures;
  }

  /** Rejected and failed requests by the error reason of the API; "unexpected" for errors without a reason. */
  get rejections(): ReadonlyMap<string, number> {
    return this.#rejections;
  }

  /** Requests rejected by a rate limit, by its category. */
  get rateLimited(): ReadonlyMap<string, number> {
    return this.#rateLimited;
  }

  /** The counts of each route and method with requests. */
  get routes(): readonly RouteStatistics[] {
    return this.#all;
  }

  /** Counts a request with a response. @param ms time until the response began */
  note(method: string, path: string, status: number, ms: number): void {
    this.#total++;
    const statistics = this.#statisticsFor(METHODS.has(method) ? method : "OTHER", path);
    const index = Math.min(4, Math.max(0, Math.floor(status / 100) - 1));
    statistics.byClass[index] = (statistics.byClass[index] ?? 0) + 1;
    statistics.latency.observe(ms / 1000);
  }

  /** Counts a rejected or failed request. @param category its rate-limit category, if it has one */
  noteFailure(reason: string, category: RateCategory | undefined): void {
    this.#failures++;
    increase(this.#rejections, reason);
    if (reason === "rate_limited") increase(this.#rateLimited, category ?? "general");
  }

  #statisticsFor(method: string, path: string): RouteStatistics {
    this.#routes ??= new RoutePatterns(this.#paths(), (route) => ({ route, byMethod: new Map() }));
    const found = this.#routes.find(path);
    const byMethod = found?.byMethod ?? this.#noRoute;
    let statistics = byMethod.get(method);
    if (statistics === undefined) {
      statistics = new RouteStatistics(found?.route ?? NO_ROUTE, method);
      byMethod.set(method, statistics);
      this.#all.push(statistics);
    }
    return statistics;
  }
}

function increase(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
