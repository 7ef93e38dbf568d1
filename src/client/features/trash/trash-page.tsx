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
import { formatDate, formatRelative } from "../../base/format.ts";
import { IconButton } from "../../ui/icon-button.tsx";
import type { MenuItem } from "../../ui/menu-items.ts";
import { EntryGrid } from "../../entries/collection/entry-grid.tsx";
import type { GridColumn, GridDisplay } from "../../entries/collection/grid-types.ts";
import { ListSkeleton } from "../../entries/collection/list-skeleton.tsx";
import { PAGE_SIZE } from "../../entries/collection/page-window.ts";
import { type Collection, useCollection } from "../../entries/collection/use-collection.ts";
import type { PageSource } from "../../entries/collection/read-pages.ts";
import { ActionStatus } from "../../entries/actions/action-status.tsx";
import { entriesBeingRemoved } from "../../entries/actions/use-entry-actions.ts";
import { sizeOf } from "../../entries/entry-columns.tsx";
import { afterFocusReturns } from "../../entries/focus.ts";
import { useViewPreferences } from "../../entries/preferences.ts";
import { text as entriesText } from "../../entries/text.ts";
import { text } from "./text.ts";
import { useTrashActions } from "./use-trash-actions.ts";
import { SelectionToolbar } from "../../ui/selection-toolbar.tsx";
import { useCanWrite } from "../../api/session.ts";

const SOURCE: PageSource<TrashedEntry> = {
  key: keys.trash,
  scope: "trash",
  fetchPage: async (page, signal) => {
    const { files, pagination } = await request<{ files: TrashedEntry[]; pagination: Pagination }>(
      "GET",
      "/api/files/trash",
      { query: { page, limit: PAGE_SIZE }, ...(signal !== undefined && { signal }) },
    );
    return { entries: files, total: pagination.total };
  },
};

/** The trash: restore entries, or delete them permanently. */
export function TrashPage() {
  const canWrite = useCanWrite();
  const collection = useCollection(SOURCE);
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
            <p className="flex min-h-11 items-center text-sm text-muted">{text.explained}</p>
          )}
          <ContextMenu items={canWrite ? items : []}>
            <div ref={frame} className="flex min-h-0 flex-1 flex-col">
              {pages.total === undefined ? <ListSkeleton layout="list" /> : <TrashList collection={collection} />}
            </div>
          </ContextMenu>
        </>
      )}
      <ActionStatus />
    </Page>
  );
}

function TrashList({ collection }: { readonly collection: Collection<TrashedEntry> }) {
  const [{ density }] = useViewPreferences();
  const removing = useStore(entriesBeingRemoved);
  const display = useMemo<GridDisplay<TrashedEntry>>(
    () => ({ layout: "list", density, columns: columns(), subtitle: subtitleOf, caption: sizeOf, removing }),
    [density, removing],
  );
  return (
    <EntryGrid
      collection={collection}
      label={text.listLabel}
      display={display}
      onOpen={(_, position) => collection.select(position, "toggle")}
    />
  );
}

function columns(): GridColumn<TrashedEntry>[] {
  return [
    {
      id: "from",
      header: text.from,
      track: "minmax(6rem, 14rem)",
      render: ({ originalFolder }) => (
        <span title={originalFolder}>{originalFolder === "/" ? entriesText.home : originalFolder}</span>
      ),
    },
    { id: "deleted", header: text.deleted, track: "8.5rem", render: ({ trashedAt }) => formatRelative(trashedAt) },
    { id: "until", header: text.expires, track: "8.5rem", render: ({ expiresAt }) => formatDate(expiresAt) },
    { id: "size", header: entriesText.size, track: "6.5rem", render: sizeOf },
  ];
}

function subtitleOf({ trashedAt, expiresAt }: TrashedEntry): string {
  return text.subtitle(formatRelative(trashedAt), formatDate(expiresAt));
}
