import { ownAddress } from "../../api/http.ts";
import type { FileRecord } from "../../api/types.ts";

/** What a browser saves, under the file's name. */
export function downloadAddress(file: Pick<FileRecord, "url">): string {
  return ownAddress(file.url);
}

/** The content, to be shown in place. */
export function contentAddress(file: Pick<FileRecord, "url" | "version">): string {
  return withQuery(file.url, { inline: "true", v: String(file.version) });
}

/** The picture of at most 1600 pixels that the server makes. */
export function largeAddress(file: Pick<FileRecord, "url" | "version">): string {
  return withQuery(file.url, { thumbnail: "large", v: String(file.version) });
}

/** The version is there for the browser's cache alone: another content is another address. */
function withQuery(url: string, query: Record<string, string>): string {
  const address = ownAddress(url);
  return `${address}${address.includes("?") ? "&" : "?"}${new URLSearchParams(query).toString()}`;
}
