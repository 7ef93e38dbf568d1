/**
 * What an API key may do (contract §2): which scope a request needs, from its first line alone. What is not in this table
 * is closed to every key, so that an endpoint is open to keys only once somebody has thought about it.
 */

/** All scopes, for validation and help texts. */
export const SCOPES = ["files:read", "files:write", "shares", "profile", "admin"] as const;

/** One of {@link SCOPES}. */
export type Scope = (typeof SCOPES)[number];

/** What a key may do where nothing was said. */
export const DEFAULT_SCOPES: readonly Scope[] = ["files:read", "files:write"];

/**
 * What a request asks of a key: a scope; `any` for what every key may; `never` for what no key may; `device` for what is
 * for registered devices, where a key is no token at all.
 */
export type ScopeRule = Scope | "any" | "never" | "device";

/**
 * The rule for a request.
 * @param path as sent, without the query; a slash at its end doesn't matter
 */
export function scopeRuleOf(method: string, path: string): ScopeRule {
  const isRead = method === "GET" || method === "HEAD";
  const [empty, api, area, ...rest] = (path.endsWith("/") ? path.slice(0, -1) : path).split("/");
  if (empty !== "") return "never";
  if (api === "metrics" && area === undefined) return isRead ? "admin" : "never";
  if (api !== "api") return "never";
  switch (area) {
    case "files":
      return ofFiles(method, isRead, rest);
    case "tus":
      return "files:write";
    case "photos":
      return isRead ? "files:read" : "never";
    case "shares":
      return "shares";
    case "users":
      return ofUsers(method, isRead, rest);
    case "webhooks":
      return "profile";
    case "admin":
      return ofAdmin(method, isRead, rest);
    case "auth":
      return isRead && rest.length === 1 && rest[0] === "session" ? "any" : "never";
    case "mobile":
      return "device";
    default:
      return "never";
  }
}

/** @param rest what follows /api/files */
function ofFiles(method: string, isRead: boolean, rest: readonly string[]): ScopeRule {
  const [first, second, third] = rest;
  // Lists of shares are read by this scope too: they tell the links.
  if (second === "shares" || (first === "folders" && third === "shares")) return "shares";
  if (isRead) return "files:read";
  // A POST only because the ids may be many.
  if (method === "POST" && first === "archive" && second === undefined) return "files:read";
  return "files:write";
}

/**
 * A key manages accounts as far as nobody can enter one by it. Passwords, reset links, second factors, sessions, devices
 * and deletion are for administrators who are signed in; of what a body asks, the handlers decide.
 * @param rest what follows /api/admin
 */
function ofAdmin(method: string, isRead: boolean, rest: readonly string[]): ScopeRule {
  const [area, id, part, ...more] = rest;
  if (area !== "users") return "admin";
  if (id === undefined) return isRead || method === "POST" ? "admin" : "never";
  if (part === undefined) return isRead || method === "PATCH" ? "admin" : "never";
  return isRead && part === "usage" && more.length === 0 ? "admin" : "never";
}

/** Paths below /api/users that a key with `profile` may read, and those that it may also change. */
const USER_READS: ReadonlySet<string> = new Set(["profile", "settings", "usage", "usage/rate-limits", "devices"]);
const USER_CHANGES: ReadonlySet<string> = new Set(["profile", "settings"]);

/** Keys, sessions, factors, devices' sign-ins and the account itself are for people. @param rest what follows /api/users */
function ofUsers(method: string, isRead: boolean, rest: readonly string[]): ScopeRule {
  const path = rest.join("/");
  if (isRead) return USER_READS.has(path) ? "profile" : "never";
  return method === "PUT" && USER_CHANGES.has(path) ? "profile" : "never";
}
