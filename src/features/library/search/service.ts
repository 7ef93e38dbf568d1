/** Searches over everything that is told of an account's files. See parse-query.ts for the language, match.ts for the way. */
import { numbers, type Reader, rows } from "../../../db/reader.ts";
import { notFound } from "../../../errors.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { TreeNode } from "../../../tree/model/types.ts";
import type { SearchIndexer } from "./indexer.ts";
import { hasWords, matchExpression, type SearchFolders, selectGoneFolders, selectIds, TIERS } from "./match.ts";
import { parseQuery } from "./parse-query.ts";
import type { SearchTerm } from "./types.ts";

/** What {@link SearchService} works with. */
export interface SearchServiceOptions {
  readonly tree: TreeReader;
  /** A thread of its own: searches don't wait for recounts and checks. */
  readonly reader: Reader;
  readonly indexer: Pick<SearchIndexer, "catchUp" | "revision">;
  /** The folder at a row id and those below it; undefined where they are more than the limit. */
  readonly foldersBelow: (folderId: number, limit: number) => readonly number[] | undefined;
}

/** What to search for. */
export interface SearchRequest {
  readonly accountId: number;
  readonly q: string;
  /** Only below this folder; normalized. */
  readonly folderPath: string | undefined;
  readonly offset: number;
  readonly limit: number;
}

/** One page of what was found. */
export interface SearchResult {
  readonly nodes: readonly TreeNode[];
  /** How many there are in all, up to {@link FOUND_MAX}. */
  readonly total: number;
  /** Whether there are more than `total`. */
  readonly isLowerBound: boolean;
  /** Whether what was changed a moment ago may be missing. */
  readonly isBehind: boolean;
  readonly terms: readonly SearchTerm[];
}

/** Hits that are counted and can be paged through; beyond them a search should say more. */
export const FOUND_MAX = 10_000;
/** How long a search waits for the index to follow. */
const CATCH_UP_MS = 500;
const FOLDERS_NAMED_MAX = 64;
/** Answers kept for the pages behind the first, and for how long. */
const CACHED_MAX = 16;
const CACHED_MS = 60_000;

interface Found {
  readonly seq: number;
  readonly sinceMs: number;
  readonly ids: Float64Array;
}

/** See the head of this file. */
export class SearchService {
  readonly #options: SearchServiceOptions;
  readonly #found = new Map<string, Found>();

  constructor(options: SearchServiceOptions) {
    this.#options = options;
  }

  /**
   * One page of the caller's own files and folders that fit, best first: those with all words in their names, then with
   * labels, description and everything else taken in; among equals the newest first.
   * @throws AppError invalid_field (q) | invalid_path | not_found for a folder that is not there | overloaded
   */
  async search(request: SearchRequest): Promise<SearchResult> {
    const { accountId, q, folderPath, offset, limit } = request;
    const { tree, indexer } = this.#options;
    const terms = parseQuery(q);
    const places = [...new Set(pathsOf(terms, folderPath))].map((path) => this.#place(accountId, path));
    const knownSeq = await indexer.catchUp(accountId, CATCH_UP_MS);
    const key = JSON.stringify([accountId, indexer.revision, terms, places]);
    const seq = tree.headOf(accountId);
    let ids = this.#fresh(key, seq);
    if (ids === undefined) {
      ids = await this.#find(accountId, terms, places);
      // What is still missing, or was changed since, is found by the next search.
      if (knownSeq === seq) this.#keep(key, { seq, sinceMs: performance.now(), ids });
    }
    const total = Math.min(ids.length, FOUND_MAX);
    const nodes = tree.findByIds([...ids.subarray(offset, Math.min(offset + limit, total))]);
    return { nodes, total, isLowerBound: ids.length > FOUND_MAX, isBehind: knownSeq === undefined, terms };
  }

  #place(accountId: number, path: string): SearchFolders {
    const folder = this.#options.tree.findFolderByPath(accountId, path);
    if (folder === undefined) throw notFound("This folder");
    return { folderId: folder.id, folderIds: this.#options.foldersBelow(folder.id, FOLDERS_NAMED_MAX) };
  }

  /** At most one more than can be paged through. */
  async #find(
    accountId: number,
    terms: readonly SearchTerm[],
    places: readonly SearchFolders[],
  ): Promise<Float64Array> {
    const gone = await this.#goneFolders(accountId);
    const find = async (columns: (typeof TIERS)[number]): Promise<Float64Array> => {
      const match = matchExpression(terms, places, columns);
      const { sql, parameters } = selectIds({ accountId, match, terms, places, gone, limit: FOUND_MAX + 1 });
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

  /** Undefined for more than can be named. */
  async #goneFolders(accountId: number): Promise<number[] | undefined> {
    const { sql, parameters } = selectGoneFolders(accountId, FOLDERS_NAMED_MAX + 1);
    const [found] = await this.#options.reader.read([rows<{ id: number }>(sql, parameters)]);
    return found.length > FOLDERS_NAMED_MAX ? undefined : found.map(({ id }) => id);
  }

  #fresh(key: string, seq: number): Float64Array | undefined {
    const found = this.#found.get(key);
    if (found === undefined || found.seq !== seq || performance.now() - found.sinceMs > CACHED_MS) return undefined;
    return found.ids;
  }

  #keep(key: string, found: Found): void {
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
