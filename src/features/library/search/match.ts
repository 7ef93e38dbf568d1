/** Turns search terms into a query of the index, plus conditions on the rows of files. Pure. */
import type { Bindable } from "../../../db/reader.worker.ts";
import { WITH_GONE_FOLDERS } from "../../../tree/model/gone.ts";
import { FILE } from "../../../tree/model/rows.ts";
import { ANY_FAMILY, cameraFacets, dateRangeFacets, facet, FOLDERS_MAX, sizeFacets, tagFacet } from "./facets.ts";
import type { Completions } from "./completions.ts";
import { FAMILIES } from "./parse-query.ts";
import type { SearchTerm, SizeTerm, WordTerm } from "./types.ts";
import { openWordOf, quoteWords } from "./words.ts";

/**
 * Columns that contain all free words, best match first: the name; name and tags; also the description; all columns.
 */
export const TIERS = ["name", "name tags", "name tags description", "name tags description metadata"] as const;
const ANYWHERE = TIERS[3];

/** A folder that limits the results. */
export interface SearchFolders {
  readonly folderId: number;
  /** The folder and those below it; undefined if too many to list. */
  readonly folderIds: readonly number[] | undefined;
}

/** Conditions on a row `n` of nodes. */
interface Condition {
  readonly sql: string;
  readonly parameters: readonly Bindable[];
}

/** rowid = account << 36 | node: entries of an account are contiguous and separate from those of others. */
export const NODE_BITS = 36;
const NODE_MASK = "68719476735";

/** The query for names, tags, descriptions and metadata for one word. */
export function matchElsewhere(term: WordTerm): string {
  return `{${ANYWHERE}} : (${quoteWords(term.value, !term.isPhrase)})`;
}

/** Whether any free word needs ranking. */
export function hasWords(terms: readonly SearchTerm[]): boolean {
  return terms.some((term) => term.key === "text" && !term.isExcluded);
}

/** The query of the index, with the free words in these columns. It names the words of `completions`. */
export function matchExpression(
  terms: readonly SearchTerm[],
  folders: readonly SearchFolders[],
  columns: (typeof TIERS)[number] = ANYWHERE,
  completions: Completions = new Map(),
): string {
  const included = terms.filter((term) => !term.isExcluded);
  const facets = [...included.flatMap(toFacets), ...folders.flatMap(folderFacets)];
  const wordTerms = included.filter(isWord);
  const parts: string[] = [];
  const texts = wordTerms.filter(({ key }) => key === "text").map((term) => toQuoted(term, completions));
  const names = wordTerms.filter(({ key }) => key === "name").map((term) => toQuoted(term, completions));
  // Rare terms first: words before facets.
  if (texts.length > 0) parts.push(`{${columns}} : (${texts.join(" AND ")})`);
  if (names.length > 0) parts.push(`{name} : (${names.join(" AND ")})`);
  if (parts.length === 0 && facets.length === 0) facets.push(anyOf(ANY_FAMILY));
  if (facets.length > 0) parts.push(`{facets} : (${facets.join(" AND ")})`);
  const excluded = terms.filter((term) => term.isExcluded).flatMap((term) => toExcluded(term, completions));
  const positive = parts.join(" AND ");
  return excluded.length === 0 ? positive : `(${positive}) NOT (${excluded.join(" OR ")})`;
}

/** The parts of a search. */
export interface SearchQuery {
  readonly accountId: number;
  /** See {@link matchExpression}. */
  readonly match: string;
  readonly terms: readonly SearchTerm[];
  readonly folders: readonly SearchFolders[];
  /** The result of {@link selectGoneFolders}; undefined if too many. */
  readonly gone: readonly number[] | undefined;
  /** Only these shared nodes and what is below them: a search in the files of another account. */
  readonly below?: readonly number[];
  /** Only these nodes. */
  readonly among?: readonly number[];
  /** Whose favorites count, if not those of the account. */
  readonly callerId?: number;
  readonly limit: number;
}

/** Unreachable folders of an account: the index still contains what is in them. */
export function selectGoneFolders(accountId: number, limit: number): { sql: string; parameters: Bindable[] } {
  return { sql: `${WITH_GONE_FOLDERS} SELECT id FROM gone LIMIT ?`, parameters: [accountId, accountId, limit] };
}

/**
 * SQL for the ids of all matches, newest first, as one text: `SELECT group_concat(id) …`. The index alone usually
 * suffices. Rows of nodes are read only for sizes, for very many folders, or if the index still contains nodes of
 * deleted folders.
 */
