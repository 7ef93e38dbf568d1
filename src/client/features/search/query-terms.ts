/** The search query as the filter controls see it: search terms and `key:value` filters. Pure. */

/** Filters that have a control; the query language has more. */
export const FILTER_KEYS = ["type", "is", "modified", "size", "tag", "ext", "in"] as const;

/** One of {@link FILTER_KEYS}. */
export type FilterKey = (typeof FILTER_KEYS)[number];

interface QueryTerm {
  readonly source: string;
  readonly key: string | undefined;
  readonly value: string;
  readonly isExcluded: boolean;
}

/** The value of a filter; undefined if the query does not have it, or excludes it. */
export function filterOf(query: string, key: FilterKey): string | undefined {
  return split(query).find((term) => term.key === key && !term.isExcluded)?.value;
}

/** The query with a filter set to a value, or without it. Other terms stay as written. */
export function withFilter(query: string, key: FilterKey, value: string | undefined): string {
  const others = split(query)
    .filter((term) => term.key !== key || term.isExcluded)
    .map(({ source }) => source);
  return [...others, ...(value === undefined || value === "" ? [] : [`${key}:${quoted(value)}`])].join(" ");
}

/** Where the words of a query are searched. */
export type WordsIn = "anywhere" | "name" | "content";

/** Where all words of a query are searched; anywhere if they differ. */
export function wordsIn(query: string): WordsIn {
  const keys = new Set(
    split(query)
      .filter(isWord)
      .map(({ key }) => key),
  );
  const [only] = keys;
  return keys.size === 1 && (only === "name" || only === "content") ? only : "anywhere";
}

/** The query with all of its words searched in one way. */
export function withWordsIn(query: string, where: WordsIn): string {
  const prefix = where === "anywhere" ? "" : `${where}:`;
  const terms = split(query).map((term) => {
    if (!isWord(term)) return term.source;
    const word = term.source.replace(/^(-?)(?:[A-Za-z]+:)?/, "");
    return `${term.isExcluded ? "-" : ""}${prefix}${word}`;
  });
  return terms.join(" ");
}

function isWord({ key, value }: QueryTerm): boolean {
  return value !== "" && (key === undefined || key === "name" || key === "content");
}

/** The terms that are searched for in names, without excluded ones, to highlight them. */
export function searchTerms(query: string): string[] {
  return split(query)
    .filter(({ key, isExcluded, value }) => (key === undefined || key === "name") && !isExcluded && value !== "")
    .map(({ value }) => value);
}

/** A part of a name, and whether it matches. */
interface NamePart {
  readonly text: string;
  readonly isFound: boolean;
}

/** Splits a name at terms that begin with a search term, ignoring case and accents. */
export function splitByMatches(name: string, terms: readonly string[]): NamePart[] {
  const foldedTerms = terms.map(folded).filter((term) => term !== "");
  // By grapheme, because folding changes the length of a name.
  const graphemes = [...new Intl.Segmenter().segment(name)].map(({ segment }) => segment);
  const plain = graphemes.map(folded);
  const found = graphemes.map(() => false);
  for (let at = 0; at < graphemes.length; at += 1) {
    const isStart = at === 0 || !/[\p{L}\p{N}]/u.test(plain[at - 1] ?? "");
    if (!isStart) continue;
    const rest = plain.slice(at).join("");
    for (const term of foldedTerms) {
      if (!rest.startsWith(term)) continue;
      let length = 0;
      for (let end = at; end < graphemes.length && length < term.length; end += 1) {
        found[end] = true;
        length += plain[end]?.length ?? 0;
      }
    }
  }
  const parts: { text: string; isFound: boolean }[] = [];
  graphemes.forEach((grapheme, at) => {
    const isFound = found[at] === true;
    const last = parts.at(-1);
    if (last?.isFound === isFound) last.text += grapheme;
    else parts.push({ text: grapheme, isFound });
  });
  return parts;
}

function folded(text: string): string {
  return text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
}

function quoted(value: string): string {
  return /\s/.test(value) ? `"${value.replaceAll('"', "")}"` : value;
}

/** Splits at spaces outside of quotes, as the server does. */
function split(query: string): QueryTerm[] {
  const terms: QueryTerm[] = [];
  for (const found of query.matchAll(/(-?)(?:([A-Za-z]+):)?(?:"([^"]*)(?:"|$)|(\S+))/g)) {
    const [source, minus, key, inQuotes, bare = ""] = found;
    terms.push({ source, key: key?.toLowerCase(), value: inQuotes ?? bare, isExcluded: minus === "-" });
  }
  return terms;
}
