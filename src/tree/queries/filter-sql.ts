/** Builds the SQL of filtered listings from a few sources and filters. */
import type { Bindable } from "../../db/reader.worker.ts";
import { SORTS } from "../model/sorts.ts";
import type { SortField, SortOrder } from "../model/types.ts";

/** The filters of a listing, with tags looked up and text folded. */
export interface Criteria {
  readonly accountId: number;
  readonly folderId: number;
  readonly isRecursive: boolean;
  /** The requested values of `nodes.kind`. */
  readonly kinds: readonly number[];
  /** Folded; undefined for no search. */
  readonly search: string | undefined;
  /** Ids of tags, rarest first. */
  readonly tagIds: readonly number[];
  readonly isAnyTag: boolean;
  /** Lower case: `image/jpeg` or `image/*`. */
  readonly mediaType: string | undefined;
}

/**
 * Where candidates come from: the index of names; the rarest tag (or, if any of several matches, each of them, so that
 * a file may occur more than once); walking the folder and everything below it; or scanning the whole table in disk
 * order, which is fastest if many rows need more than their names.
 */
export type Source = "names" | "tag" | "walk" | "table";

/** A statement, or a part of one, with its parameters in order. */
interface Sql {
  readonly sql: string;
  readonly parameters: readonly Bindable[];
}

/** Shortest search that the index of names supports: three code points. */
export const TRIGRAM = 3;
/** More trigrams hardly narrow a search; `instr` decides anyway. */
const TRIGRAMS_MAX = 8;

/** The query for the index of names: all trigrams of the folded text. */
export function matchText(folded: string): string {
  const characters = Array.from(folded);
  const count = characters.length - TRIGRAM + 1;
  const step = Math.max(1, Math.ceil(count / TRIGRAMS_MAX));
  const trigrams = new Set<string>();
  for (let i = 0; i < count; i += step) trigrams.add(characters.slice(i, i + TRIGRAM).join(""));
  return [...trigrams].map((trigram) => `"${trigram.replaceAll('"', '""')}"`).join(" AND ");
}

/** Where to search: the folder itself, the folder and everything below it, or the whole account. */
export type SearchScope = "folder" | "subtree" | "anywhere";

/** `SELECT columns` of all matches, with `n` as the node; `tail` follows the conditions. */
export function selectMatches(columns: string, criteria: Criteria, source: Source, scope: SearchScope, tail = ""): Sql {
  const conditions = [candidates(criteria, source, scope), ...filters(criteria, source === "tag")];
  const head = scope === "subtree" ? subtree(criteria.folderId) : { sql: "", parameters: [] };
  return {
    sql: `${head.sql} SELECT ${columns} FROM ${SOURCES[scope === "subtree" ? "subtree" : "folder"][source]}
      WHERE ${conditions.map(({ sql }) => sql).join(" AND ")} ${tail}`,
    parameters: [...head.parameters, ...conditions.flatMap(({ parameters }) => parameters)],
  };
}

/** The ids of the matches among the children of one kind in a folder, in the order of an index, without sorting. */
export function selectOrdered(criteria: Criteria, kind: number, sort: SortField, order: SortOrder, tail: string): Sql {
  const { index, keys, condition } = SORTS[sort];
  const indexed = condition === undefined ? "" : ` AND n.${condition}`;
  const inFolder = { sql: `n.parent_id = ? AND n.kind = ?${indexed}`, parameters: [criteria.folderId, kind] };
  const conditions = [inFolder, ...filters(criteria)];
  return {
    sql: `SELECT n.id AS id FROM nodes n INDEXED BY ${index} WHERE ${conditions.map(({ sql }) => sql).join(" AND ")}
      ORDER BY ${keys.map((key) => `n.${key} ${order}`).join(", ")} ${tail}`,
    parameters: conditions.flatMap(({ parameters }) => parameters),
  };
}

