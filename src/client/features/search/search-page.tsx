import { SearchX } from "lucide-react";
import { Search } from "../../ui/icons.ts";
import { type ReactNode, useMemo } from "react";
import { ApiError, request } from "../../api/http.ts";
import { keys } from "../../api/queries.ts";
import type { Entry, FileRecord, Pagination } from "../../api/types.ts";
import { Page } from "../../ui/page.tsx";
import { useSetTextSearch, useTextSearch } from "../../base/search-params.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorState } from "../../ui/error-state.tsx";
import type { GridColumn, GridSort, SortOption } from "../../entries/collection/grid-types.ts";
import { PAGE_SIZE } from "../../entries/collection/page-window.ts";
import { useCollection } from "../../entries/collection/use-collection.ts";
import type { ListPage, PageSource } from "../../entries/collection/read-pages.ts";
import { EntryBrowser } from "../../entries/entry-browser.tsx";
import { filePage, isFile, type PreviewedFile, type PreviewSource, searchPages } from "../../entries/preview-source.ts";
import { columnsOf, locationOf, subtitleOf } from "../../entries/entry-columns.tsx";
import { sortOf, sortOptions } from "../../entries/list-sort.ts";
import { RightsContext } from "../../entries/rights.ts";
import { useOpenMixedFolder } from "../../entries/sharing/open-folder.ts";
import { mixedRights, type PermittedEntry } from "../../entries/sharing/received-rights.ts";
import { text as entriesText } from "../../entries/text.ts";
import { splitByMatches, searchTerms } from "./query-terms.ts";
import { SearchFilters } from "./search-filters.tsx";
import { text } from "./text.ts";

/** A file or folder that was found. */
type Hit = Entry &
  PermittedEntry & {
    readonly owner?: { readonly name: string };
    readonly matches?: readonly ContentMatch[];
  };

/** Where the content of a file contains the words. */
interface ContentMatch {
  readonly snippet: readonly { readonly text: string; readonly isMatch: boolean }[];
  readonly page: number | null;
}

/** GET /api/files/search */
interface SearchResponse {
  readonly files: readonly Hit[];
  readonly contents: { readonly state: "ready" | "preparing" | "off"; readonly percent: number };
  readonly pagination: Pagination;
  readonly totalIsLowerBound: boolean;
  readonly isIndexing: boolean;
}

interface ResultPage extends ListPage<Hit> {
  readonly contents: SearchResponse["contents"];
  readonly isLowerBound: boolean;
  readonly isIndexing: boolean;
}

/** The search page. The query is in the address; the search field and the filters change it. */
export function SearchPage() {
  const query = (useTextSearch()["q"] ?? "").trim();
  const setSearch = useSetTextSearch();
  return (
    <Page title={query === "" ? text.title : text.resultsFor({ query })} heading={text.title} fill>
      <SearchFilters query={query} onChange={(q) => setSearch({ q: q === "" ? undefined : q }, { push: true })} />
      {query === "" ? (
        <EmptyState icon={Search} title={text.startTitle}>
          {text.startHint}
        </EmptyState>
      ) : (
        <Results key={query} query={query} />
      )}
    </Page>
  );
}

/** The results of a query in an order. */
function useSearchSource(query: string, { field, order }: GridSort): PageSource<Hit, ResultPage> {
  return useMemo(
    () => ({
      key: keys.search(query, { field, order }),
      scope: query,
      fetchPage: async (page, signal) => {
        const response = await fetchResults(query, { field, order }, page, signal);
        const { files, pagination, totalIsLowerBound, isIndexing, contents } = response;
        return { entries: files, total: pagination.total, isLowerBound: totalIsLowerBound, isIndexing, contents };
      },
      isIncomplete: ({ isIndexing, contents }) => isIndexing || contents.state === "preparing",
    }),
    [query, field, order],
  );
}

function Results({ query }: { readonly query: string }) {
  const openFolder = useOpenMixedFolder();
  const sort = useSearchSort();
  const { field, order } = sort;
  const collection = useCollection(useSearchSource(query, sort));
  const previewSource = useMemo(() => foundFiles(query, { field, order }), [query, field, order]);
  const { pages } = collection;
  const { first } = pages;
  const terms = useMemo(() => searchTerms(query), [query]);
  const nameOf = useMemo(() => (entry: Hit) => <MarkedName name={entry.name} terms={terms} />, [terms]);

  if (pages.error instanceof ApiError && pages.error.status === 400) {
    return (
      <EmptyState icon={SearchX} title={text.invalidTitle}>
        {pages.error.message}
      </EmptyState>
    );
  }
  if (pages.error !== undefined) {
    return <ErrorState error={pages.error} onRetry={pages.refetch} />;
  }
  if (pages.total === 0) {
    return (
      <div role="status">
        <EmptyState icon={SearchX} title={text.noResultsTitle}>
          {first?.isIndexing === true ? text.indexing : text.noResultsHint}
          {first?.contents.state === "preparing" && ` ${text.preparing({ percent: first.contents.percent })}.`}
        </EmptyState>
      </div>
    );
  }
  return (
    <RightsContext value={mixedRights}>
      <EntryBrowser
        collection={collection}
        label={text.listLabel}
        folder="/"
        previewSource={previewSource}
        kind="search"
        columns={COLUMNS}
        sort={sort}
        onOpenFolder={openFolder}
        excerptOf={excerptOf}
        nameOf={nameOf}
        subtitle={locationAndSize}
        summary={
          <p role="status" className="min-w-0 truncate text-sm text-muted">
            {pages.total !== undefined &&
              (first?.isLowerBound === true ? text.foundAtLeast({ n: pages.total }) : text.found({ n: pages.total }))}
            {` · ${text.sortedBy({ label: labelOf(sort) })}`}
            {first?.isIndexing === true && ` · ${text.indexing}`}
            {first?.contents.state === "preparing" && ` · ${text.preparing({ percent: first.contents.percent })}`}
          </p>
        }
      />
    </RightsContext>
  );
}

