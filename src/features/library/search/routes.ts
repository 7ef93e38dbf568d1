import { invalidField } from "../../../errors.ts";
import { ok, paginate } from "../../../http/envelope.ts";
import { readChoice, readInteger, queryOf } from "../../../http/fields.ts";
import { normalizePath } from "../../../lib/path.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import type { FavoriteService } from "../favorites/service.ts";
import type { ShareMarks } from "../marks/share-marks.ts";
import { presentContextOf } from "../files/present.ts";
import type { Permissions } from "../permissions/permissions.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import { say } from "../../../translations/say.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { isFileHit, presentHit, presentSuggestedNode, seeHits } from "./present.ts";
import { SEARCH_SORTS, type SearchService } from "./service.ts";
import { SUGGESTIONS_MAX, type SearchSuggestions } from "./suggestions.ts";
import type { SearchTerm } from "./types.ts";

/** Dependencies of {@link searchRoutes}. */
export interface SearchRoutesOptions {
  readonly search: SearchService;
  readonly searchSuggestions: SearchSuggestions;
  readonly permissions: Permissions;
  readonly tree: TreeReader;
  readonly guard: ReturnType<typeof authGuard>;
  readonly hasThumbnail: (file: FileNode) => boolean;
  /** Finds the nodes that the caller marked. */
  readonly favorites: Pick<FavoriteService, "among">;
  /** Finds the nodes that the caller shares. */
  readonly shareMarks: Pick<ShareMarks, "among">;
}

/** Beyond any list; page × limit stays exact. */
const PAGE_MAX = Math.floor(Number.MAX_SAFE_INTEGER / 1000);

/** GET /api/files/search, and suggestions for it; the plain search by name is GET /api/files?search=. */
export function searchRoutes(options: SearchRoutesOptions) {
  const { search, searchSuggestions, guard, hasThumbnail, favorites, shareMarks, permissions, tree } = options;
  return new Router({ prefix: "/api/files/search", guard })
    .get(
      "/",
      { access: "reader", scope: "files:read", rate: "listing", audit: "unaudited", docs: docs.search },
      async ({ principal: { user }, request }) => {
        const { page, ...query } = readSearch(request);
        const received = permissions.receivedRoots(user);
        const result = await search.search({ accountId: user.id, received, signal: request.signal, ...query });
        const hits = seeHits(permissions, user, result.nodes);
        const files = hits.filter(isFileHit).map(({ node }) => node);
        const matches = await search.snippets(files, result);
        // What the owner of a received file shares with others is not shown.
        const own = result.nodes.filter(({ accountId }) => accountId === user.id);
        const marks = [favorites.among(user, result.nodes), shareMarks.among(user, own)] as const;
        const context = presentContextOf(request, hasThumbnail, ...marks, tree.folderSizes(result.nodes));
        const { sort, order, limit } = query;
        return ok({
          files: hits.map((hit) => presentHit(hit, isFileHit(hit) ? matches.get(hit.node.digest) : undefined, context)),
          pagination: paginate(page, limit, result.total),
          totalIsLowerBound: result.isLowerBound,
          isIndexing: result.isLagging,
          contents: result.texts,
          sort,
          order,
          query: result.terms.map(presentTerm),
        });
      },
    )
    .get(
      "/suggestions",
      { access: "reader", scope: "files:read", rate: "listing", audit: "unaudited", docs: docs.suggestions },
      async ({ principal: { user }, request }) => {
        const q = queryOf(request)["q"] ?? "";
        const received = permissions.receivedRoots(user);
        const found = await searchSuggestions.suggest({ accountId: user.id, received, q, signal: request.signal });
        const nodes = seeHits(permissions, user, found.nodes).map(presentSuggestedNode);
        const tags = found.tags.map((tag) => ({ kind: "tag" as const, text: tag }));
        const words = found.words.map((word) => ({ kind: "word" as const, text: word }));
        return ok({ suggestions: [...nodes, ...tags, ...words].slice(0, SUGGESTIONS_MAX) });
      },
    );
}

function readSearch(request: Request) {
  const query = queryOf(request);
  const { q } = query;
  if (q === undefined) throw invalidField("q", say`The search is empty. Send q with the words to search for.`);
  const page = readInteger(query, "page", { min: 1, max: PAGE_MAX, default: 1 });
  const limit = readInteger(query, "limit", { min: 1, max: 100, default: 20 });
  const folder = query["folder"] || undefined;
  return {
    q,
    page,
    limit,
    offset: (page - 1) * limit,
    folderPath: folder === undefined ? undefined : normalizePath(folder),
    sort: readChoice(query["sort"], "sort", SEARCH_SORTS) ?? "relevance",
    order: readChoice(query["order"], "order", ["asc", "desc"]) ?? "asc",
  };
}

function presentTerm(term: SearchTerm) {
  const { key, value, isExcluded } = term;
  return { key, value, ...("isPhrase" in term ? { isPhrase: term.isPhrase } : {}), isExcluded };
}
