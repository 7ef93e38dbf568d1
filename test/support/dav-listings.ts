// Responses of a Nextcloud, for tests that script them.
import type { ReceivedRequest, ScriptedResponse } from "./import-sources.ts";

/** An entry of {@link multistatus}. */
export interface ListedItem {
  /** Percent-encoded; with a slash at the end for a folder. */
  readonly href: string;
  readonly sizeBytes?: number;
  readonly etag?: string;
  /** Elements of properties, with the prefixes d, oc, and nc. */
  readonly properties?: string;
}

/** The list of a folder, in the form of Nextcloud. */
export function multistatus(items: readonly ListedItem[]): ScriptedResponse {
  const body = items.map(({ href, sizeBytes = 0, etag = "e", properties = "" }) => {
    const isFolder = href.endsWith("/");
    const type = isFolder ? "<d:resourcetype><d:collection/></d:resourcetype>" : "<d:resourcetype/>";
    const length = isFolder ? "" : `<d:getcontentlength>${sizeBytes}</d:getcontentlength>`;
    const modified = "<d:getlastmodified>Thu, 02 Jan 2020 03:04:05 GMT</d:getlastmodified>";
    const found = `${type}${length}${modified}<d:getetag>&quot;${etag}&quot;</d:getetag>${properties}`;
    return `<d:response><d:href>${href}</d:href>
      <d:propstat><d:prop>${found}</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat>
      <d:propstat><d:prop><oc:favorite>1</oc:favorite><nc:system-tags/></d:prop><d:status>HTTP/1.1 404 Not Found</d:status></d:propstat>
      </d:response>`;
  });
  return {
    status: 207,
    headers: { "content-type": "application/xml; charset=utf-8" },
    body: `<?xml version="1.0"?>
      <d:multistatus xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns" xmlns:oc="http://owncloud.org/ns" xmlns:nc="http://nextcloud.org/ns">
      ${body.join("\n")}</d:multistatus>`,
  };
}

/** Where the files of the account `ada` are. */
export const FILES_PATH = "/remote.php/dav/files/ada/";

/**
 * A Nextcloud at the root of the server, with the account `ada`.
 * @param items names below the files of the account, percent-encoded: `a.txt`, `sub/`, `sub/b.txt`
 * @param ofFolder properties of each listed folder
 */
export function nextcloud(
  items: Record<string, Omit<ListedItem, "href"> & { readonly content?: string }>,
  ofFolder = "",
) {
  return (request: ReceivedRequest): ScriptedResponse | undefined => {
    const path = request.path.split("?")[0] ?? "";
    if (path === "/status.php") return { body: JSON.stringify({ versionstring: "31.0.4", productname: "Nextcloud" }) };
    if (path === "/ocs/v1.php/cloud/user") return { body: JSON.stringify({ ocs: { data: { id: "ada" } } }) };
    if (!path.startsWith(FILES_PATH)) return undefined;
    const name = path.slice(FILES_PATH.length);
    if (request.method === "GET") return { body: items[name]?.content ?? "", headers: { etag: `"${name}"` } };
    const isMember = (other: string) => {
      if (!other.startsWith(name) || other === name) return false;
      return !other.slice(name.length).replace(/\/$/, "").includes("/");
    };
    const members = Object.entries(items).filter(([other]) => isMember(other));
    return multistatus([
      { href: path, properties: ofFolder },
      ...members.map(([other, { content = "", ...item }]) => ({
        href: FILES_PATH + other,
        sizeBytes: Buffer.byteLength(content),
        ...item,
      })),
    ]);
  };
}