/** The files among the results. A file can't be found by its id, so the first pages are searched for it. */
function foundFiles(query: string, sort: Pick<GridSort, "field" | "order">): PreviewSource {
  const fetchPage: PreviewSource["fetchPage"] = async (page, signal) => {
    const { files, pagination } = await fetchResults(`${query} -type:folder`, sort, page, signal);
    return filePage(files.filter(isFile).map(withStartPage), page, pagination.total);
  };
  return {
    key: keys.search(query, "files only", sort),
    fetchPage,
    findPage: (id, signal) => searchPages(fetchPage, id, signal),
  };
}

/** A PDF opens at the page that its snippet is from. */
function withStartPage(file: Hit & FileRecord): PreviewedFile {
  const page = file.matches?.[0]?.page ?? null;
  return page === null ? file : { ...file, startPage: page };
}

function fetchResults(
  query: string,
  { field, order }: Pick<GridSort, "field" | "order">,
  page: number,
  signal: AbortSignal | undefined,
): Promise<SearchResponse> {
  return request<SearchResponse>("GET", "/api/files/search", {
    query: { q: query, sort: field, order, page, limit: PAGE_SIZE },
    ...(signal !== undefined && { signal }),
  });
}

const LOCATION = {
  id: "location",
  header: () => entriesText.location,
  width: 10,
} as const;
const COLUMNS: readonly GridColumn<Hit>[] = [
  { ...LOCATION, render: (entry) => <bdi title={locationOfHit(entry)}>{locationOfHit(entry)}</bdi> },
  ...columnsOf(["tags", "type", "modified", "uploaded", "size"]),
];
const SORTS: readonly SortOption[] = [
  {
    field: "relevance",
    label: () => text.relevance,
    order: "desc",
  },
  ...sortOptions(["natural", "fileModifiedAt", "createdAt", "size"]),
];

/** The order in the address, so that a link and Back keep it. */
function useSearchSort(): GridSort {
  const { sort, order } = useTextSearch();
  const setSearch = useSetTextSearch();
  return sortOf(SORTS, sort, order, (field, direction) => setSearch({ sort: field, order: direction }));
}

function labelOf({ field, options }: GridSort): string {
  return options.find((option) => option.field === field)?.label() ?? field;
}

function locationAndSize(entry: Hit): string {
  return `${locationOfHit(entry)} · ${subtitleOf(entry)}`;
}

/** Where a hit is: of what others share, who does. */
function locationOfHit({ folder, share, owner }: Hit): string {
  if (share === undefined) return locationOf(folder);
  const by = owner === undefined || owner.name === "" ? text.sharedWithMe : text.sharedBy({ name: owner.name });
  return folder === "/" ? by : `${by} · ${folder}`;
}

/** How many characters before the first match are shown. A row has one line, and its end is cut on narrow screens. */
const BEFORE_MATCH_MAX = 20;

/** The part of the content that contains the words. */
function excerptOf({ matches }: Hit): ReactNode {
  const [match] = matches ?? [];
  if (match === undefined) return null;
  let at = 0;
  return (
    <span title={text.excerpt}>
      {match.page !== null && text.page({ n: match.page })}
      {match.snippet.map(({ text: part, isMatch }) => {
        const key = at;
        at += part.length;
        if (isMatch) return <Marked key={key}>{part}</Marked>;
        return <span key={key}>{key === 0 && match.snippet.length > 1 ? endOf(part) : part}</span>;
      })}
    </span>
  );
}

/** The last words of a text, or the text if it is short. */
function endOf(part: string): string {
  if (part.length <= BEFORE_MATCH_MAX) return part;
  return `…${part.slice(-BEFORE_MATCH_MAX).replace(/^\S*\s+(?=\S)/, "")}`;
}

function Marked({ children }: { readonly children: string }) {
  return <mark className="rounded-sm bg-warning-soft text-ink">{children}</mark>;
}

function MarkedName({ name, terms }: { readonly name: string; readonly terms: readonly string[] }): ReactNode {
  let at = 0;
  return splitByMatches(name, terms).map(({ text: part, isFound }) => {
    const key = at;
    at += part.length;
    return isFound ? <Marked key={key}>{part}</Marked> : <span key={key}>{part}</span>;
  });
}
