import { ownAddress } from "../../api/http.ts";
import type { FileRecord } from "../../api/types.ts";

/** The address to download a file, under its own name. */
export function downloadAddress(file: Pick<FileRecord, "url">): string {
  return ownAddress(file.url);
}

/** The address of the content, to show it. It does not count as a download. */
export function contentAddress(file: Pick<FileRecord, "url" | "version">): string {
  return withQuery(file.url, { inline: "true", preview: "true", v: String(file.version) });
}

/** The server's thumbnail of at most 1600 pixels. */
export function largeAddress(file: Pick<FileRecord, "url" | "version">): string {
  return withQuery(file.url, { thumbnail: "large", v: String(file.version) });
}

/** The version is only for the browser's cache: new content gets a new address. */
function withQuery(url: string, query: Record<string, string>): string {
  const address = ownAddress(url);
  return `${address}${address.includes("?") ? "&" : "?"}${new URLSearchParams(query).toString()}`;
}
