// Compares what WebDAV shows of all folders of an account before and after a change.
import { expect } from "bun:test";
import type { Account, ApiResponse, Client } from "./client.ts";
import { readMultistatus } from "./multistatus.ts";
import { type AppPasswordSettings, connectDav, type DavClient } from "./webdav.ts";

/** All properties that must not change without the ETags above: not locks, quotas and the owner. */
const PROPERTIES = `<d:propfind xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns" xmlns:nc="http://nextcloud.org/ns" xmlns:x="urn:x"><d:prop>
  <d:getetag/><d:resourcetype/><d:getlastmodified/><d:creationdate/><d:getcontentlength/><d:getcontenttype/><d:displayname/>
  <oc:id/><oc:permissions/><oc:size/><oc:checksums/><nc:upload_time/><nc:mount-type/><x:p/></d:prop></d:propfind>`;

/** A folder: its ETag, and everything that listings show below it. */
interface WatchedFolder {
  readonly etag: string;
  readonly shown: string;
}

/** All folders by path, with a slash at the end; the root is `/`. */
async function readFolders(dav: DavClient): Promise<Map<string, WatchedFolder>> {
  const etags = new Map<string, string>();
  const members = new Map<string, { path: string | undefined; text: string }[]>();
  const open = [""];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const response = await dav.request("PROPFIND", path, { headers: { depth: "1" }, body: PROPERTIES });
    const inside: { path: string | undefined; text: string }[] = [];
    for (const [href, properties] of readMultistatus(response)) {
      const found = decodeURIComponent(href.slice("/dav".length));
      const isFolder = properties.get("DAV:resourcetype")?.elements.includes("DAV:collection") === true;
      const etag = properties.get("DAV:getetag")?.text ?? "";
      expect(etag).not.toBe("");
      if (isFolder) {
        // The ETag in the listing of the folder above is that of the folder itself.
        expect([found, etags.get(found) ?? etag]).toEqual([found, etag]);
        if (!etags.has(found) && found !== "/") open.push(href.slice("/dav/".length));
        etags.set(found, etag);
        properties.delete("DAV:getetag");
      }
      if (found !== `/${decodeURIComponent(path)}`) {
        inside.push({ path: isFolder ? found : undefined, text: JSON.stringify([...properties]) });
      }
    }
    members.set(`/${decodeURIComponent(path)}`, inside);
  }
  const describe = (path: string): string =>
    (members.get(path) ?? []).map(({ path: below, text }) => text + (below ? `[${describe(below)}]` : "")).join("\n");
  return new Map([...etags].map(([path, etag]) => [path, { etag, shown: describe(path) }]));
}

/** A folder and all above it. */
function withAncestors(folder: string): string[] {
  const names = folder.split("/").filter((name) => name !== "");
  return ["/", ...names.map((_, index) => `/${names.slice(0, index + 1).join("/")}/`)];
}

/** An account of which a test compares the folders. */
export class Watched {
  readonly account: Account;
  readonly client: Client;
  readonly dav: DavClient;

  private constructor(account: Account, dav: DavClient) {
    this.account = account;
    this.client = account.client;
    this.dav = dav;
  }

  /** @param folders paths of folders to create first */
  static async open(
    account: Account,
    folders: readonly string[],
    settings: AppPasswordSettings = {},
  ): Promise<Watched> {
    for (const path of folders) {
      const end = path.lastIndexOf("/");
      await account.client.folderId(path.slice(end + 1), path.slice(0, end) || "/");
    }
    return new Watched(account, await connectDav(account, settings));
  }

  /**
   * Expects that the ETags of these folders and of all above them change, and no others; and that of exactly these
   * folders, listings show something else below.
   * @param moved a folder that has another path afterwards: its former path and the new one
   */
  async changes<T>(
    folders: readonly string[],
    action: () => Promise<T>,
    moved?: readonly [string, string],
  ): Promise<T> {
    const before = await readFolders(this.dav);
    const result = await action();
    const after = await readFolders(this.dav);
    const expected = new Set(folders.flatMap(withAncestors));
    const found: Record<string, readonly [isOtherEtag: boolean, isOtherBelow: boolean]> = {};
    const correct: typeof found = {};
    for (const [path, { etag, shown }] of after) {
      const former = moved !== undefined && path.startsWith(moved[1]) ? moved[0] + path.slice(moved[1].length) : path;
      const known = before.get(former);
      if (known === undefined) continue;
      found[path] = [known.etag !== etag, known.shown !== shown];
      correct[path] = [expected.has(path), expected.has(path)];
    }
    expect(found).toEqual(correct);
    return result;
  }

  /** Like {@link changes}, for a request that must succeed. */
  async changesBy(
    folders: readonly string[],
    action: () => Promise<ApiResponse>,
    moved?: readonly [string, string],
  ): Promise<ApiResponse> {
    const response = await this.changes(folders, action, moved);
    expect([response.status < 300, response.status, response.text]).toEqual([true, response.status, response.text]);
    return response;
  }
}
