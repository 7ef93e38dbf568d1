/** Suggestions for a search that is being typed: files and folders, tags, and words in texts. */
import { numbers, type Reader } from "../../../db/reader.ts";
import { AppError } from "../../../errors.ts";
import { fold } from "../../../lib/path.ts";
import type { TreeNode } from "../../../tree/model/types.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { SharedRoot } from "../permissions/grants.ts";
import type { TextSearch } from "../text-index/text-search.ts";
import { matchExpression, selectIds, TIERS } from "./match.ts";
import { parseQuery } from "./parse-query.ts";
import { prepareQueries } from "./prepare.ts";
import { toScopes } from "./in-texts.ts";
import type { SearchTerm } from "./types.ts";

/** Dependencies of {@link SearchSuggestions}. */
export interface SearchSuggestionsOptions {
  readonly tree: TreeReader;
  readonly reader: Reader;
  readonly texts: Pick<TextSearch, "complete">;
}

/** What a person has typed. */
export interface SuggestionRequest {
  readonly accountId: number;
  readonly received: readonly SharedRoot[];
  readonly q: string;
  /** Aborts when the next key was pressed. */
  readonly signal: AbortSignal;
}

/** Files and folders, tags, and words. The caller may see the tags and words, but each node has to be checked. */
export interface Suggestions {
  readonly nodes: readonly TreeNode[];
  readonly tags: readonly string[];
  readonly words: readonly string[];
}

/** Suggestions of all kinds together. */
export const SUGGESTIONS_MAX = 8;
const NODES_MAX = 4;
const TAGS_MAX = 2;
const TAGS_READ = 1_000;

/** Suggests how to continue a search. */
export class SearchSuggestions {
  readonly #options: SearchSuggestionsOptions;

  constructor(options: SearchSuggestionsOptions) {
    this.#options = options;
  }

  /** @throws AppError overloaded, or the reason of the signal */
  async suggest({ accountId, received, q, signal }: SuggestionRequest): Promise<Suggestions> {
    const terms = termsOf(q);
    // A person who enters a filter knows what to write.
    if (terms === undefined || terms.some(({ key }) => key !== "text")) return { nodes: [], tags: [], words: [] };
    const [nodes, words] = await Promise.all([
      this.#nodes(accountId, received, terms, signal),
      this.#options.texts.complete(toScopes(accountId, received), q, SUGGESTIONS_MAX, signal),
    ]);
    return { nodes, tags: this.#tags(accountId, q), words };
  }

  /** The newest files and folders whose name contains all words. */
  async #nodes(
    accountId: number,
    received: readonly SharedRoot[],
    terms: readonly SearchTerm[],
    signal: AbortSignal,
  ): Promise<TreeNode[]> {
    const { tree } = this.#options;
    const found = [...(await this.#find(accountId, terms, undefined, signal))];
    for (const [ownerId, roots] of Map.groupBy(received, (root) => root.accountId)) {
      if (found.length >= NODES_MAX) break;
      const below = roots.map(({ nodeId }) => nodeId);
      found.push(...(await this.#find(ownerId, terms, below, signal)));
    }
    return tree.findByIds(found.slice(0, NODES_MAX));
  }

  async #find(
    accountId: number,
    terms: readonly SearchTerm[],
    below: readonly number[] | undefined,
    signal: AbortSignal,
  ): Promise<Float64Array> {
    const { reader } = this.#options;
    signal.throwIfAborted();
    const { gone, completions } = await prepareQueries(reader, accountId, terms);
    signal.throwIfAborted();
    const match = matchExpression(terms, [], TIERS[0], completions);
    const query = { accountId, match, terms, folders: [], gone, limit: NODES_MAX };
    const { sql, parameters } = selectIds(below === undefined ? query : { ...query, below });
    const [ids] = await reader.read([numbers(sql, parameters)]);
    return ids;
  }

  #tags(accountId: number, q: string): string[] {
    const typed = fold(q.trim());
    const tags = this.#options.tree.tagsOf(accountId, TAGS_READ).map(({ tag }) => tag);
    return tags.filter((tag) => fold(tag).startsWith(typed)).slice(0, TAGS_MAX);
  }
}

/** Undefined for what is not a search, as anything can be while it is being typed. */
function termsOf(q: string): SearchTerm[] | undefined {
  try {
    return parseQuery(q);
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}
