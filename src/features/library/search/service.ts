/** Searches the files of an account. See parse-query.ts for the language and match.ts for the translation into SQL. */
import { numbers, type Reader, rows } from "../../../db/reader.ts";
import { notFound } from "../../../errors.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import { sortedIds } from "../../../tree/queries/sorted-ids.ts";
import type { SortField, SortOrder, TreeNode } from "../../../tree/model/types.ts";
import { LISTING_SORTS } from "../files/listing.ts";
import { type Completions, openWords, selectCompletions, toCompletions } from "./completions.ts";
import type { SearchIndexer } from "./indexer.ts";
import {
  hasWords,
  isFavoriteTerm,
  matchExpression,
  type SearchFolders,
  selectGoneFolders,
  selectIds,
  TIERS,
} from "./match.ts";
import { parseQuery } from "./parse-query.ts";
import type { SearchTerm } from "./types.ts";

/** Dependencies of {@link SearchService}. */
export interface SearchServiceOptions {
  readonly tree: TreeReader;
  /** Has a thread of its own: searches do not wait for recounts and checks. */
  readonly reader: Reader;
  readonly indexer: Pick<SearchIndexer, "catchUp" | "revision">;
  /** The folder and those below it, by row id; undefined if they exceed the limit. */
  readonly foldersBelow: (folderId: number, limit: number) => readonly number[] | undefined;
}

/** The sorts of a search. By `relevance`, files and folders are mixed; in the others, folders come first. */
export const SEARCH_SORTS = ["relevance", ...LISTING_SORTS] as const;
type SearchSort = (typeof SEARCH_SORTS)[number];

/** What to search for. */
export interface SearchRequest {
  readonly accountId: number;
  readonly q: string;
  /** Only below this folder; normalized. */
  readonly folderPath: string | undefined;
  /** `relevance` by default. */
  readonly sort?: SearchSort;
  /** Of all sorts but `relevance`; `asc` by default. */
  readonly order?: SortOrder;
  readonly offset: number;
  readonly limit: number;
}

/** One page of the results. */
export interface SearchResult {
  readonly nodes: readonly TreeNode[];
  /** The total number, up to {@link FOUND_MAX}. */
  readonly total: number;
  /** Whether there are more than `total`. */
  readonly isLowerBound: boolean;
  /** Whether the index lags, so that recent changes may be missing. */
  readonly isLagging: boolean;
  readonly terms: readonly SearchTerm[];
}

/** Hits that are counted and can be paged through; beyond them a search should be more specific. */
export const FOUND_MAX = 10_000;
/** How long a search waits for the index to catch up. */
const CATCH_UP_MS = 500;
const FOLDERS_NAMED_MAX = 64;
/** Results cached for later pages, and for how long. */
const CACHED_MAX = 16;
const CACHED_MS = 60_000;

interface CachedIds {
  readonly seq: number;
  readonly sinceMs: number;
  readonly ids: Float64Array;
}

/** Searches the files of an account. */
export class SearchService {
  readonly #options: SearchServiceOptions;
  readonly #found = new Map<string, CachedIds>();

  constructor(options: SearchServiceOptions) {
    this.#options = options;
  }

