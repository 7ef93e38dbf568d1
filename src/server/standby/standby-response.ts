/** What a standby answers: a proxy in front of both machines learns that this one does not serve yet. */
import { AppError } from "../../errors.ts";
import { errorResponseOf } from "../../http/error-response.ts";

/** Soon enough after a takeover. */
const RETRY_AFTER_S = 5;

/**
 * The response to any request.
 * @param url of the request @param basePath of the server, which a proxy may have removed
 * @param reason why this machine does not serve, for monitors
 */
export function respondAsStandby(url: string, basePath: string, reason: string): Response {
  const { pathname } = new URL(url, "http://localhost");
  const isBelow = basePath !== "" && pathname.startsWith(`${basePath}/`);
  const path = isBelow ? pathname.slice(basePath.length) : pathname;
  const headers = { "cache-control": "no-store", "x-content-type-options": "nosniff" };
  if (path === "/health/live") return Response.json({ status: "live" }, { headers });
  if (path === "/health/ready") return Response.json({ status: "not ready", reason }, { status: 503, headers });
  const retry = { ...headers, "retry-after": String(RETRY_AFTER_S) };
  const message = "This machine is the standby of another server. Try again in a moment.";
  if (path.startsWith("/api/")) {
    const error = new AppError("provider_unavailable", message, { retryAfter: RETRY_AFTER_S });
    const { status, body } = errorResponseOf(error, "none");
    return Response.json(body, { status, headers: retry });
  }
  return new Response(`${message}\n`, {
    status: 503,
    headers: { ...retry, "content-type": "text/plain;charset=utf-8" },
  });
}
