/**
 * Filtered listings: by name, tag or media type, in one folder or everything below it. Queries with few candidates run
 * on the main thread within a few milliseconds; all others run in the reading thread, which counts and sorts in SQL. In
 * large accounts, a search for a short or frequent text runs in memory as soon as that is ready: see `name-searches.ts`.
 * Results are cached for a minute, so that the following pages cost nothing; any change of the account invalidates
 * them.
 */
import { naturalOrder, numbers, rows } from "../../db/reader.ts";
import type { Bindable } from "../../db/reader.worker.ts";
import { fold } from "../../lib/path.ts";
import { usageType } from "../tables/accounts.ts";
import {
  type Criteria,
  matchText,
  type SearchScope,
  selectMatches,
  selectOrdered,
  type Source,
  TRIGRAM,
} from "./filter-sql.ts";
import { isShortened } from "../tables/folder-paths.ts";
import { FILE, FOLDER } from "../model/rows.ts";
import { compareKeys, naturalKeyOf, orderBy, SORT_COLUMNS, type SortKeys } from "../model/sorts.ts";
import type { TreeStore } from "../tables/store.ts";
import type { FindQuery, FolderNode, NodePage, SortOrder } from "../model/types.ts";

/** Candidates read on the main thread (about two milliseconds). */
const IN_PLACE_MAX = 2_000;
/** Up to this many candidates the index of names or tags is faster than walking the tree. */
const INDEXED_MAX = 10_000;
/** Ids fetched for the first pages; a later page fetches all of them, sorted. */
const FIRST_IDS = 1_000;
/** From this share of hits on, walking a sorted index reaches the first page sooner than sorting the hits. */
const DENSE_SHARE = 0.01;
/** From this share of all rows on, scanning the table is faster than fetching single rows. */
const TABLE_SHARE = 0.1;
/** Up to this share of the walked files, fetching the files that carry a tag is faster than walking. */
const TAG_SHARE = 0.2;
const CACHED_MAX = 8;
const CACHED_IDS_MAX = 2_000_000;
const CACHED_MS = 60_000;

/** In the same state as the matches: a node without a natural key would be in the wrong position. */
const UNKEYED_SQL = "SELECT id FROM nodes INDEXED BY nodes_unkeyed WHERE natural_key IS NULL LIMIT 1";
const NO_ROW_SQL = "SELECT 1 WHERE 0";

interface Candidate extends SortKeys {
  natural_key: string | null;
  readonly kind: number;
  readonly parent_id: number | null;
}

interface CachedResult {
  readonly seq: number;
  readonly sinceMs: number;
  readonly total: number;
  /** The first ids, or all. */
  readonly ids: Float64Array;
}

/** The cheapest source of matches, and about how many candidates it has. */
interface Plan {
  readonly source: Source;
  readonly candidates: number;
}

/** Lists the nodes that match filters. One for all accounts of a database. */
export class FilteredLister {
  readonly #store: TreeStore;
  readonly #results = new Map<string, CachedResult>();
  readonly #probe;
  readonly #children;
  readonly #highest;

