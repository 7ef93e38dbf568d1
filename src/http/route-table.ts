/** Which methods a path has, for 405 and its Allow header. Looked at only when no route matched. */
export class RouteTable {
  readonly #routes: { readonly method: string; readonly segments: readonly string[] }[];

  constructor(routes: readonly { method: string; path: string }[]) {
    this.#routes = routes.map(({ method, path }) => ({ method, segments: split(path) }));
  }

  /** Methods of the routes that `path` fits, each once, HEAD with GET; empty for an unknown path. */
  methodsOf(path: string): string[] {
    const segments = split(path);
    const methods = new Set<string>();
    for (const route of this.#routes) {
      if (!fits(route.segments, segments)) continue;
      methods.add(route.method);
      if (route.method === "GET") methods.add("HEAD");
    }
    return [...methods];
  }
}

function split(path: string): string[] {
  const trimmed = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
  return trimmed.split("/").slice(1);
}

function fits(pattern: readonly string[], segments: readonly string[]): boolean {
  if (pattern.at(-1) === "*") return pattern.slice(0, -1).every((part, i) => part === segments[i]);
  return pattern.length === segments.length && pattern.every((part, i) => part.startsWith(":") || part === segments[i]);
}
