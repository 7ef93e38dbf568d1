// The pictures of a Markdown file that are in the same store.
import { request } from "../../api/http.ts";
import type { Listing } from "../../api/types.ts";
import { contentAddress, largeAddress } from "./addresses.ts";
import { isShownByBrowsers } from "./kind.ts";

/** More pictures of one file are not looked up. */
const PICTURES_MAX = 50;

/** The path in the store that an image of a Markdown file means; undefined for addresses of other servers. */
export function picturePath(href: string, folder: string): string | undefined {
  if (/^(?:[a-z][a-z\d+.-]*:|\/\/|#)/i.test(href)) return undefined;
  const names: string[] = [];
  const relative = decoded(href.replace(/[?#].*$/s, ""));
  for (const name of (relative.startsWith("/") ? relative : `${folder}/${relative}`).split("/")) {
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(name);
  }
  return names.length === 0 ? undefined : `/${names.join("/")}`;
}

/** The addresses of those paths that are pictures in the store. */
export async function findPictures(paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const requested = [...new Set(paths)].slice(0, PICTURES_MAX);
  const found = await Promise.all(requested.map(async (path) => [path, await findPicture(path)] as const));
  return new Map(found.flatMap(([path, address]) => (address === undefined ? [] : [[path, address] as const])));
}

/** Undefined if the picture is missing or can't be requested: it is then described in words. */
async function findPicture(path: string): Promise<string | undefined> {
  const at = path.lastIndexOf("/");
  const name = path.slice(at + 1);
  const query = { folder: path.slice(0, at) || "/", search: name, type: "file", limit: 100 };
  const listing = await request<Listing>("GET", "/api/files", { query }).catch(() => undefined);
  const file = listing?.files.find((entry) => entry.name === name);
  if (file?.type !== "file" || !file.mimeType.startsWith("image/")) return undefined;
  if (isShownByBrowsers(file.mimeType)) return contentAddress(file);
  return file.hasThumbnail ? largeAddress(file) : undefined;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch (error) {
    if (error instanceof URIError) return path;
    throw error;
  }
}
