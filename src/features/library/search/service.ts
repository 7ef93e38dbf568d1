/** Searches the files of an account. See parse-query.ts for the language and match.ts for the translation into SQL. */
import { numbers, type Reader } from "../../../db/reader.ts";
import { notFound } from "../../../errors.ts";
import { Turns } from "../../../lib/turns.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import { sortedIds } from "../../../tree/queries/sorted-ids.ts";
import type { FileNode, SortField, SortOrder, TreeNode } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";
import { LISTING_SORTS } from "../files/listing.ts";
import type { SearchIndexer } from "./indexer.ts";
import { hasWords, isFavoriteTerm, matchExpression, type SearchFolders, selectIds, TIERS } from "./match.ts";
import { parseQuery } from "./parse-query.ts";
import { FOLDERS_NAMED_MAX, prepareQueries } from "./prepare.ts";
import { excludedWords, requireTexts, termsBesides, toScopes, requiredWords, wantsOnlyTexts } from "./in-texts.ts";
import type { SearchTerm } from "./types.ts";
import type { SharedRoot } from "../permissions/grants.ts";
import type { FoundInTexts, TextSearch, TextsState } from "../text-index/text-search.ts";
import type { SearchScope, SearchWord, TextMatch } from "../text-index/types.ts";

/** Dependencies of {@link SearchService}. */
export interface SearchServiceOptions {
  readonly tree: TreeReader;
  /** Has a thread of its own: searches do not wait for recounts and checks. */
  readonly reader: Reader;
  readonly indexer: Pick<SearchIndexer, "catchUp" | "revision">;
  readonly texts: Pick<
    TextSearch,
    "isEnabled" | "revision" | "readUntilMs" | "find" | "snippets" | "complete" | "state"
  >;
  /** The folder and those below it, by row id; undefined if they exceed the limit. */
  readonly foldersBelow: (folderId: number, limit: number) => readonly number[] | undefined;
}

/** The sorts of a search. By `relevance`, files and folders are mixed; in the others, folders come first. */
export const SEARCH_SORTS = ["relevance", ...LISTING_SORTS] as const;
type SearchSort = (typeof SEARCH_SORTS)[number];

/** What to search for. */
export interface SearchRequest {
  readonly accountId: number;
  /** What others share with the caller now: searched too, unless the search is of a folder. */
  readonly received: readonly SharedRoot[];
  readonly q: string;
  /** Only below this folder; normalized. */
  readonly folderPath: string | undefined;
  /** `relevance` by default. */
  readonly sort?: SearchSort;
  /** Of all sorts but `relevance`; `asc` by default. */
  readonly order?: SortOrder;
  readonly offset: number;
  readonly limit: number;
  /** A search that has not begun when it aborts is never made. */
  readonly signal?: AbortSignal;
}

/** One page of the results. */
export interface SearchResult {
  readonly nodes: readonly TreeNode[];
  /** The total number, up to {@link FOUND_MAX}. */
  readonly total: number;
  /** Whether there are more than `total`. */
  readonly isLowerBound: boolean;
  /** Whether hits may be missing: recent changes, or texts that are being read again. */
  readonly isLagging: boolean;
  readonly terms: readonly SearchTerm[];
  /** The words that texts may contain, for {@link SearchService.snippets}. */
  readonly words: readonly SearchWord[];
  /** Until when snippets may be waited for. */
  readonly untilMs: number;
  readonly texts: TextsState;
}

/** A search that is carried out. */
interface PreparedSearch {
  readonly accountId: number;
  readonly terms: readonly SearchTerm[];
  readonly folders: readonly SearchFolders[];
  readonly received: readonly SharedRoot[];
  readonly untilMs: number;
}

/** The ids of the hits. */
interface Found {
  readonly ids: Float64Array;
  readonly state: FoundInTexts["state"];
}

/** Hits that are counted and can be paged through; beyond them a search should be more specific. */
export const FOUND_MAX = 10_000;
/** How long a search waits for the index to catch up. */
const CATCH_UP_MS = 500;
/** Results cached for later pages, and for how long. */
const CACHED_MAX = 16;
const CACHED_MS = 60_000;
/** Searches of one account that may wait; further ones are rejected. */
const WAITING_OF_ACCOUNT_MAX = 16;
const BUSY = say`Other searches of yours are in progress. Try again in a few seconds.`;

interface CachedIds {
  readonly seq: number;
  readonly sinceMs: number;
  readonly ids: Float64Array;
}

