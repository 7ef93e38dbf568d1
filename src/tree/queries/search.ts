/**
 * Filtered listings: by name, label, media type, in one folder or all below it. What has few candidates is answered in
 * place within a few milliseconds; everything else goes to the reading thread, which counts and sorts in SQL. Its answers
 * are kept for a minute, so that the pages behind the first cost nothing; any change of the account voids them.
 */
import { numbers, rows } from "../../db/reader.ts";
import type { Bindable } from "../../db/reader.worker.ts";
import { fold } from "../../lib/path.ts";
import { usageType } from "../tables/accounts.ts";
import {
  type Criteria,
  matchText,
  orderBy,
  type Place,
  selectMatches,
  selectOrdered,
  type Source,
  TRIGRAM,
} from "./find-sql.ts";
import { isShortened } from "../tables/folder-paths.ts";
import { FILE, FOLDER } from "../model/rows.ts";
import { compareKeys, SORT_COLUMNS, type SortKeys } from "../model/sorts.ts";
import type { TreeStore } from "../tables/store.ts";
import type { FindQuery, FolderNode, NodePage } from "../model/types.ts";

/** Candidates that are looked at in place (about two milliseconds). */
const IN_PLACE_MAX = 2_000;
/** Candidates up to which the index of names or labels beats walking the tree. */
const INDEXED_MAX = 10_000;
/** Ids fetched for the first pages; whoever pages on gets all of them sorted. */
const FIRST_IDS = 1_000;
/** From this share of hits on, walking a sorted index meets the first page sooner than sorting the hits. */
const DENSE_SHARE = 0.01;
/** From this share of all rows on, reading the whole table beats fetching single rows from it. */
const TABLE_SHARE = 0.1;
/** Up to this share of the files walked over, fetching those that carry a label beats walking. */
const TAG_SHARE = 0.2;
const CACHED_MAX = 8;
const CACHED_IDS_MAX = 2_000_000;
const CACHED_MS = 60_000;

interface Candidate extends SortKeys {
  readonly kind: number;
  readonly parent_id: number | null;
}

interface Answer {
  readonly seq: number;
  readonly sinceMs: number;
  readonly total: number;
  /** The first of them, or all. */
  readonly ids: Float64Array;
}

/** The cheapest place to look for matches, and about how many candidates are there. */
interface Plan {
  readonly source: Source;
  readonly candidates: number;
}

/** Finds nodes. */
export class Finder {
  readonly #store: TreeStore;
  readonly #answers = new Map<string, Answer>();
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

  /** One page of what matches. @see FindQuery */
  async find(query: FindQuery): Promise<NodePage> {
    const criteria = this.#criteria(query);
    if (criteria === undefined) return { nodes: [], total: 0 };
    const plan = this.#plan(criteria);
    if (plan.candidates <= IN_PLACE_MAX) return this.#inPlace(query, criteria, plan.source);
    return this.#elsewhere(query, criteria, plan);
  }

  /** Undefined where nothing can match. */
  #criteria(query: FindQuery): Criteria | undefined {
    const { accountId, folder, tags = [], mediaTypePattern, kind } = query;
    const search = query.search === undefined || query.search === "" ? undefined : fold(query.search.normalize("NFC"));
    // No name has a NUL, and the index of names takes it for the end of the query.
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
    // Of several labels any of which will do, there is no single one to begin with.
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
    // Where a candidate lies is told by its path, which is cheaper for a few than the set of all folders below.
    const isByPath = source !== "walk" && criteria.isRecursive;
    const place = isByPath ? "anywhere" : placeOf(criteria);
    const { sql, parameters } = selectMatches(`n.kind, n.parent_id, ${SORT_COLUMNS}`, criteria, source, place);
    const candidates = this.#store.sqlite.query<Candidate, Bindable[]>(sql).all(...parameters);
    const found = isByPath ? this.#below(query.folder, candidates) : candidates;
    const { sort, order, offset, limit } = query;
    const sign = order === "asc" ? 1 : -1;
    found.sort((a, b) => a.kind - b.kind || sign * (compareKeys(sort, a, b) || a.id - b.id));
    const ids = found.slice(offset, offset + limit).map(({ id }) => id);
    return { nodes: this.#store.findByIds(ids), total: found.length };
  }

  /** Those whose folder is the given one or lies below it. */
  #below(folder: FolderNode, candidates: readonly Candidate[]): Candidate[] {
    const parents = candidates.flatMap(({ parent_id }) => (parent_id === null ? [] : [parent_id]));
    const paths = this.#store.paths.pathsOf(parents);
    // A shortened path does not say what is above.
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

