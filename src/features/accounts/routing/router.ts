/** Features mount their routes here. Apart from the guards, no other file uses the routes of Elysia. */
import { type AnyElysia, Elysia } from "elysia";
import { documented, HIDDEN } from "../../../http/documented.ts";
import { RouteTable } from "../../../http/route-table.ts";
import { invariant } from "../../../lib/invariant.ts";
import { type authGuard, takesJson } from "../auth/guard.ts";
import type { DeclaredRoute, ResponseHeaders, RouteContext, RouteDeclaration } from "./declaration.ts";

type Handler<D extends RouteDeclaration> = (context: RouteContext<D>) => unknown;

/** Options of a {@link Router}. */
interface RouterOptions {
  /** Precedes the paths of all routes. */
  readonly prefix?: string;
  /** Authenticates the caller. Required unless all routes are public. */
  readonly guard?: ReturnType<typeof authGuard>;
}

/** A route with its handler, as {@link Router} collects it. */
interface MountedRoute extends DeclaredRoute {
  readonly handler: (context: object) => unknown;
  /** Hooks for the framework. */
  readonly hooks: object;
}

/** Routes of a feature. They reach the framework once, with those of the whole application: it is slow to copy them. */
export class Router {
  readonly #prefix: string;
  readonly #hasGuard: boolean;
  readonly #routes: MountedRoute[] = [];
  readonly #plugins = new Set<AnyElysia>();
  #errorHooks: object = {};
  #plugin: AnyElysia | undefined;

  constructor({ prefix = "", guard }: RouterOptions = {}) {
    this.#prefix = prefix;
    this.#hasGuard = guard !== undefined;
    if (guard !== undefined) this.#plugins.add(guard);
  }

  /** The routes of this router and of the routers that it uses. */
  get routes(): readonly DeclaredRoute[] {
    return this.#routes;
  }

  /** The hooks and routes as an application of the framework. Routes that are added later are not in it. */
  get plugin(): AnyElysia {
    if (this.#plugin !== undefined) return this.#plugin;
    const plugin: AnyElysia = new Elysia();
    for (const hook of this.#plugins) plugin.use(hook);
    for (const { method, path, handler, hooks } of this.#routes) plugin.route(method, path, handler, hooks);
    this.#plugin = plugin;
    return plugin;
  }

  get<const D extends RouteDeclaration>(path: string, declaration: D, handler: Handler<D>): this {
    return this.#add("GET", path, declaration, handler);
  }

  post<const D extends RouteDeclaration>(path: string, declaration: D, handler: Handler<D>): this {
    return this.#add("POST", path, declaration, handler);
  }

  put<const D extends RouteDeclaration>(path: string, declaration: D, handler: Handler<D>): this {
    return this.#add("PUT", path, declaration, handler);
  }

  patch<const D extends RouteDeclaration>(path: string, declaration: D, handler: Handler<D>): this {
    return this.#add("PATCH", path, declaration, handler);
  }

  delete<const D extends RouteDeclaration>(path: string, declaration: D, handler: Handler<D>): this {
    return this.#add("DELETE", path, declaration, handler);
  }

  options<const D extends RouteDeclaration>(path: string, declaration: D, handler: Handler<D>): this {
    return this.#add("OPTIONS", path, declaration, handler);
  }

  /** Adds a route for a method that has no function here, such as those of WebDAV. */
  on<const D extends RouteDeclaration>(method: string, path: string, declaration: D, handler: Handler<D>): this {
    return this.#add(method, path, declaration, handler);
  }

  /** Adds the routes of other routers, below the prefix of this one. */
  use(...others: readonly Router[]): this {
    for (const other of others) {
      for (const plugin of other.#plugins) this.#plugins.add(plugin);
      for (const route of other.#routes) this.#routes.push({ ...route, path: this.#prefix + route.path });
    }
    return this;
  }

  /** Adds hooks of the framework, before all routes. */
  hook(plugin: AnyElysia): this {
    this.#plugins.add(plugin);
    return this;
  }

  /** Calls `handle` with each error of the routes that are added later. */
  onError(handle: (context: { error: unknown; request: Request; set: { headers: ResponseHeaders } }) => void): this {
    this.#errorHooks = { error: (context: Parameters<typeof handle>[0]) => handle(context) };
    return this;
  }

  #add<D extends RouteDeclaration>(method: string, path: string, declaration: D, handler: Handler<D>): this {
    this.#routes.push({
      method,
      path: this.#prefix + path,
      declaration,
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the hooks below add the fields to the framework's context
      handler: withoutWaiting(method, declaration, handler as (context: object) => unknown),
      hooks: { ...this.#hooksOf(declaration), ...this.#errorHooks },
    });
    return this;
  }

  #hooksOf(declaration: RouteDeclaration): object {
    const { access, scope, docs, params } = declaration;
    invariant(access === "public" || this.#hasGuard, "a router whose routes are not public has a guard");
    return {
      ...bodyHooks(declaration),
      // The guard's macro: checks the caller, and adds `principal`.
      ...(access !== "public" && { access: { access, scope } }),
      ...(params !== undefined && { params }),
      ...(docs === "hidden" ? HIDDEN : documented(docs, { access, takesJson: declaration.body !== undefined })),
    };
  }
}

/**
 * A handler whose result the framework uses at once. It waits for each handler that seems to return a promise, according
 * to its source. Most handlers of GET don't, and promises would take a tenth of their time.
 */
function withoutWaiting(
  method: string,
  { parse }: RouteDeclaration,
  handler: (context: object) => unknown,
): (context: object) => unknown {
  if (method !== "GET" || parse !== undefined || handler.constructor.name === "AsyncFunction") return handler;
  // The framework reads from the source which fields to set. A call in the return statement would look like a promise.
  const direct = ({ request, set, principal, params }: Partial<RouteContext<RouteDeclaration>>) => {
    let result: unknown;
    result = handler({ request, set, principal, params, body: undefined });
    return result;
  };
  return direct;
}

function bodyHooks(declaration: RouteDeclaration): object {
  const { body, parse, isBodyOptional, readOther, onRejected } = declaration;
  if (body === undefined) return parse === undefined ? {} : { parse };
  const json = takesJson(declaration, body, isBodyOptional !== true, readOther);
  if (onRejected === undefined) return json;
  return {
    body,
    parse: async ({ request, set }: { request: Request; set: { headers: ResponseHeaders } }) => {
      try {
        return await json.parse({ request });
      } catch (error) {
        onRejected(request, set.headers);
        throw error;
      }
    },
  };
}

/**
 * All routes of an application, by method and path.
 * @throws if a route has no declaration, or if two declarations have the same method and path
 */
export function routeTable(application: Router): RouteTable<DeclaredRoute> {
  const declared = new Set(application.routes.map(keyOf));
  invariant(declared.size === application.routes.length, "no two routes are declared for one address");
  for (const route of application.plugin.routes) {
    invariant(declared.has(keyOf(route)), `the route ${keyOf(route)} is declared`);
  }
  return new RouteTable(application.routes);
}

function keyOf({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path}`;
}
