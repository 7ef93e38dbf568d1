import { escapeXml } from "../../../lib/escape-xml.ts";
import { MULTISTATUS_END, MULTISTATUS_START, multistatusResponse, propstat } from "../webdav/multistatus.ts";
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
  return multistatusResponse(MULTISTATUS_START + folder + items.join("") + MULTISTATUS_END);
}

function response(href: string, properties: string): string {
  return `<d:response><d:href>${escapeXml(href)}</d:href>${propstat(properties, "200 OK")}</d:response>`;
}
