import { SearchX } from "lucide-react";
import { Search } from "../../ui/icons.ts";
import { type ReactNode, useMemo } from "react";
import { ApiError, request } from "../../api/http.ts";
import { keys } from "../../api/queries.ts";
import type { Entry, Pagination } from "../../api/types.ts";
import { Page } from "../../ui/page.tsx";
import { useSetTextSearch, useTextSearch } from "../../base/search-params.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorState } from "../../ui/error-state.tsx";
import type { GridSort, SortOption } from "../../entries/collection/grid-types.ts";
import { PAGE_SIZE } from "../../entries/collection/page-window.ts";
import { useCollection } from "../../entries/collection/use-collection.ts";
import type { ListPage, PageSource } from "../../entries/collection/read-pages.ts";
import { EntryBrowser } from "../../entries/entry-browser.tsx";
import { filePage, isFile, type PreviewSource, searchPages } from "../../entries/preview-source.ts";
import { columnsOf, locationOf, subtitleOf } from "../../entries/entry-columns.tsx";
import { useGoToFolder } from "../../entries/folder-address.ts";
import { sortOf, sortOptions } from "../../entries/list-sort.ts";
import { ViewOptions } from "../../entries/view-options.tsx";
import { splitByMatches, searchTerms } from "./query-terms.ts";
import { SearchFilters } from "./search-filters.tsx";
import { text } from "./text.ts";

/** GET /api/files/search */
interface SearchResponse {
  readonly files: readonly Entry[];
  readonly pagination: Pagination;
  readonly totalIsLowerBound: boolean;
  readonly isIndexing: boolean;
}

interface ResultPage extends ListPage<Entry> {
  readonly isLowerBound: boolean;
  readonly isIndexing: boolean;
}

/** The search page. The query is in the address; the search field and the filters change it. */
export function SearchPage() {
  const query = (useTextSearch()["q"] ?? "").trim();
  const setSearch = useSetTextSearch();
  return (
    <Page title={query === "" ? text.title : text.resultsFor(query)} heading={text.title} fill>
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
function useSearchSource(query: string, { field, order }: GridSort): PageSource<Entry, ResultPage> {
  return useMemo(
    () => ({
      key: keys.search(query, { field, order }),
      scope: query,
      fetchPage: async (page, signal) => {
        const response = await fetchResults(query, { field, order }, page, signal);
        const { files, pagination, totalIsLowerBound, isIndexing } = response;
        return { entries: files, total: pagination.total, isLowerBound: totalIsLowerBound, isIndexing };
      },
      isIncomplete: ({ isIndexing }) => isIndexing,
    }),
    [query, field, order],
  );
}

function Results({ query }: { readonly query: string }) {
  const goToFolder = useGoToFolder();
  const sort = useSearchSort();
  const { field, order } = sort;
  const collection = useCollection(useSearchSource(query, sort));
  const previewSource = useMemo(() => foundFiles(query, { field, order }), [query, field, order]);
  const { pages } = collection;
  const { first } = pages;
  const terms = useMemo(() => searchTerms(query), [query]);
  const nameOf = useMemo(() => (entry: Entry) => <MarkedName name={entry.name} terms={terms} />, [terms]);

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
        </EmptyState>
      </div>
    );
  }
  return (
    <EntryBrowser
      collection={collection}
      label={text.listLabel}
      folder="/"
      previewSource={previewSource}
      kind="search"
      columns={COLUMNS}
      sort={sort}
      onOpenFolder={goToFolder}
      nameOf={nameOf}
      subtitle={locationAndSize}
      toolbar={
        <>
          <p role="status" className="min-w-0 truncate text-sm text-muted">
            {pages.total !== undefined &&
              (first?.isLowerBound === true ? text.foundAtLeast(pages.total) : text.found(pages.total))}
            {` · ${text.sortedBy(labelOf(sort))}`}
            {first?.isIndexing === true && ` · ${text.indexing}`}
          </p>
          <div className="flex shrink-0">
            <ViewOptions sort={sort} />
          </div>
        </>
      }
    />
  );
}

/** The files among the results. A file can't be found by its id, so the first pages are searched for it. */
function foundFiles(query: string, sort: Pick<GridSort, "field" | "order">): PreviewSource {
  const fetchPage: PreviewSource["fetchPage"] = async (page, signal) => {
    const { files, pagination } = await fetchResults(`${query} -type:folder`, sort, page, signal);
    return filePage(files.filter(isFile), page, pagination.total);
  };
  return {
    key: keys.search(query, "files only", sort),
    fetchPage,
    findPage: (id, signal) => searchPages(fetchPage, id, signal),
  };
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

const COLUMNS = columnsOf(["location", "tags", "type", "modified", "uploaded", "size"]);
const SORTS: readonly SortOption[] = [
  { field: "relevance", label: text.relevance, order: "desc" },
  ...sortOptions(["natural", "fileModifiedAt", "createdAt", "size"]),
];

/** The order in the address, so that a link and Back keep it. */
function useSearchSort(): GridSort {
  const { sort, order } = useTextSearch();
  const setSearch = useSetTextSearch();
  return sortOf(SORTS, sort, order, (field, direction) => setSearch({ sort: field, order: direction }));
}

function labelOf({ field, options }: GridSort): string {
  return options.find((option) => option.field === field)?.label ?? field;
}

function locationAndSize(entry: Entry): string {
  return `${locationOf(entry.folder)} · ${subtitleOf(entry)}`;
}

function MarkedName({ name, terms }: { readonly name: string; readonly terms: readonly string[] }): ReactNode {
  let at = 0;
  return splitByMatches(name, terms).map(({ text: part, isFound }) => {
    const key = at;
    at += part.length;
    return isFound ? (
      <mark key={key} className="rounded-sm bg-warning-soft text-ink">
        {part}
      </mark>
    ) : (
      <span key={key}>{part}</span>
    );
  });
}
