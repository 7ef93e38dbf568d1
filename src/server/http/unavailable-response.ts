/** What a server responds while another one owns the store: monitors and clients learn that, and nothing else. */
import { AppError } from "../../errors.ts";
import { errorResponseOf } from "../../http/error-response.ts";

const RETRY_AFTER_S = 60;
const MESSAGE = "Another server has taken over. Ask your administrator for its address.";

/**
 * The response to any request. Nothing is read from the store: a session that was revoked on the other server must not
 * work here.
 * @param url of the request
 * @param basePath of the server, which a proxy may have removed
 * @param reason for monitors and administrators
 */
export function respondDeposed(url: string, basePath: string, reason: string): Response {
  const { pathname } = new URL(url, "http://localhost");
  const path = basePath !== "" && pathname.startsWith(`${basePath}/`) ? pathname.slice(basePath.length) : pathname;
  const headers = { "cache-control": "no-store", "x-content-type-options": "nosniff" };
  if (path === "/health/live") return Response.json({ status: "live" }, { headers });
  if (path === "/health/ready") return Response.json({ status: "not ready", reason }, { status: 503, headers });
  if (path.startsWith("/api/")) {
    const error = new AppError("provider_unavailable", MESSAGE, { retryAfter: RETRY_AFTER_S });
    const { status, body } = errorResponseOf(error, "none");
    return Response.json(body, { status, headers });
  }
  const retry = { ...headers, "retry-after": String(RETRY_AFTER_S), "content-type": "text/plain;charset=utf-8" };
  return new Response(`${MESSAGE}\n`, { status: 503, headers: retry });
}
