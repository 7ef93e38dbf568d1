/** The recent files as a list of one page. */
import type { ResponseData } from "../../api/generated.ts";
import { request } from "../../api/http.ts";
import { keys } from "../../api/queries.ts";
import { PAGE_SIZE } from "../../entries/collection/page-window.ts";
import type { PageSource } from "../../entries/collection/read-pages.ts";
import { OWNER_RIGHTS, type RightsOf } from "../../entries/rights.ts";
import { mixedRights, type PermittedEntry } from "../../entries/sharing/received-rights.ts";
import type { Entry } from "../../api/types.ts";

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

/** The rights to these entries: some of them are shared by others. The preview knows only ids. */
export function rightsOfHome(entries: readonly (Pick<Entry, "id"> & PermittedEntry)[]): RightsOf {
  const rights = new Map(entries.map((entry) => [entry.id, mixedRights(entry)]));
  return ({ id }) => rights.get(id) ?? OWNER_RIGHTS;
}
