import { RotateCcw } from "lucide-react";
import { Trash2, X } from "../../ui/icons.ts";
import { useMemo, useRef } from "react";
import { request } from "../../api/http.ts";
import { keys } from "../../api/queries.ts";
import type { Pagination, TrashedEntry } from "../../api/types.ts";
import { Page } from "../../ui/page.tsx";
import { useSession } from "../../api/session.ts";
import { useShortcuts } from "../../base/shortcuts.ts";
import { useStore } from "../../base/store.ts";
import { Button } from "../../ui/button.tsx";
import { ContextMenu } from "../../ui/context-menu.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorState } from "../../ui/error-state.tsx";
import { formatDate, formatRelative } from "../../base/format.ts";
import { IconButton } from "../../ui/icon-button.tsx";
import type { MenuItem } from "../../ui/menu-items.ts";
import { EntryGrid } from "../../entries/collection/entry-grid.tsx";
import type { GridColumn, GridDisplay } from "../../entries/collection/grid-types.ts";
import { ListSkeleton } from "../../entries/collection/list-skeleton.tsx";
import { PAGE_SIZE } from "../../entries/collection/page-window.ts";
import { useCollection } from "../../entries/collection/use-collection.ts";
import type { PageSource } from "../../entries/collection/read-pages.ts";
import { ActionStatus } from "../../entries/actions/action-status.tsx";
import { entriesBeingRemoved } from "../../entries/actions/use-entry-actions.ts";
import { sizeOf } from "../../entries/entry-columns.tsx";
import { afterFocusReturns } from "../../entries/focus.ts";
import { useViewPreferences } from "../../entries/preferences.ts";
import { text as entriesText } from "../../entries/text.ts";
import { text } from "./text.ts";
import { useTrashActions } from "./use-trash-actions.ts";

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
  const { user } = useSession();
  const canWrite = user.role !== "viewer";
  const collection = useCollection(SOURCE);
  const { pages, count } = collection;
  const [{ density }] = useViewPreferences();
  const removing = useStore(entriesBeingRemoved);
  const frame = useRef<HTMLDivElement>(null);
  const display = useMemo<GridDisplay<TrashedEntry>>(
    () => ({ layout: "list", density, columns: columns(), subtitle: subtitleOf, caption: sizeOf, removing }),
    [density, removing],
  );

  const focusList = () =>
    afterFocusReturns(() => frame.current?.querySelector<HTMLElement>('[data-position][tabindex="0"]')?.focus());
  const { restore, remove, empty } = useTrashActions(collection, focusList);

  const items = (): readonly MenuItem[] =>
    canWrite
      ? [
          { label: text.restore, icon: RotateCcw, run: restore },
          null,
          { label: text.remove, icon: Trash2, keys: "delete", danger: true, run: remove },
        ]
      : [];
  useShortcuts(
    text.title,
    canWrite ? [{ keys: "delete", label: text.remove, run: remove, when: () => count > 0 }] : [],
  );

  return (
    <Page
      title={text.title}
      fill
      {...(canWrite &&
        (pages.total ?? 0) > 0 && {
          actions: (
            <Button icon={Trash2} onClick={empty}>
              {text.empty}
            </Button>
          ),
        })}
    >
      {pages.error !== undefined ? (
        <ErrorState error={pages.error} onRetry={pages.refetch} />
      ) : pages.total === 0 ? (
        <EmptyState icon={Trash2} title={text.emptyTitle}>
          {text.emptyHint}
        </EmptyState>
      ) : (
        <>
          {count > 0 && canWrite ? (
            <TrashToolbar count={count} onClear={collection.clear} onRestore={restore} onRemove={remove} />
          ) : (
            <p className="flex min-h-11 items-center text-sm text-muted">{text.explained}</p>
          )}
          <ContextMenu items={items()}>
            <div ref={frame} className="flex min-h-0 flex-1 flex-col">
              {pages.total === undefined ? (
                <ListSkeleton layout="list" />
              ) : (
                <EntryGrid
                  collection={collection}
                  label={text.listLabel}
                  display={display}
                  onOpen={(_, position) => collection.select(position, "toggle")}
                />
              )}
            </div>
          </ContextMenu>
        </>
      )}
      <ActionStatus />
    </Page>
  );
}

/** The toolbar of the selection. */
function TrashToolbar({
  count,
  onClear,
  onRestore,
  onRemove,
}: {
  readonly count: number;
  readonly onClear: () => void;
  readonly onRestore: () => void;
  readonly onRemove: () => void;
}) {
  return (
    <div
      role="toolbar"
      aria-label={entriesText.selectionBar}
      className="flex min-h-11 items-center gap-1 rounded-xl bg-accent-soft px-1"
    >
      <IconButton label={entriesText.clearSelection} icon={X} onClick={onClear} />
      <span className="me-auto truncate text-sm font-medium">{entriesText.selected(count)}</span>
      <Button variant="quiet" icon={RotateCcw} onClick={onRestore}>
        {text.restore}
      </Button>
      <Button variant="quiet" icon={Trash2} className="max-sm:hidden" onClick={onRemove}>
        {text.remove}
      </Button>
      <IconButton label={text.remove} icon={Trash2} className="sm:hidden" onClick={onRemove} />
    </div>
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
