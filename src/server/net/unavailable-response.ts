/** What a server responds while another one owns the store: clients, monitors, and a proxy learn that, and nothing else. */
import { AppError } from "../../errors.ts";
import { errorResponseOf } from "../../http/error-response.ts";
import { requestLanguage } from "../../http/language.ts";
import { translateMessage } from "../../translations/error-texts.ts";
import { type Message, say } from "../../translations/say.ts";

/** Why requests get no other response. */
export interface Unavailability {
  /** For clients. */
  readonly message: Message;
  /** For monitors and administrators. */
  readonly reason: string;
  /** When clients should try again. */
  readonly retryAfterS: number;
}

/** Another server has taken over from this one. Nothing is read: a session that was revoked there must not work here. */
export function deposed(reason: string): Unavailability {
  const message = say`Another server has taken over. Ask your administrator for its address.`;
  return { message, reason, retryAfterS: 60 };
}

/**
 * The response to any request.
 * @param basePath of the server, which a proxy may have removed
 */
export function respondUnavailable(request: Request, basePath: string, why: Unavailability): Response {
  const { pathname } = new URL(request.url, "http://localhost");
  const path = basePath !== "" && pathname.startsWith(`${basePath}/`) ? pathname.slice(basePath.length) : pathname;
  const headers = { "cache-control": "no-store", "x-content-type-options": "nosniff" };
  if (path === "/health/live") return Response.json({ status: "live" }, { headers });
  const { message, reason, retryAfterS } = why;
  if (path === "/health/ready") return Response.json({ status: "not ready", reason }, { status: 503, headers });
  if (path.startsWith("/api/")) {
    const error = new AppError("provider_unavailable", message, { retryAfter: retryAfterS });
    const { status, body } = errorResponseOf(error, `req_${crypto.randomUUID()}`, request);
    return Response.json(body, { status, headers });
  }
  const retry = { ...headers, "retry-after": String(retryAfterS), "content-type": "text/plain;charset=utf-8" };
  return new Response(`${translateMessage(message, requestLanguage(request))}\n`, { status: 503, headers: retry });
}