export function selectIds(query: SearchQuery): { readonly sql: string; readonly parameters: readonly Bindable[] } {
  const { accountId, terms, folders, gone, below, among, callerId = accountId, limit } = query;
  const conditions = [
    ...terms.flatMap(toConditions),
    ...folders.flatMap(belowConditions),
    ...(below === undefined ? [] : [withinConditions(below)]),
    ...(among === undefined
      ? []
      : [{ sql: "n.id IN (SELECT value FROM json_each(?))", parameters: [JSON.stringify(among)] }]),
  ];
  const marks = terms.filter(isFavoriteTerm);
  const marked = marks.map(
    ({ isExcluded }) => ` AND (f.rowid & ${NODE_MASK}) ${isExcluded ? "NOT " : ""}${IN_FAVORITES}`,
  );
  const accounts = marks.map(() => callerId);
  const range = `search_text MATCH ? AND f.rowid BETWEEN (? << ${NODE_BITS}) AND ((? + 1) << ${NODE_BITS}) - 1${marked.join("")}`;
  const goneClause =
    gone === undefined || gone.length === 0 ? "" : ` NOT {facets} : ${anyOf(gone.map((id) => facet("fo", id)))}`;
  const match = goneClause === "" ? query.match : `(${query.match})${goneClause}`;
  if (conditions.length === 0 && gone !== undefined) {
    return {
      sql: `SELECT group_concat(id) FROM (SELECT f.rowid & ${NODE_MASK} AS id FROM search_text f WHERE ${range}
        ORDER BY f.rowid DESC LIMIT ?)`,
      parameters: [match, accountId, accountId, ...accounts, limit],
    };
  }
  const where = conditions.map(({ sql }) => ` AND ${sql}`).join("");
  return {
    sql: `${WITH_GONE_FOLDERS} SELECT group_concat(id) FROM (
        SELECT n.id FROM search_text f CROSS JOIN nodes n ON n.id = (f.rowid & ${NODE_MASK})
        WHERE ${range} AND n.parent_id > 0 AND n.parent_id NOT IN (SELECT id FROM gone)${where}
        ORDER BY f.rowid DESC LIMIT ?)`,
    parameters: [
      accountId,
      accountId,
      match,
      accountId,
      accountId,
      ...accounts,
      ...conditions.flatMap(({ parameters }) => parameters),
      limit,
    ],
  };
}

/** Favorites are not part of the index, because they change without the file. By their primary key. */
const IN_FAVORITES = "IN (SELECT v.node_id FROM favorites v WHERE v.account_id = ?)";

/** Whether a term depends on the favorites of the account. */
export function isFavoriteTerm(term: SearchTerm): boolean {
  return term.key === "is" && term.value === "favorite";
}

function isWord(term: SearchTerm): term is WordTerm {
  return term.key === "text" || term.key === "name";
}

function toQuoted({ value, isPhrase }: WordTerm, completions: Completions): string {
  const open = isPhrase ? undefined : openWordOf(value);
  const words = open === undefined ? undefined : completions.get(open.word);
  if (open === undefined || words === undefined) return quoteWords(value, !isPhrase);
  if (words.length === 0) return quoteWords(value, false);
  return `(${words.map((word) => quoteWords(`${open.head} ${word}`, false)).join(" OR ")})`;
}

/** Facets that must all match. */
function toFacets(term: SearchTerm): string[] {
  switch (term.key) {
    case "tag":
      return [quoted(tagFacet(term.value))];
    case "type":
      return [quoted(typeFacet(term.value))];
    case "ext":
      return [quoted(facet("ex", term.value))];
    case "camera":
      return cameraFacets(term.value).map(quoted);
    case "is":
      return term.value === "public" ? [quoted(facet("pu", ""))] : [];
    case "size":
      return toSizeFacets(term);
    case "modified":
    case "created":
    case "taken":
      return [anyOf(dateRangeFacets(DATES[term.key], term.from, term.to))];
    default:
      return [];
  }
}

const DATES = { modified: "m", created: "c", taken: "p" } as const;

function typeFacet(type: string): string {
  return FAMILIES.some((family) => family === type) ? facet("fa", type) : facet("ty", type);
}

function toSizeFacets({ min, max }: SizeTerm): string[] {
  const facets = sizeFacets(min, max);
  return facets === undefined ? [] : [anyOf(facets)];
}

function folderFacets({ folderIds }: SearchFolders): string[] {
  return folderIds === undefined || folderIds.length > FOLDERS_MAX
    ? []
    : [anyOf(folderIds.map((id) => facet("fo", id)))];
}

function toExcluded(term: SearchTerm, completions: Completions): string[] {
  if (term.key === "text") return [`{${ANYWHERE}} : (${toQuoted(term, completions)})`];
  if (term.key === "name") return [`{name} : (${toQuoted(term, completions)})`];
  const facets = toFacets(term);
  return facets.length === 0 ? [] : [`{facets} : (${facets.join(" AND ")})`];
}

function anyOf(facets: readonly string[]): string {
  return `(${facets.map(quoted).join(" OR ")})`;
}

/** Facets contain only letters and digits. */
function quoted(text: string): string {
  return `"${text}"`;
}

/** Conditions that the coarse facets can't decide. */
function toConditions(term: SearchTerm): Condition[] {
  if (term.key !== "size") return [];
  const { min, max } = term;
  return [
    { sql: `n.kind = ${FILE}`, parameters: [] },
    ...(min === null ? [] : [{ sql: "n.size_bytes >= ?", parameters: [min] }]),
    ...(max === null ? [] : [{ sql: "n.size_bytes <= ?", parameters: [max] }]),
  ];
}

/** Shared nodes, and what is below them. */
function withinConditions(rootIds: readonly number[]): Condition {
  const sql = `(n.parent_id IN (WITH RECURSIVE s(id) AS (SELECT value FROM json_each(?) UNION ALL
    SELECT c.id FROM s JOIN nodes c INDEXED BY nodes_name ON c.parent_id = s.id AND c.kind = 0) SELECT id FROM s)
    OR n.id IN (SELECT value FROM json_each(?)))`;
  const roots = JSON.stringify(rootIds);
  return { sql, parameters: [roots, roots] };
}

/** If the folders are listed, the facets decide. */
function belowConditions({ folderId, folderIds }: SearchFolders): Condition[] {
  if (folderIds !== undefined) return [];
  const sql = `n.parent_id IN (WITH RECURSIVE s(id) AS (SELECT ? UNION ALL
    SELECT c.id FROM s JOIN nodes c INDEXED BY nodes_name ON c.parent_id = s.id AND c.kind = 0) SELECT id FROM s)`;
  return [{ sql, parameters: [folderId] }];
}
