import type { Category } from "../plans/plans.ts";
import type { RateRule } from "../routing/declaration.ts";

/** Categories of paths without a route, by prefix. Other paths under /api are `general`. */
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
 * The category of a request, known from its first line alone: requests are counted before their body is read, and also
 * if their path does not exist. Undefined for requests without a limit: all outside /api, except downloads and uploads
 * through a share link. A further range of a download that began within the last hour counts as `general` ({@link
 * DownloadLedger}). If {@link isCountedByHandler} is true, the handler counts.
 * @param rule of the route; undefined if no route matches
 * @param path as sent, without the query
 * @param query the text after the question mark
 */
export function categoryOf(rule: RateRule | undefined, path: string, query: string): Category | undefined {
  if (rule === undefined) return unrouted(path);
  if (rule === "uncounted") return undefined;
  if (typeof rule === "string") return rule;
  return rule.thumbnails !== undefined && requestsThumbnail(query) ? rule.thumbnails : rule.category;
}

/** More than the requests that the ownCloud client sends at the same time. */
const FOLLOW_UPS_MAX = 20;

/**
 * How far beyond the limit of `dav` a request may go. After each upload, the ownCloud desktop client asks for the
 * permissions of the file, and waits forever if this is rejected. A rejected upload ends its run instead.
 */
export function allowanceOf({ method, headers }: Pick<Request, "method" | "headers">): number {
  const isFollowUp = method === "PROPFIND" && headers.get("depth") === "0";
  return isFollowUp && /\bmirall\/.*\(owncloud/i.test(headers.get("user-agent") ?? "") ? FOLLOW_UPS_MAX : 0;
}

/**
 * Whether the handler counts a request, so that the guard only shows the state of the window: sign-in, because its
 * account is in the body, and the start of an upload session, which counts once per planned file (as `general` if it
 * plans none).
 */
export function isCountedByHandler(rule: RateRule | undefined): boolean {
  return typeof rule === "object" && rule.countedBy === "handler";
}

function unrouted(path: string): Category | undefined {
  if (path !== "/api" && !path.startsWith("/api/")) return undefined;
  return UNROUTED.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`))?.[1] ?? "general";
}

/** The values of `thumbnail` that select a thumbnail. With any other value, the whole file may be sent. */
const THUMBNAIL_VALUES: ReadonlySet<string> = new Set(["", "true", "1", "small", "medium", "large", "text"]);

function requestsThumbnail(query: string): boolean {
  if (query === "") return false;
  const values = new URLSearchParams(query).getAll("thumbnail");
  return values.length > 0 && values.every((value) => THUMBNAIL_VALUES.has(value));
}
