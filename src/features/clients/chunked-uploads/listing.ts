import { escapeXml } from "../escape-xml.ts";
import type { ClientChunk } from "./types.ts";

/**
 * The chunks of an upload as a multi-status (RFC 4918, section 13). Clients add up the sizes to continue after an
 * interruption. The response is the same for all properties that they ask for.
 * @param href path of the upload, percent-encoded, with a slash at the end
 */
export function chunkListing(href: string, chunks: readonly ClientChunk[]): Response {
  const folder = response(href, "<d:resourcetype><d:collection/></d:resourcetype>");
  const items = chunks.map(({ name, sizeBytes }) =>
    response(
      href + encodeURIComponent(name),
      `<d:resourcetype/><d:getcontentlength>${sizeBytes}</d:getcontentlength>` +
        "<d:getcontenttype>application/octet-stream</d:getcontenttype>",
    ),
  );
  const body = `<?xml version="1.0" encoding="utf-8"?>\n<d:multistatus xmlns:d="DAV:">${folder}${items.join("")}</d:multistatus>`;
  return new Response(body, { status: 207, headers: { "Content-Type": "application/xml; charset=utf-8" } });
}

function response(href: string, properties: string): string {
  return (
    `<d:response><d:href>${escapeXml(href)}</d:href><d:propstat><d:prop>${properties}</d:prop>` +
    "<d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>"
  );
}
