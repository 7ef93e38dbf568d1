import { useMemo } from "react";
import type { ResponseData } from "../../api/generated.ts";
import { request } from "../../api/http.ts";
import { keys } from "../../api/queries.ts";
import type { Entry } from "../../api/types.ts";
import type { GridColumn, GridSort } from "../../entries/collection/grid-types.ts";
import { PAGE_SIZE } from "../../entries/collection/page-window.ts";
import type { PageSource } from "../../entries/collection/read-pages.ts";
import { useCollection } from "../../entries/collection/use-collection.ts";
import { EntryBrowser } from "../../entries/entry-browser.tsx";
import { RightsContext } from "../../entries/rights.ts";
import { mixedRights, type PermittedEntry } from "../../entries/sharing/received-rights.ts";
import { useOpenMixedFolder } from "../../entries/sharing/open-folder.ts";
import { columnsOf, locationOf as folderOf, subtitleOf } from "../../entries/entry-columns.tsx";
import { filesOfList } from "../../entries/preview-source.ts";
import { sortOptions, useListSort } from "../../entries/list-sort.ts";
import { text as entriesText } from "../../entries/text.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorState } from "../../ui/error-state.tsx";
import { Star } from "../../ui/icons.ts";
import { Page } from "../../ui/page.tsx";
import { text } from "./text.ts";

/** A favorite of the person. */
type Favorite = Entry & PermittedEntry;

/** The person's favorites, own ones and received ones, as a list with all actions. */
export function FavoritesPage() {
  const openFolder = useOpenMixedFolder();
  const sort = useListSort("favorites", SORTS);
  const source = useFavorites(sort);
  const collection = useCollection(source);
  const previewSource = useMemo(() => filesOfList(source), [source]);
  const { pages } = collection;
  return (
    <Page title={text.title} fill>
      {pages.error !== undefined ? (
        <ErrorState error={pages.error} onRetry={pages.refetch} />
      ) : pages.total === 0 ? (
        <EmptyState icon={Star} title={text.emptyTitle}>
          {text.emptyHint}
        </EmptyState>
      ) : (
        <RightsContext value={mixedRights}>
          <EntryBrowser
            collection={collection}
            label={text.listLabel}
            folder="/"
            kind="favorites"
            previewSource={previewSource}
            columns={COLUMNS}
            onOpenFolder={openFolder}
            subtitle={locationAndSize}
            sort={sort}
          />
        </RightsContext>
      )}
    </Page>
  );
}

function useFavorites({ field: sort, order }: GridSort): PageSource<Favorite> {
  return useMemo(
    () => ({
      key: [...keys.favorites, { sort, order }],
      scope: "favorites",
      fetchPage: async (page, signal) => {
        const { favorites, pagination } = await request<
          Omit<ResponseData["GET /api/favorites"], "favorites"> & { readonly favorites: readonly Favorite[] }
        >("GET", "/api/favorites", {
          query: { sort, order, page, limit: PAGE_SIZE },
          ...(signal !== undefined && { signal }),
        });
        return { entries: favorites, total: pagination.total };
      },
    }),
    [sort, order],
  );
}

const LOCATION = {
  id: "location",
  header: () => entriesText.location,
  width: 14,
} as const;
const COLUMNS: readonly GridColumn<Favorite>[] = [
  { ...LOCATION, render: (entry) => <bdi title={locationOf(entry)}>{locationOf(entry)}</bdi> },
  ...columnsOf(["tags", "type", "modified", "uploaded", "size"]),
];
const SORTS = sortOptions(["natural", "fileModifiedAt", "createdAt", "size"]);

function locationOf({ folder, permission }: Favorite): string {
  if (permission === "own") return folderOf(folder);
  return folder === "/" ? text.sharedWithMe : `${text.sharedWithMe}${folder}`;
}

function locationAndSize(entry: Favorite): string {
  return `${locationOf(entry)} · ${subtitleOf(entry)}`;
}
