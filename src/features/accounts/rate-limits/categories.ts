import type { Category } from "../plans/plans.ts";

/**
 * The category that a request counts in (contract §3), from its first line alone: it is asked before routing, also for
 * paths that don't exist. Undefined outside /api, where nothing is limited but downloads and uploads through a share
 * link.
 *
 * Two finer points are for whoever counts: a further range of a content begun within the hour is `general`
 * ({@link DownloadLedger}); and where {@link isCountedByRoute} says so, the handler counts, since only the body tells
 * what.
 *
 * @param pathname as sent, without the query; a slash at its end doesn't matter
 * @param query what follows the question mark
 */
export function categorise(method: string, pathname: string, query = ""): Category | undefined {
  const path = pathname.length > 1 && pathname.endsWith("/") ? pathname.slice(0, -1) : pathname;
  if (!path.startsWith("/api/")) return path === "/api" ? "general" : ofSharePage(method, path, query);
  if (isBelow(path, "/api/files")) return ofFiles(method, path, query);
  if (isBelow(path, "/api/photos")) return isRead(method) ? "listing" : "general";
  if (isBelow(path, "/api/users")) return isBelow(path, "/api/users/usage") ? "usage" : "profile";
  if (isBelow(path, "/api/mobile")) return ofMobile(method, path);
  if (isBelow(path, "/api/tus")) return method === "POST" && path === "/api/tus" ? "uploads" : "general";
  if (isBelow(path, "/api/public")) return ofPublic(method, path, query);
  if (isBelow(path, "/api/shares")) return "operations";
  if (method === "POST" && path.startsWith("/api/auth/")) return ofAuth(path);
  return "general";
}

/**
 * Whether the handler counts a request by itself, so that the guard only shows the state: sign-in, whose account is in
 * the body, and the start of an upload session, which counts once per file it plans (as `general` when it plans none).
 */
export function isCountedByRoute(method: string, pathname: string): boolean {
  if (method !== "POST") return false;
  const path = pathname.endsWith("/") ? pathname.slice(0, -1) : pathname;
  return path === "/api/auth/signin" || path === "/api/mobile/upload/init";
}

function isBelow(path: string, top: string): boolean {
  return path.startsWith(top) && (path.length === top.length || path.charCodeAt(top.length) === 47);
}

function isRead(method: string): boolean {
  return method === "GET" || method === "HEAD";
}

function ofAuth(path: string): Category {
  if (path === "/api/auth/signin") return "signin";
  if (path === "/api/auth/signup") return "signup";
  if (path === "/api/auth/refresh") return "refresh";
  // Guesses of links and codes, and mails to others, are held as closely as passwords.
  if (isBelow(path, "/api/auth/password") || path === "/api/auth/oidc/token") return "signin";
  return "general";
}

function ofFiles(method: string, path: string, query: string): Category {
  // ["", "api", "files", first, second, third, fourth]
  const [, , , first, second, third, fourth, ...more] = path.split("/");
  if (more.length > 0) return "operations";
  if (isRead(method)) {
    if (first === undefined) return "listing";
    if ((first === "tags" || first === "search") && second === undefined) return "listing";
    if (first === "folders" && third === undefined) return "listing";
    if (first === "folders") return third === "archive" && fourth === undefined ? "downloads" : "operations";
    if (second === "download" && third === undefined) return ofDownload(query);
    if (second === "versions" && fourth === "download") return ofDownload(query);
    return "operations";
  }
  if (method === "POST" && second === undefined) {
    if (first === "upload") return "uploads";
    if (first === "archive") return "downloads";
  }
  return method === "PUT" && second === "content" && third === undefined ? "uploads" : "operations";
}

function ofMobile(method: string, path: string): Category {
  if (isBelow(path, "/api/mobile/sync")) return "sync";
  if (method !== "POST") return "general";
  return path === "/api/mobile/upload" || path === "/api/mobile/upload/init" ? "uploads" : "general";
}

function ofPublic(method: string, path: string, query: string): Category {
  // ["", "api", "public", token, verb]
  const [, , , , verb, ...more] = path.split("/");
  if (verb === "tus" && more.length > 0) return "general";
  if (more.length > 0) return "operations";
  if (verb === "download" && isRead(method)) return ofDownload(query);
  if (verb === "files" && isRead(method)) return "listing";
  return (verb === "upload" || verb === "tus") && method === "POST" ? "uploads" : "operations";
}

function ofSharePage(method: string, path: string, query: string): Category | undefined {
  if (!path.startsWith("/s/")) return undefined;
  const [, , token, verb, ...more] = path.split("/");
  if (token === "" || more.length > 0) return undefined;
  if (verb === "download" && isRead(method)) return ofDownload(query);
  if (method !== "POST") return undefined;
  if (verb === "archive") return "downloads";
  return verb === "upload" ? "uploads" : undefined;
}

/** Everything that a query may say to ask for a thumbnail (contract §4); whatever else it says, the file may be sent. */
const THUMBNAIL_VALUES: ReadonlySet<string> = new Set(["", "true", "1", "small", "medium", "large"]);

function ofDownload(query: string): Category {
  if (query === "") return "downloads";
  const values = new URLSearchParams(query).getAll("thumbnail");
  return values.length > 0 && values.every((value) => THUMBNAIL_VALUES.has(value)) ? "general" : "downloads";
}
