import { RotateCcw } from "lucide-react";
import { Trash2 } from "../../ui/icons.ts";
import { useMemo, useRef } from "react";
import { request } from "../../api/http.ts";
import { keys } from "../../api/queries.ts";
import type { Pagination, TrashedEntry } from "../../api/types.ts";
import { Page } from "../../ui/page.tsx";
import { useShortcuts } from "../../base/shortcuts.ts";
import { useStore } from "../../base/store.ts";
import { Button } from "../../ui/button.tsx";
import { ContextMenu } from "../../ui/menu.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorState } from "../../ui/error-state.tsx";
import { formatDateTime, formatRelative } from "../../base/format.ts";
import { IconButton } from "../../ui/icon-button.tsx";
import type { MenuItem } from "../../ui/menu-items.ts";
import { EntryGrid } from "../../entries/collection/entry-grid.tsx";
import type { GridColumn, GridDisplay, GridSort, SortOption } from "../../entries/collection/grid-types.ts";
import { ListSkeleton } from "../../entries/collection/list-skeleton.tsx";
import { PAGE_SIZE } from "../../entries/collection/page-window.ts";
import { type Collection, useCollection } from "../../entries/collection/use-collection.ts";
import type { PageSource } from "../../entries/collection/read-pages.ts";
import { ActionStatus } from "../../entries/actions/action-status.tsx";
import { entriesBeingRemoved } from "../../entries/actions/use-entry-actions.ts";
import { columnsOf, Day, locationOf, sizeOf } from "../../entries/entry-columns.tsx";
import { afterFocusReturns } from "../../entries/focus.ts";
import { sortOptions, useListSort } from "../../entries/list-sort.ts";
import { useViewPreferences } from "../../entries/preferences.ts";
import { useColumns } from "../../entries/use-columns.ts";
import { ViewOptions } from "../../entries/view-options.tsx";
import { text } from "./text.ts";
import { useTrashActions } from "./use-trash-actions.ts";
import { SelectionToolbar } from "../../ui/selection-toolbar.tsx";
import { useCanWrite } from "../../api/session.ts";

const DAY_MS = 86_400_000;

/** The trash in the chosen order. */
function useTrashSource({ field: sort, order }: GridSort): PageSource<TrashedEntry> {
  return useMemo(
    () => ({
      key: [...keys.trash, { sort, order }],
      scope: "trash",
      fetchPage: async (page, signal) => {
        const { files, pagination } = await request<{ files: TrashedEntry[]; pagination: Pagination }>(
          "GET",
          "/api/files/trash",
          { query: { sort, order, page, limit: PAGE_SIZE }, ...(signal !== undefined && { signal }) },
        );
        return { entries: files, total: pagination.total };
      },
    }),
    [sort, order],
  );
}

/** The trash: restore entries, or delete them permanently. */
export function TrashPage() {
  const canWrite = useCanWrite();
  const sort = useListSort("trash", SORTS);
  const collection = useCollection(useTrashSource(sort));
  const { pages, count } = collection;
  const frame = useRef<HTMLDivElement>(null);
  const focusList = () =>
    afterFocusReturns(() => frame.current?.querySelector<HTMLElement>('[data-position][tabindex="0"]')?.focus());
  const { restore, remove, empty } = useTrashActions(collection, focusList);
  useShortcuts(
    text.title,
    canWrite ? [{ keys: "delete", label: text.remove, run: remove, when: () => count > 0 }] : [],
  );
  const items: readonly MenuItem[] = [
    { label: text.restore, icon: RotateCcw, run: restore },
    null,
    { label: text.remove, icon: Trash2, keys: "delete", danger: true, run: remove },
  ];
  const emptyButton = canWrite && (pages.total ?? 0) > 0 && (
    <Button icon={Trash2} onClick={empty}>
      {text.empty}
    </Button>
  );
  return (
    <Page title={text.title} fill actions={emptyButton}>
      {pages.error !== undefined ? (
        <ErrorState error={pages.error} onRetry={pages.refetch} />
      ) : pages.total === 0 ? (
        <EmptyState icon={Trash2} title={text.emptyTitle}>
          {text.emptyHint}
        </EmptyState>
      ) : (
        <>
          {count > 0 && canWrite ? (
            <SelectionToolbar count={count} onClear={collection.clear}>
              <Button variant="quiet" icon={RotateCcw} onClick={restore}>
                {text.restore}
              </Button>
              <Button variant="quiet" icon={Trash2} className="max-sm:hidden" onClick={remove}>
                {text.remove}
              </Button>
              <IconButton label={text.remove} icon={Trash2} className="sm:hidden" onClick={remove} />
            </SelectionToolbar>
          ) : (
            <div className="flex min-h-11 items-center justify-between gap-2">
              <p className="text-sm text-muted">{text.explained}</p>
              <div className="flex shrink-0">
                <ViewOptions sort={sort} />
              </div>
            </div>
          )}
          <ContextMenu items={canWrite ? items : []}>
            <div ref={frame} className="flex min-h-0 flex-1 flex-col">
              {pages.total === undefined ? (
                <ListSkeleton layout="list" />
              ) : (
                <TrashList collection={collection} sort={sort} />
              )}
            </div>
          </ContextMenu>
        </>
      )}
      <ActionStatus />
    </Page>
  );
}

function TrashList({ collection, sort }: { readonly collection: Collection<TrashedEntry>; readonly sort: GridSort }) {
  const [{ layout, density }] = useViewPreferences();
  const columns = useColumns("trash", COLUMNS, collection);
  const removing = useStore(entriesBeingRemoved);
  const display = useMemo<GridDisplay<TrashedEntry>>(
    () => ({ layout, density, columns, subtitle: subtitleOf, caption: sizeOf, removing }),
    [layout, density, columns, removing],
  );
  return (
    <EntryGrid
      collection={collection}
      label={text.listLabel}
      display={display}
      sort={sort}
      onOpen={(_, position) => collection.select(position, "toggle")}
    />
  );
}

const COLUMNS: readonly GridColumn<TrashedEntry>[] = [
  {
    id: "location",
    header: () => text.from,
    width: 12,
    render: ({ originalFolder }) => (
      <span title={originalFolder}>
        <bdi>{locationOf(originalFolder)}</bdi>
      </span>
    ),
  },
  ...columnsOf(["type"]),
  {
    id: "deleted",
    header: () => text.deleted,
    width: 8.5,
    sort: "deletedAt",
    render: ({ trashedAt }) => (
      <time dateTime={trashedAt} title={formatDateTime(trashedAt)}>
        {formatRelative(trashedAt)}
      </time>
    ),
  },
  {
    id: "expires",
    header: () => text.expires,
    width: 8.5,
    render: ({ expiresAt }) => <Day moment={expiresAt} />,
  },
  ...columnsOf(["size"]),
];
const SORTS: readonly SortOption[] = [
  {
    field: "deletedAt",
    label: () => text.deleted,
    order: "desc",
  },
  ...sortOptions(["natural", "size"]),
];

function subtitleOf({ trashedAt, expiresAt }: TrashedEntry): string {
  return text.subtitle({
    deleted: formatRelative(trashedAt),
    daysLeft: Math.max(0, Math.floor((Date.parse(expiresAt) - Date.now()) / DAY_MS)),
  });
}
