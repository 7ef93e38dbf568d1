/** Where the application lives: below the base path that the shell tells (`data-base-path`). */

/** The base path without a slash at its end; empty where the application lives at the root. */
export function basePath(): string {
  const path = document.querySelector<HTMLElement>("[data-base-path]")?.dataset["basePath"] ?? "";
  return path.endsWith("/") ? path.slice(0, -1) : path;
}

/** The version of the server that this page was made by; empty where the shell does not tell it. */
export function pageVersion(): string {
  return document.querySelector<HTMLElement>("[data-version]")?.dataset["version"] ?? "";
}

/** `path` below the base path: the way to address anything of the server, for links, pictures and requests. */
export function href(path: `/${string}`): string {
  return `${basePath()}${path}`;
}

/** The address in the application of the page that is shown, without the base path; for `next` of the sign-in page. */
export function currentAddress(): string {
  const { pathname, search } = window.location;
  const base = basePath();
  const path = base !== "" && pathname.startsWith(`${base}/`) ? pathname.slice(base.length) : pathname;
  return `${path}${search}`;
}

/** A folder's path (`/Photos/2024`) as the address of its page, each name encoded. */
export function folderAddress(folder: string): `/${string}` {
  const names = folder.split("/").filter((name) => name !== "");
  return `/${["files", ...names.map(encodeURIComponent)].join("/")}`;
}

/**
 * An address that the API told (`thumbnailUrl`, `downloadUrl` …) as one of this very origin. The server tells addresses below
 * its configured public one, while the page may be open under another name of the same machine.
 */
export function ownAddress(url: string): string {
  const start = url.indexOf("/api/");
  return start < 0 ? url : `${basePath()}${url.slice(start)}`;
}