/** Searches the files of an account. */
export class SearchService {
  readonly #options: SearchServiceOptions;
  readonly #found = new Map<string, CachedIds>();
  /** One search of each account at a time: a search can take a second, and all share the thread of the index. */
  readonly #turns = new Turns(WAITING_OF_ACCOUNT_MAX, BUSY);

  constructor(options: SearchServiceOptions) {
    this.#options = options;
  }

  /**
   * One page of the matching files and folders of the caller, best first: all words in the name; then in name and tags;
   * then also in the description; then anywhere but in the text; then in the text. Equal matches are sorted newest
   * first. In another sort, the best {@link FOUND_MAX} matches are sorted.
   * @throws AppError invalid_field (q) | invalid_path | not_found if a folder does not exist | overloaded; the reason of
   *   the signal
   */
  search(request: SearchRequest): Promise<SearchResult> {
    return this.#turns.take([request.accountId], () => this.#searchNow(request));
  }

  async #searchNow(request: SearchRequest): Promise<SearchResult> {
    request.signal?.throwIfAborted();
    const { accountId, q, folderPath, sort = "relevance", order = "asc", offset, limit } = request;
    const { tree, indexer, texts } = this.#options;
    const terms = parseQuery(q);
    requireTexts(terms, texts.isEnabled);
    const folders = [...new Set(pathsOf(terms, folderPath))].map((path) => this.#searchFolders(accountId, path));
    const received = isOfOwnFiles(terms, folderPath) ? [] : request.received;
    const owners = [...new Set(received.map((root) => root.accountId))];
    const [knownSeq, ...knownOfOwners] = await Promise.all(
      [accountId, ...owners].map((id) => indexer.catchUp(id, CATCH_UP_MS)),
    );
    const isLagging = knownSeq === undefined || knownOfOwners.includes(undefined);
    const heads = owners.map((id) => tree.headOf(id));
    const revisions = [indexer.revision, texts.isEnabled, texts.revision];
    const key = JSON.stringify([accountId, revisions, terms, folders, sort, order, received, heads]);
    const seq = tree.headOf(accountId);
    const untilMs = texts.readUntilMs();
    let isReading = false;
    let ids = this.#fresh(key, seq);
    if (ids === undefined) {
      const found = await this.#find({ accountId, terms, folders, received, untilMs });
      ids = sort === "relevance" ? found.ids : await this.#sorted(found.ids, sort, order);
      // A result that may be incomplete is not cached, so the next search finds the rest. Favorites change without a
      // change of the tree.
      const isStable = found.state === "complete" && !terms.some(isFavoriteTerm);
      isReading = found.state === "reading";
      const isCurrent = knownSeq === seq && heads.every((head, index) => knownOfOwners[index] === head);
      if (isCurrent && isStable) this.#cache(key, { seq, sinceMs: performance.now(), ids });
    }
    const total = Math.min(ids.length, FOUND_MAX);
    const nodes = tree.findByIds([...ids.subarray(offset, Math.min(offset + limit, total))]);
    return {
      nodes,
      total,
      isLowerBound: ids.length > FOUND_MAX,
      isLagging: isLagging || isReading,
      terms,
      words: requiredWords(terms),
      untilMs,
      texts: await texts.state(),
    };
  }

  /** Where the contents of files contain the words of a search, by digest. The caller must be allowed to read them. */
  snippets(
    files: readonly FileNode[],
    { words, untilMs }: Pick<SearchResult, "words" | "untilMs">,
  ): Promise<ReadonlyMap<string, TextMatch>> {
    return this.#options.texts.snippets([...new Set(files.map(({ digest }) => digest))], words, untilMs);
  }

