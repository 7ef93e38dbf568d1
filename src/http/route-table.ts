/**
 * Finds the route that the framework will choose for a request. Fixed parts take precedence over parameters, which are
 * never empty. `*` at the end matches any rest. A slash at the end is ignored.
 */

interface Step<Route> {
  readonly fixed: Map<string, Step<Route>>;
  parameter: Step<Route> | undefined;
  /** The route that ends here, */
  route: Route | undefined;
  /** and the one that ends with `*`. */
  rest: Route | undefined;
}

/** Routes by method and path. */
export class RouteTable<Route extends { readonly method: string; readonly path: string }> {
  /** In the order in which they are mounted. */
  readonly all: readonly Route[];
  readonly #byMethod = new Map<string, Step<Route>>();
  /** The latest result: several hooks look up the same request. */
  #last: { readonly method: string; readonly path: string; readonly route: Route | undefined } | undefined;

  constructor(routes: readonly Route[]) {
    this.all = routes;
    for (const route of routes) this.#add(route);
  }

  /** The route of a request; undefined without a route. HEAD uses the route of GET. */
  find(method: string, path: string): Route | undefined {
    const last = this.#last;
    if (last?.path === path && last.method === method) return last.route;
    const first = this.#byMethod.get(method === "HEAD" ? "GET" : method);
    const route = first && walk(first, split(path), 0);
    this.#last = { method, path, route };
    return route;
  }

  /** The methods of the routes for `path`, with HEAD for GET; empty for an unknown path. */
  methodsOf(path: string): string[] {
    const segments = split(path);
    const methods = new Set<string>();
    for (const { method, path: pattern } of this.all) {
      if (!fits(split(pattern), segments)) continue;
      methods.add(method);
      if (method === "GET") methods.add("HEAD");
    }
    return [...methods];
  }

  #add(route: Route): void {
    let step = this.#byMethod.get(route.method) ?? newStep<Route>();
    this.#byMethod.set(route.method, step);
    for (const part of split(route.path)) {
      if (part === "*") {
        step.rest = route;
        return;
      }
      const isParameter = part.startsWith(":");
      const next = (isParameter ? step.parameter : step.fixed.get(part)) ?? newStep<Route>();
      if (isParameter) step.parameter = next;
      else step.fixed.set(part, next);
      step = next;
    }
    step.route = route;
  }
}

function walk<Route>(step: Step<Route>, segments: readonly string[], index: number): Route | undefined {
  const part = segments[index];
  if (part === undefined) return step.route ?? step.rest;
  const fixed = step.fixed.get(part);
  const found = fixed && walk(fixed, segments, index + 1);
  if (found !== undefined) return found;
  const byParameter = part === "" ? undefined : step.parameter;
  return (byParameter && walk(byParameter, segments, index + 1)) ?? step.rest;
}

function newStep<Route>(): Step<Route> {
  return { fixed: new Map(), parameter: undefined, route: undefined, rest: undefined };
}

function split(path: string): string[] {
  const trimmed = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
  return trimmed.split("/").slice(1);
}

function fits(pattern: readonly string[], segments: readonly string[]): boolean {
  if (pattern.at(-1) === "*") return pattern.slice(0, -1).every((part, i) => part === segments[i]);
  return pattern.length === segments.length && pattern.every((part, i) => part.startsWith(":") || part === segments[i]);
}
