import { invalidField } from "../../../errors.ts";
import { ok, paginate } from "../../../http/envelope.ts";
import { readChoice, readInteger, queryOf } from "../../../http/fields.ts";
import { normalizePath } from "../../../lib/path.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import type { FavoriteService } from "../favorites/service.ts";
import type { ShareMarks } from "../marks/share-marks.ts";
import { presentContextOf, presentItem } from "../files/present.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { SEARCH_SORTS, type SearchService } from "./service.ts";
import type { SearchTerm } from "./types.ts";

/** Dependencies of {@link searchRoutes}. */
export interface SearchRoutesOptions {
  readonly search: SearchService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly hasThumbnail: (file: FileNode) => boolean;
  /** Finds the nodes that the caller marked. */
  readonly favorites: Pick<FavoriteService, "among">;
  /** Finds the nodes that the caller shares. */
  readonly shareMarks: Pick<ShareMarks, "among">;
}

/** Beyond any list; page × limit stays exact. */
const PAGE_MAX = Math.floor(Number.MAX_SAFE_INTEGER / 1000);

/** GET /api/files/search; the plain search by name is GET /api/files?search=. */
export function searchRoutes({ search, guard, hasThumbnail, favorites, shareMarks }: SearchRoutesOptions) {
  return new Router({ prefix: "/api/files/search", guard }).get(
    "/",
    { access: "reader", scope: "files:read", rate: "listing", audit: "unaudited", docs: docs.search },
    async ({ principal, request }) => {
      const query = queryOf(request);
      const { q } = query;
      if (q === undefined) throw invalidField("q", "The search is empty. Send q with the words to search for.");
      const page = readInteger(query, "page", { min: 1, max: PAGE_MAX, default: 1 });
      const limit = readInteger(query, "limit", { min: 1, max: 100, default: 20 });
      const sort = readChoice(query["sort"], "sort", SEARCH_SORTS) ?? "relevance";
      const order = readChoice(query["order"], "order", ["asc", "desc"]) ?? "asc";
      const folder = query["folder"] || undefined;
      const { nodes, total, isLowerBound, isLagging, terms } = await search.search({
        accountId: principal.user.id,
        q,
        folderPath: folder === undefined ? undefined : normalizePath(folder),
        sort,
        order,
        offset: (page - 1) * limit,
        limit,
      });
      const marks = [favorites.among(principal.user, nodes), shareMarks.among(principal.user, nodes)] as const;
      const context = presentContextOf(request, hasThumbnail, ...marks);
      return ok({
        files: nodes.map((node) => presentItem(node, context)),
        pagination: paginate(page, limit, total),
        totalIsLowerBound: isLowerBound,
        isIndexing: isLagging,
        sort,
        order,
        query: terms.map(presentTerm),
      });
    },
  );
}

function presentTerm(term: SearchTerm) {
  const { key, value, isExcluded } = term;
  return { key, value, ...(term.key === "text" || term.key === "name" ? { isPhrase: term.isPhrase } : {}), isExcluded };
}
