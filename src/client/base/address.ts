/** Addresses below the base path, which the document carries in `data-base-path`. */

/** The base path without a trailing slash; empty if the application is at the root. */
export function basePath(): string {
  const path = document.querySelector<HTMLElement>("[data-base-path]")?.dataset["basePath"] ?? "";
  return path.endsWith("/") ? path.slice(0, -1) : path;
}

/** The server version that rendered this document; empty if the document does not carry it. */
export function pageVersion(): string {
  return document.querySelector<HTMLElement>("[data-version]")?.dataset["version"] ?? "";
}

/** A server path with the base path in front, for links, images and requests. */
export function href(path: `/${string}`): string {
  return `${basePath()}${path}`;
}

/** The path and query of the current page without the base path. Used as `next` of the sign-in page. */
export function currentAddress(): string {
  const { pathname, search } = window.location;
  const base = basePath();
  const path = base !== "" && pathname.startsWith(`${base}/`) ? pathname.slice(base.length) : pathname;
  return `${path}${search}`;
}

/** The address of a folder's page: `/Photos/2024` with each name encoded. */
export function folderAddress(folder: string): `/${string}` {
  const names = folder.split("/").filter((name) => name !== "");
  return `/${["files", ...names.map(encodeURIComponent)].join("/")}`;
}

/**
 * Rewrites a URL of the API (`thumbnailUrl`, `downloadUrl` …) to the origin of this page. The server builds URLs from
 * its configured public address, but the page may be open under another host name.
 */
export function ownAddress(url: string): string {
  const start = url.indexOf("/api/");
  return start < 0 ? url : `${basePath()}${url.slice(start)}`;
}
