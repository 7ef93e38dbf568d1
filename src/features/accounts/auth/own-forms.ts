import { isSameOrigin } from "./guard.ts";

/**
 * Whether the headers show that our own page sent this form. Without TLS, browsers leave out Fetch Metadata, and the
 * origin is `null` if the page sends no referrer. A form of another site may look the same, so that case counts as no.
 */
export function isFromOurPage(request: Request): boolean {
  const site = request.headers.get("sec-fetch-site");
  return site === null ? isSameOrigin(request) : site === "same-origin";
}
