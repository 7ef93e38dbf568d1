/** The recent files as a list of one page. */
import type { ResponseData } from "../../api/generated.ts";
import { request } from "../../api/http.ts";
import { keys } from "../../api/queries.ts";
import { PAGE_SIZE } from "../../entries/collection/page-window.ts";
import type { PageSource } from "../../entries/collection/read-pages.ts";
import { OWNER_RIGHTS, type RightsOf } from "../../entries/rights.ts";

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

/** The rights to recent files: some are shared by others. */
export const rightsOfRecent: RightsOf = (entry) => {
  const permission = "permission" in entry ? entry.permission : "own";
  if (permission === "own") return OWNER_RIGHTS;
  const canChange = permission === "write";
  return { isOwn: false, canManage: false, canChange, showsVersions: false, isFileOrFolder: true, share: undefined };
};