  /**
   * One page of the matching files and folders of the caller, best first: all words in the name; then in name and tags;
   * then also in the description; then anywhere. Equal matches are sorted newest first. In another sort, the best
   * {@link FOUND_MAX} matches are sorted.
   * @throws AppError invalid_field (q) | invalid_path | not_found if a folder does not exist | overloaded
   */
  async search(request: SearchRequest): Promise<SearchResult> {
    const { accountId, q, folderPath, sort = "relevance", order = "asc", offset, limit } = request;
    const { tree, indexer } = this.#options;
    const terms = parseQuery(q);
    const folders = [...new Set(pathsOf(terms, folderPath))].map((path) => this.#searchFolders(accountId, path));
    const knownSeq = await indexer.catchUp(accountId, CATCH_UP_MS);
    const key = JSON.stringify([accountId, indexer.revision, terms, folders, sort, order]);
    const seq = tree.headOf(accountId);
    let ids = this.#fresh(key, seq);
    if (ids === undefined) {
      const found = await this.#find(accountId, terms, folders);
      ids = sort === "relevance" ? found : await this.#sorted(found, sort, order);
      // A result that may be incomplete is not cached, so the next search finds the rest. Favorites change without a
      // change of the tree.
      if (knownSeq === seq && !terms.some(isFavoriteTerm)) this.#cache(key, { seq, sinceMs: performance.now(), ids });
    }
    const total = Math.min(ids.length, FOUND_MAX);
    const nodes = tree.findByIds([...ids.subarray(offset, Math.min(offset + limit, total))]);
    return { nodes, total, isLowerBound: ids.length > FOUND_MAX, isLagging: knownSeq === undefined, terms };
  }

  #searchFolders(accountId: number, path: string): SearchFolders {
    const folder = this.#options.tree.findFolderByPath(accountId, path);
    if (folder === undefined) throw notFound("This folder");
    return { folderId: folder.id, folderIds: this.#options.foldersBelow(folder.id, FOLDERS_NAMED_MAX) };
  }

  /** All ids in another order; one more than can be paged through stays at the end. */
  async #sorted(ids: Float64Array, sort: SortField, order: SortOrder): Promise<Float64Array> {
    const hits = {
      id: "n.id",
      from: "json_each(?1) j CROSS JOIN nodes n ON n.id = j.value",
      parameters: [JSON.stringify([...ids.subarray(0, FOUND_MAX)])],
    };
    const [found] = await this.#options.reader.read([sortedIds(hits, sort, order)]);
    return Float64Array.from([...found, ...ids.subarray(FOUND_MAX)]);
  }

  /** At most one more than can be paged through. */
  async #find(
    accountId: number,
    terms: readonly SearchTerm[],
    folders: readonly SearchFolders[],
  ): Promise<Float64Array> {
    const { gone, completions } = await this.#prepare(accountId, terms);
    const find = async (columns: (typeof TIERS)[number]): Promise<Float64Array> => {
      const match = matchExpression(terms, folders, columns, completions);
      const { sql, parameters } = selectIds({ accountId, match, terms, folders, gone, limit: FOUND_MAX + 1 });
      const [ids] = await this.#options.reader.read([numbers(sql, parameters)]);
      return ids;
    };
    const [nameOnly, , , anywhere] = TIERS;
    if (!hasWords(terms)) return find(anywhere);
    const best = await find(nameOnly);
    if (best.length > FOUND_MAX) return best;
    const all = await find(anywhere);
    if (all.length === best.length) return best;
    const found = new Set(best);
    for (const tier of TIERS.slice(1, -1)) for (const id of await find(tier)) found.add(id);
    for (const id of all) found.add(id);
    return Float64Array.from(found).subarray(0, FOUND_MAX + 1);
  }

  /** What the queries of a search contain. `gone` is undefined if too many to list. */
  async #prepare(
    accountId: number,
    terms: readonly SearchTerm[],
  ): Promise<{ readonly gone: number[] | undefined; readonly completions: Completions }> {
    const { sql, parameters } = selectGoneFolders(accountId, FOLDERS_NAMED_MAX + 1);
    const words = openWords(terms);
    const reads = [rows<{ id: number }>(sql, parameters), ...words.map(selectCompletions)] as const;
    const [gone, ...found] = await this.#options.reader.read(reads);
    return {
      gone: gone.length > FOLDERS_NAMED_MAX ? undefined : gone.map(({ id }) => id),
      completions: toCompletions(words, found),
    };
  }

  #fresh(key: string, seq: number): Float64Array | undefined {
    const found = this.#found.get(key);
    if (found === undefined || found.seq !== seq || performance.now() - found.sinceMs > CACHED_MS) return undefined;
    return found.ids;
  }

  #cache(key: string, found: CachedIds): void {
    this.#found.delete(key);
    this.#found.set(key, found);
    const [oldest] = this.#found.keys();
    if (this.#found.size > CACHED_MAX && oldest !== undefined) this.#found.delete(oldest);
  }
}

function pathsOf(terms: readonly SearchTerm[], folderPath: string | undefined): string[] {
  const named = terms.flatMap((term) => (term.key === "in" ? [term.value] : []));
  return [...named, ...(folderPath === undefined ? [] : [folderPath])].filter((path) => path !== "/");
}