  async #elsewhere(query: FindQuery, criteria: Criteria, plan: Plan): Promise<NodePage> {
    const { accountId, sort, order, offset, limit } = query;
    const key = JSON.stringify([criteria, sort, order]);
    const seq = this.#store.accounts.headOf(accountId);
    const known = this.#fresh(key, seq);
    const total = known?.total ?? (await this.#count(criteria, plan));
    const end = Math.min(offset + limit, total);
    let ids = known?.ids ?? new Float64Array(0);
    if (ids.length < end) ids = await this.#sortedIds(query, criteria, plan, total, end <= FIRST_IDS);
    this.#keep(key, { seq, sinceMs: performance.now(), total, ids });
    return { nodes: this.#store.findByIds([...ids.subarray(offset, end)]), total };
  }

  async #count(criteria: Criteria, plan: Plan): Promise<number> {
    const source = this.#tagSource(criteria, plan) ?? this.#sourceOf(plan, criteria.mediaType !== undefined);
    const { sql, parameters } = selectMatches(
      `${isRepeating(criteria, source) ? "count(DISTINCT n.id)" : "count(*)"} AS total`,
      criteria,
      source,
      placeOf(criteria),
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
    const limit = isFirst ? `LIMIT ${FIRST_IDS}` : "";
    // In one folder an index gives its order; by anything but the name that pays only while hits are met soon, as it does
    // beside a label, which tells the few where they are.
    const byTag = this.#tagSource(criteria, plan);
    const isMetSoon = isFirst && total > plan.candidates * DENSE_SHARE;
    const isWalkShort = isMetSoon || (sort === "name" && byTag === undefined);
    const isOrdered = plan.source === "walk" && !criteria.isRecursive && isWalkShort;
    const source = byTag ?? this.#sourceOf(plan, sort !== "name" || criteria.mediaType !== undefined);
    const statements = isOrdered
      ? criteria.kinds.map((kind) => selectOrdered("n.id AS id", criteria, kind, sort, order, limit))
      : [
          selectMatches(
            "n.id AS id",
            criteria,
            source,
            placeOf(criteria),
            `${isRepeating(criteria, source) ? "GROUP BY n.id" : ""} ${orderBy(sort, order)} ${limit}`,
          ),
        ];
    const read = statements.map(({ sql, parameters }) => numbers(`SELECT group_concat(id) FROM (${sql})`, parameters));
    const results = await this.#store.reader.read(read);
    return results.length === 1 && results[0] !== undefined ? results[0] : joinNumbers(results);
  }

  /** The labels, where few enough of all files carry them that fetching those is faster than passing by all others. */
  #tagSource({ tagIds, isAnyTag }: Criteria, { source, candidates }: Plan): Source | undefined {
    const [rarest] = tagIds;
    if (rarest === undefined || source !== "walk") return undefined;
    const tagged = isAnyTag ? tagIds.reduce((sum, id) => sum + this.#tagged(id), 0) : this.#tagged(rarest);
    return tagged < candidates * TAG_SHARE ? "tag" : undefined;
  }

  /** Where more than names is wanted of a good part of all nodes, the table itself is read from end to end. */
  #sourceOf({ source, candidates }: Plan, isBeyondNames: boolean): Source {
    if (source !== "walk" || !isBeyondNames) return source;
    const rowsInAll = this.#highest.get()?.id ?? 0;
    return candidates > rowsInAll * TABLE_SHARE ? "table" : "walk";
  }

  #fresh(key: string, seq: number): Answer | undefined {
    const answer = this.#answers.get(key);
    if (answer === undefined) return undefined;
    return answer.seq === seq && performance.now() - answer.sinceMs < CACHED_MS ? answer : undefined;
  }

  #keep(key: string, answer: Answer): void {
    this.#answers.delete(key);
    this.#answers.set(key, answer);
    let ids = [...this.#answers.values()].reduce((sum, kept) => sum + kept.ids.length, 0);
    for (const [oldest, kept] of this.#answers) {
      if (oldest === key || (this.#answers.size <= CACHED_MAX && ids <= CACHED_IDS_MAX)) break;
      this.#answers.delete(oldest);
      ids -= kept.ids.length;
    }
  }
}

/** Whether a source meets a file once for each of several labels. */
function isRepeating({ tagIds, isAnyTag }: Criteria, source: Source): boolean {
  return source === "tag" && isAnyTag && tagIds.length > 1;
}

function placeOf(criteria: Criteria): Place {
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