  constructor(store: TreeStore) {
    this.#store = store;
    this.#probe = store.sqlite.prepare<{ hits: number }, [string, number]>(
      "SELECT count(*) AS hits FROM (SELECT rowid FROM node_names WHERE node_names MATCH ?1 LIMIT ?2)",
    );
    this.#highest = store.sqlite.prepare<{ id: number }, []>("SELECT max(id) AS id FROM nodes");
    this.#children = store.sqlite.prepare<{ folders: number; items: number }, [number]>(
      "SELECT child_folders AS folders, child_folders + child_files AS items FROM folders WHERE node_id = ?1",
    );
  }

  /** One page of the matches. @see FindQuery */
  async find(query: FindQuery): Promise<NodePage> {
    const criteria = this.#criteria(query);
    if (criteria === undefined) return { nodes: [], total: 0 };
    const plan = this.#plan(criteria);
    if (plan.candidates <= IN_PLACE_MAX) return this.#inPlace(query, criteria, plan.source);
    return (await this.#inNames(query, criteria, plan)) ?? this.#inReader(query, criteria, plan);
  }

  /** Undefined if nothing can match. */
  #criteria(query: FindQuery): Criteria | undefined {
    const { accountId, folder, tags = [], mediaTypePattern, kind } = query;
    const search = query.search === undefined || query.search === "" ? undefined : fold(query.search.normalize("NFC"));
    // No name contains NUL, and the index of names takes it for the end of the query.
    if (search?.includes("\0") === true) return undefined;
    const found = this.#store.tags.find(accountId, tags);
    const known = found.filter((tag) => tag !== undefined).sort((a, b) => a.count - b.count);
    const isAnyTag = query.tagMode === "any";
    if (tags.length > 0 && (isAnyTag ? known.length === 0 : known.length < tags.length)) return undefined;
    const pattern = mediaTypePattern === undefined ? "" : usageType(mediaTypePattern);
    const mediaType = pattern === "" || pattern === "*" || pattern === "*/*" ? undefined : pattern;
    const isOfFiles = tags.length > 0 || mediaTypePattern !== undefined;
    if (isOfFiles && kind === "folder") return undefined;
    const children = this.#children.get(folder.id);
    return {
      accountId,
      folderId: folder.id,
      isRecursive: query.recursive && (children?.folders ?? 0) > 0,
      kinds: isOfFiles || kind === "file" ? [FILE] : kind === "folder" ? [FOLDER] : [FOLDER, FILE],
      search,
      tagIds: known.map((tag) => tag.id),
      isAnyTag,
      mediaType,
    };
  }

  #plan(criteria: Criteria): Plan {
    const { accountId, folderId, isRecursive, search, tagIds, isAnyTag } = criteria;
    const usage = this.#store.accounts.usage(accountId);
    const walked = isRecursive ? usage.files + usage.folders : (this.#children.get(folderId)?.items ?? 0);
    let best: Plan = { source: "walk", candidates: walked };
    const consider = (source: Source, candidates: number) => {
      if (candidates < best.candidates && candidates <= INDEXED_MAX) best = { source, candidates };
    };
    if (walked <= IN_PLACE_MAX) return best;
    const [rarest] = tagIds;
    // With several tags of which any matches, there is no single one to begin with.
    if (rarest !== undefined && (!isAnyTag || tagIds.length === 1)) consider("tag", this.#tagged(rarest));
    if (search !== undefined && Array.from(search).length >= TRIGRAM) {
      consider("names", this.#probe.get(matchText(search), INDEXED_MAX + 1)?.hits ?? 0);
    }
    return best;
  }

  #tagged(tagId: number): number {
    return (
      this.#store.sqlite.query<{ count: number }, [number]>("SELECT count FROM tags WHERE id = ?1").get(tagId)?.count ??
      0
    );
  }

  #inPlace(query: FindQuery, criteria: Criteria, source: Source): NodePage {
    // For a few candidates, comparing paths is cheaper than collecting all folders below.
    const isByPath = source !== "walk" && criteria.isRecursive;
    const scope = isByPath ? "anywhere" : scopeOf(criteria);
    const { sql, parameters } = selectMatches(`n.kind, n.parent_id, ${SORT_COLUMNS}`, criteria, source, scope);
    const candidates = this.#store.sqlite.query<Candidate, Bindable[]>(sql).all(...parameters);
    const found = isByPath ? this.#below(query.folder, candidates) : candidates;
    const { sort, order, offset, limit } = query;
    const sign = order === "asc" ? 1 : -1;
    if (sort === "natural") for (const node of found) node.natural_key = naturalKeyOf(node);
    found.sort((a, b) => a.kind - b.kind || sign * (compareKeys(sort, a, b) || a.id - b.id));
    const ids = found.slice(offset, offset + limit).map(({ id }) => id);
    return { nodes: this.#store.findByIds(ids), total: found.length };
  }

  /** The candidates in a folder or below it. */
  #below(folder: FolderNode, candidates: readonly Candidate[]): Candidate[] {
    const parents = candidates.flatMap(({ parent_id }) => (parent_id === null ? [] : [parent_id]));
    const paths = this.#store.paths.pathsOf(parents);
    // A shortened path does not show its ancestors.
    if ([folder.path, ...paths.values()].some(isShortened)) {
      const below = this.#store.paths.within(paths.keys(), folder.id);
      return candidates.filter(({ parent_id }) => parent_id !== null && below.has(parent_id));
    }
    const prefix = folder.path === "/" ? "/" : `${folder.path}/`;
    return candidates.filter(({ parent_id }) => {
      const path = parent_id === null ? undefined : paths.get(parent_id);
      return path !== undefined && (path === folder.path || path.startsWith(prefix));
    });
  }

  /** From the names in memory, if many of them have to be read and an index is ready. */
  async #inNames(query: FindQuery, criteria: Criteria, plan: Plan): Promise<NodePage | undefined> {
    const { accountId, folderId, isRecursive, kinds, search: text, tagIds, mediaType } = criteria;
    if (text === undefined || tagIds.length > 0 || mediaType !== undefined) return undefined;
    if (plan.candidates <= INDEXED_MAX) return undefined;
    const { files, folders } = this.#store.accounts.usage(accountId);
    const { sort, order, offset, limit } = query;
    const search = { text, kinds, folderId, isRecursive, sort, order, offset, limit };
    const found = await this.#store.nameSearches?.find(accountId, files + folders, search);
    return found === undefined ? undefined : { nodes: this.#store.findByIds(found.ids), total: found.total };
  }

  async #inReader(query: FindQuery, criteria: Criteria, plan: Plan): Promise<NodePage> {
    const { accountId, sort, order, offset, limit } = query;
    const key = JSON.stringify([criteria, sort, order]);
    const seq = this.#store.accounts.headOf(accountId);
    const cached = this.#cached(key, seq);
    const total = cached?.total ?? (await this.#count(criteria, plan));
    const end = Math.min(offset + limit, total);
    let ids = cached?.ids ?? new Float64Array(0);
    if (ids.length < end) ids = await this.#sortedIds(query, criteria, plan, total, end <= FIRST_IDS);
    this.#cache(key, { seq, sinceMs: performance.now(), total, ids });
    return { nodes: this.#store.findByIds([...ids.subarray(offset, end)]), total };
  }

  async #count(criteria: Criteria, plan: Plan): Promise<number> {
    const source = this.#tagSource(criteria, plan) ?? this.#sourceOf(plan, criteria.mediaType !== undefined);
    const { sql, parameters } = selectMatches(
      `${isRepeating(criteria, source) ? "count(DISTINCT n.id)" : "count(*)"} AS total`,
      criteria,
      source,
      scopeOf(criteria),
    );
    const [found] = await this.#store.reader.read([rows<{ total: number }>(sql, parameters)]);
    return found[0]?.total ?? 0;
  }

  /** The ids in order: the first ones, or all. */
  async #sortedIds(
    query: FindQuery,
    criteria: Criteria,
    plan: Plan,
    total: number,
    isFirst: boolean,
  ): Promise<Float64Array> {
    const { sort, order } = query;
    const isNatural = sort === "natural";
    if (isNatural) await this.#store.naturalKeys.catchUp();
    const limit = isFirst ? `LIMIT ${FIRST_IDS}` : "";
    // Within one folder an index gives the order. For sorts other than by name this pays only if hits are frequent, or
    // if a tag narrows the candidates to a few.
    const byTag = this.#tagSource(criteria, plan);
    const isFoundSoon = isFirst && total > plan.candidates * DENSE_SHARE;
    const isWalkShort = isFoundSoon || (sort === "name" && byTag === undefined);
    const isOrdered = plan.source === "walk" && !criteria.isRecursive && isWalkShort;
    const source = byTag ?? this.#sourceOf(plan, sort !== "name" || criteria.mediaType !== undefined);
    const statements = isOrdered
      ? criteria.kinds.map((kind) => selectOrdered(criteria, kind, sort, order, limit))
      : [
          selectMatches(
            "n.id AS id",
            criteria,
            source,
            scopeOf(criteria),
            `${isRepeating(criteria, source) ? "GROUP BY n.id" : ""} ${orderBy(sort, order)} ${limit}`,
          ),
        ];
    const read = statements.map(({ sql, parameters }) => numbers(`SELECT group_concat(id) FROM (${sql})`, parameters));
    const unkeyed = isNatural ? UNKEYED_SQL : NO_ROW_SQL;
    const [missing, ...results] = await this.#store.reader.read([rows(unkeyed), ...read]);
    if (missing.length > 0) return this.#sortNaturally(criteria, plan, order);
    return results.length === 1 && results[0] !== undefined ? results[0] : joinNumbers(results);
  }

  /** All ids in order, if natural keys are missing: the reading thread computes them. */
  async #sortNaturally(criteria: Criteria, plan: Plan, order: SortOrder): Promise<Float64Array> {
    const source = this.#tagSource(criteria, plan) ?? plan.source;
    const columns = "n.id AS id, n.kind AS kind, n.name AS name";
    const grouping = isRepeating(criteria, source) ? "GROUP BY n.id" : "";
    const { sql, parameters } = selectMatches(columns, criteria, source, scopeOf(criteria), grouping);
    const [ids] = await this.#store.reader.read([naturalOrder(sql, parameters, order)]);
    return ids;
  }

  /** The tag source, if so few files carry the tags that fetching those is faster than reading all others. */
  #tagSource({ tagIds, isAnyTag }: Criteria, { source, candidates }: Plan): Source | undefined {
    const [rarest] = tagIds;
    if (rarest === undefined || source !== "walk") return undefined;
    const tagged = isAnyTag ? tagIds.reduce((sum, id) => sum + this.#tagged(id), 0) : this.#tagged(rarest);
    return tagged < candidates * TAG_SHARE ? "tag" : undefined;
  }

  /** If columns beyond the name are needed for many nodes, scanning the whole table is fastest. */
  #sourceOf({ source, candidates }: Plan, isBeyondNames: boolean): Source {
    if (source !== "walk" || !isBeyondNames) return source;
    const rowsInAll = this.#highest.get()?.id ?? 0;
    return candidates > rowsInAll * TABLE_SHARE ? "table" : "walk";
  }

  #cached(key: string, seq: number): CachedResult | undefined {
    const result = this.#results.get(key);
    if (result === undefined) return undefined;
    return result.seq === seq && performance.now() - result.sinceMs < CACHED_MS ? result : undefined;
  }

  #cache(key: string, result: CachedResult): void {
    this.#results.delete(key);
    this.#results.set(key, result);
    let ids = [...this.#results.values()].reduce((sum, cached) => sum + cached.ids.length, 0);
    for (const [oldest, cached] of this.#results) {
      if (oldest === key || (this.#results.size <= CACHED_MAX && ids <= CACHED_IDS_MAX)) break;
      this.#results.delete(oldest);
      ids -= cached.ids.length;
    }
  }
}

/** Whether a source returns a file once for each of several tags. */
function isRepeating({ tagIds, isAnyTag }: Criteria, source: Source): boolean {
  return source === "tag" && isAnyTag && tagIds.length > 1;
}

function scopeOf(criteria: Criteria): SearchScope {
  return criteria.isRecursive ? "subtree" : "folder";
}

function joinNumbers(parts: readonly Float64Array[]): Float64Array {
  const joined = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