const INDEXED_SOURCES = {
  names: "node_names f CROSS JOIN nodes n ON n.id = f.rowid",
  tag: "node_tags f CROSS JOIN nodes n ON n.id = f.node_id",
  table: "nodes n NOT INDEXED",
};

/** For a walk that searches names, the index of names contains all that is needed. */
const SOURCES = {
  folder: { ...INDEXED_SOURCES, walk: "nodes n INDEXED BY nodes_name" },
  subtree: { ...INDEXED_SOURCES, walk: "s CROSS JOIN nodes n INDEXED BY nodes_name" },
};

function candidates(criteria: Criteria, source: Source, scope: SearchScope): Sql {
  const { accountId, folderId } = criteria;
  const kinds = `n.kind IN (${criteria.kinds.join(", ")})`;
  if (source === "walk") {
    return scope === "subtree"
      ? { sql: `n.parent_id = s.id AND ${kinds}`, parameters: [] }
      : { sql: `n.parent_id = ? AND ${kinds}`, parameters: [folderId] };
  }
  const from = fromIndex(criteria, source);
  const parameters = [...from.parameters, accountId];
  const own = `${from.sql} n.account_id = ? AND ${kinds}`;
  if (scope === "anywhere") return { sql: own, parameters };
  if (scope === "subtree") return { sql: `${own} AND n.parent_id IN (SELECT id FROM s)`, parameters };
  return { sql: `${own} AND n.parent_id = ?`, parameters: [...parameters, folderId] };
}

function fromIndex(criteria: Criteria, source: Source): Sql {
  if (source === "names") return { sql: "node_names MATCH ? AND", parameters: [matchText(criteria.search ?? "")] };
  if (source === "tag") {
    const ids = drivingTags(criteria);
    return { sql: `f.tag_id IN (${ids.map(() => "?").join(", ")}) AND`, parameters: ids };
  }
  return { sql: "", parameters: [] };
}

/** Every match has one of these tags: all given tags if any may match, else the rarest. */
function drivingTags({ tagIds, isAnyTag }: Criteria): readonly number[] {
  return isAnyTag ? tagIds : tagIds.slice(0, 1);
}

function subtree(folderId: number): Sql {
  return {
    sql: `WITH RECURSIVE s(id) AS (SELECT ? UNION ALL
      SELECT c.id FROM s JOIN nodes c INDEXED BY nodes_name ON c.parent_id = s.id AND c.kind = 0)`,
    parameters: [folderId],
  };
}

function filters({ search, tagIds: all, isAnyTag, mediaType }: Criteria, isByTag = false): Sql[] {
  // The condition that selected the candidates need not be checked again.
  const tagIds = isByTag ? all.slice(isAnyTag ? all.length : 1) : all;
  const conditions: Sql[] = [];
  if (search !== undefined) conditions.push({ sql: "instr(n.sort_key, ?) > 0", parameters: [search] });
  const carries = "EXISTS (SELECT 1 FROM node_tags t WHERE t.node_id = n.id AND t.tag_id";
  if (isAnyTag && tagIds.length > 0) {
    conditions.push({ sql: `${carries} IN (${tagIds.map(() => "?").join(", ")}))`, parameters: tagIds });
  } else conditions.push(...tagIds.map((id) => ({ sql: `${carries} = ?)`, parameters: [id] })));
  if (mediaType !== undefined) conditions.push(mediaTypeFilter(mediaType));
  return conditions;
}

/** LIKE ignores the case of ASCII letters, as media types require. */
function mediaTypeFilter(mediaType: string): Sql {
  if (mediaType.endsWith("/*")) {
    return { sql: "n.media_type LIKE ? ESCAPE '\\'", parameters: [`${escapeLike(mediaType.slice(0, -1))}%`] };
  }
  const exact = escapeLike(mediaType);
  return {
    sql: "(n.media_type LIKE ? ESCAPE '\\' OR n.media_type LIKE ? ESCAPE '\\')",
    parameters: [exact, `${exact};%`],
  };
}

function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, "\\$&");
}