  #searchFolders(accountId: number, path: string): SearchFolders {
    const folder = this.#options.tree.findFolderByPath(accountId, path);
    if (folder === undefined) throw notFound(say`This folder was not found.`);
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
  async #find(search: PreparedSearch): Promise<Found> {
    const { accountId, terms, folders, received } = search;
    const named: Float64Array[] = [];
    if (!wantsOnlyTexts(terms)) {
      named.push(await this.#findNamed(accountId, terms, folders));
      for (const [ownerId, roots] of Map.groupBy(received, (root) => root.accountId)) {
        named.push(await this.#findReceived(accountId, ownerId, roots, terms));
      }
    }
    const scopes = toScopes(accountId, received);
    const inTexts = await this.#findInTexts(search, scopes);
    const excluded = await this.#findExcluded(search, scopes);
    const ids = new Set([...named, ...inTexts.ids].flatMap((some) => [...some]));
    for (const id of excluded.ids) ids.delete(id);
    const state = inTexts.state === "complete" ? excluded.state : inTexts.state;
    return { ids: Float64Array.from(ids).subarray(0, FOUND_MAX + 1), state };
  }

  /** Files whose text contains words that their name need not have. */
  async #findInTexts(
    { accountId, terms, folders, received, untilMs }: PreparedSearch,
    scopes: readonly SearchScope[],
  ): Promise<{ readonly ids: readonly Float64Array[]; readonly state: FoundInTexts["state"] }> {
    const words = requiredWords(terms);
    if (words.length === 0) return { ids: [], state: "complete" };
    const hits = await this.#options.texts.find({ scopes, words, limit: FOUND_MAX + 1, untilMs });
    const besides = termsBesides(terms);
    const found = [await this.#narrow(accountId, accountId, hits.own, besides, folders)];
    if (hits.received.length === 0) return { ids: found, state: hits.state };
    for (const ownerId of new Set(received.map((root) => root.accountId))) {
      found.push(await this.#narrow(accountId, ownerId, hits.received, besides, []));
    }
    return { ids: found, state: hits.state };
  }

  /** Those of these files of an account that match other terms, in their order. */
  async #narrow(
    callerId: number,
    accountId: number,
    ids: readonly number[],
    terms: readonly SearchTerm[],
    folders: readonly SearchFolders[],
  ): Promise<Float64Array> {
    if (ids.length === 0) return new Float64Array(0);
    if (terms.length === 0 && folders.length === 0) return Float64Array.from(ids);
    const { gone, completions } = await prepareQueries(this.#options.reader, accountId, terms);
    const match = matchExpression(terms, folders, TIERS[3], completions);
    const query = { accountId, callerId, match, terms, folders, gone, among: ids, limit: ids.length };
    const { sql, parameters } = selectIds(query);
    const [found] = await this.#options.reader.read([numbers(sql, parameters)]);
    const matching = new Set(found);
    return Float64Array.from(ids.filter((id) => matching.has(id)));
  }

  /** Files whose text contains an excluded word. */
  async #findExcluded(
    { terms, untilMs }: PreparedSearch,
    scopes: readonly SearchScope[],
  ): Promise<{ readonly ids: readonly number[]; readonly state: FoundInTexts["state"] }> {
    const ids: number[] = [];
    let state: FoundInTexts["state"] = "complete";
    for (const word of excludedWords(terms)) {
      const words = [{ ...word, elsewhere: null }];
      const hits = await this.#options.texts.find({ scopes, words, limit: Number.MAX_SAFE_INTEGER, untilMs });
      ids.push(...hits.own, ...hits.received);
      if (state === "complete") ({ state } = hits);
    }
    return { ids, state };
  }

  /** What an account shares with the caller, by names, tags, descriptions and metadata: newest first. */
  async #findReceived(
    callerId: number,
    accountId: number,
    roots: readonly SharedRoot[],
    terms: readonly SearchTerm[],
  ): Promise<Float64Array> {
    const { gone, completions } = await prepareQueries(this.#options.reader, accountId, terms);
    const match = matchExpression(terms, [], TIERS[3], completions);
    const below = roots.map(({ nodeId }) => nodeId);
    const query = { accountId, callerId, match, terms, folders: [], gone, below, limit: FOUND_MAX + 1 };
    const { sql, parameters } = selectIds(query);
    const [ids] = await this.#options.reader.read([numbers(sql, parameters)]);
    return ids;
  }

  /** By names, tags, descriptions and metadata. */
  async #findNamed(
    accountId: number,
    terms: readonly SearchTerm[],
    folders: readonly SearchFolders[],
  ): Promise<Float64Array> {
    const { gone, completions } = await prepareQueries(this.#options.reader, accountId, terms);
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

/** Shares have no paths of the caller, and their recipients can't see what the owner published. */
function isOfOwnFiles(terms: readonly SearchTerm[], folderPath: string | undefined): boolean {
  if (folderPath !== undefined && folderPath !== "/") return true;
  return terms.some((term) => term.key === "in" || (term.key === "is" && term.value === "public"));
}

function pathsOf(terms: readonly SearchTerm[], folderPath: string | undefined): string[] {
  const named = terms.flatMap((term) => (term.key === "in" ? [term.value] : []));
  return [...named, ...(folderPath === undefined ? [] : [folderPath])].filter((path) => path !== "/");
}
