import type { Category } from "../plans/plans.ts";
import type { RateRule } from "../routing/declaration.ts";

/** Categories of paths without a route, by prefix; `general` elsewhere under /api. */
const UNROUTED: readonly (readonly [prefix: string, category: Category])[] = [
  ["/api/auth/password", "signin"],
  ["/api/files", "operations"],
  ["/api/mobile/sync", "sync"],
  ["/api/public", "operations"],
  ["/api/shares", "operations"],
  ["/api/users/usage", "usage"],
  ["/api/users", "profile"],
];

/**
 * The category that a request counts as, known from its first line alone: it is counted before its body is read, and
 * also where its path does not exist. Undefined for what is not limited: all outside /api except downloads and uploads
 * through a share link.
 *
 * A further range of a download begun within the last hour counts as `general` ({@link DownloadLedger}). Where
 * {@link isCountedByHandler} says so, the handler counts.
 *
 * @param rule of the route that fits; undefined where none does
 * @param path as sent, without the query
 * @param query what follows the question mark
 */
export function categoryOf(rule: RateRule | undefined, path: string, query: string): Category | undefined {
  if (rule === undefined) return unrouted(path);
  if (rule === "uncounted") return undefined;
  if (typeof rule === "string") return rule;
  return rule.thumbnails !== undefined && asksForThumbnail(query) ? rule.thumbnails : rule.category;
}

/**
 * Whether the handler counts a request, so that the guard only shows the state: sign-in, whose account is in the body,
 * and the start of an upload session, which counts once per file that it plans (as `general` when it plans none).
 */
export function isCountedByHandler(rule: RateRule | undefined): boolean {
  return typeof rule === "object" && rule.countedBy === "handler";
}

function unrouted(path: string): Category | undefined {
  if (path !== "/api" && !path.startsWith("/api/")) return undefined;
  return UNROUTED.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`))?.[1] ?? "general";
}

/** Every value of `thumbnail` that gets a thumbnail; with any other, the whole file may be sent. */
const THUMBNAIL_VALUES: ReadonlySet<string> = new Set(["", "true", "1", "small", "medium", "large"]);

function asksForThumbnail(query: string): boolean {
  if (query === "") return false;
  const values = new URLSearchParams(query).getAll("thumbnail");
  return values.length > 0 && values.every((value) => THUMBNAIL_VALUES.has(value));
}
