/** The recent files as a list of one page. */
import type { ResponseData } from "../../api/generated.ts";
import { request } from "../../api/http.ts";
import { keys } from "../../api/queries.ts";
import type { Entry } from "../../api/types.ts";
import { PAGE_SIZE } from "../../entries/collection/page-window.ts";
import type { PageSource } from "../../entries/collection/read-pages.ts";
import { type EntryRights, NO_RIGHTS, OWNER_RIGHTS, type RightsOf } from "../../entries/rights.ts";

/** A recent file, with what happened to it. */
export type RecentFile = ResponseData["GET /api/files/recent"]["files"][number] & {
  readonly activity: "added" | "edited" | "renamed" | "moved" | "restored" | "changed" | "opened";
};

/** A response can have fewer files than requested. After this many, the list ends. */
const REQUESTS_MAX = 5;

/** The latest files, at most one page: older ones are easier to find by name. */
export const recentSource: PageSource<RecentFile> = {
  key: keys.recent,
  scope: "recent",
  fetchPage: async (_page, signal) => {
    const entries: RecentFile[] = [];
    let cursor: string | undefined;
    for (let requests = 0; requests < REQUESTS_MAX && entries.length < PAGE_SIZE; requests += 1) {
      // oxlint-disable-next-line no-await-in-loop -- each response says where the next one begins
      const { files, nextCursor } = await request<{ files: RecentFile[]; nextCursor: string | null }>(
        "GET",
        "/api/files/recent",
        { query: { limit: PAGE_SIZE, cursor }, ...(signal !== undefined && { signal }) },
      );
      entries.push(...files);
      if (nextCursor === null) break;
      cursor = nextCursor;
    }
    const listed = entries.slice(0, PAGE_SIZE);
    return { entries: listed, total: listed.length };
  },
};

/** The rights to what the page lists: some of it is shared by others. */
export function rightsOfHome(recent: Iterable<RecentFile>, favorites: readonly Pick<Entry, "id">[]): RightsOf {
  const rights = new Map<string, EntryRights>();
  for (const favorite of favorites) if ("share" in favorite) rights.set(favorite.id, NO_RIGHTS);
  for (const { id, permission, canManage, showsVersions } of recent) {
    if (permission === "own") continue;
    rights.set(id, {
      isOwn: false,
      canManage,
      canChange: permission === "write",
      showsVersions,
      isFileOrFolder: true,
      share: undefined,
    });
  }
  return ({ id }) => rights.get(id) ?? OWNER_RIGHTS;
}
