import { useQueryClient } from "@tanstack/react-query";
import { RotateCcw } from "lucide-react";
import { Trash2, X } from "../../ui/icons.ts";
import { useMemo, useRef } from "react";
import { messageOf, request } from "../../api/http.ts";
import { invalidateTree, keys } from "../../api/queries.ts";
import type { Pagination, TrashedEntry } from "../../api/types.ts";
import { Page } from "../../ui/page.tsx";
import { useSession } from "../../api/session.ts";
import { useShortcuts } from "../../base/shortcuts.ts";
import { useStore } from "../../base/store.ts";
import { Button } from "../../ui/button.tsx";
import { useConfirm } from "../../ui/confirm.tsx";
import { ContextMenu } from "../../ui/context-menu.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorState } from "../../ui/error-state.tsx";
import { formatDate, formatRelative } from "../../base/format.ts";
import { IconButton } from "../../ui/icon-button.tsx";
import type { MenuItem } from "../../ui/menu-items.ts";
import { toast } from "../../ui/toast.tsx";
import { EntryGrid } from "../../entries/collection/entry-grid.tsx";
import type { GridColumn, GridLook } from "../../entries/collection/grid-types.ts";
import { ListSkeleton } from "../../entries/collection/list-skeleton.tsx";
import { PAGE_SIZE } from "../../entries/collection/page-window.ts";
import { useCollection } from "../../entries/collection/use-collection.ts";
import type { PageSource } from "../../entries/collection/use-pages.ts";
import { ActionStatus, showRunning } from "../../entries/actions/action-status.tsx";
import { leaving, useEntryActions } from "../../entries/actions/use-entry-actions.ts";
import { sizeOf } from "../../entries/entry-columns.tsx";
import { afterFocusReturns } from "../../entries/focus.ts";
import { useViewPreferences } from "../../entries/preferences.ts";
import { text as browseText } from "../../entries/text.ts";
import { deletePermanently } from "./delete-permanently.ts";
import { text } from "./text.ts";

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
  const queryClient = useQueryClient();
  const confirm = useConfirm();
  const actions = useEntryActions();
  const collection = useCollection(SOURCE);
  const { pages, count } = collection;
  const [{ density }] = useViewPreferences();
  const leavingIds = useStore(leaving);
  const frame = useRef<HTMLDivElement>(null);
  const look = useMemo<GridLook<TrashedEntry>>(
    () => ({ layout: "list", density, columns: columns(), subtitle: subtitleOf, caption: sizeOf, leaving: leavingIds }),
    [density, leavingIds],
  );

  const focusList = () =>
    afterFocusReturns(() => frame.current?.querySelector<HTMLElement>('[data-position][tabindex="0"]')?.focus());
  /** Runs an action, shows its error, and refreshes all lists. */
  const runAction = async (action: () => Promise<void>) => {
    try {
      await action();
    } catch (error) {
      toast({ text: messageOf(error), tone: "danger" });
    } finally {
      showRunning(undefined);
      await invalidateTree(queryClient);
      focusList();
    }
  };
  const restore = () =>
    void runAction(async () => {
      collection.forget(await actions.restore(await collection.resolve()));
    });
  const remove = () =>
    runAction(async () => {
      // Read before the confirmation, so that nothing is deleted that was trashed after it.
      const entries = await collection.resolve();
      const isSure = await confirm({
        title: text.confirmRemoveTitle(entries.length),
        body: text.confirmRemoveBody,
        action: text.remove,
        danger: true,
      });
      if (isSure) collection.forget(await deletePermanently(entries));
    });
  const empty = async () => {
    const isSure = await confirm({
      title: text.confirmEmptyTitle,
      body: text.confirmEmptyBody(pages.total ?? 0),
      action: text.empty,
      danger: true,
    });
    if (!isSure) return;
    await runAction(async () => {
      showRunning({ title: text.deleting, done: 0, of: undefined });
      const { deleted } = await request<{ deleted: number }>("DELETE", "/api/files/trash");
      collection.clear();
      toast({ text: text.deletedPermanently(deleted) });
    });
  };

  const items = (): readonly MenuItem[] =>
    canWrite
      ? [
          { label: text.restore, icon: RotateCcw, run: restore },
          null,
          { label: text.remove, icon: Trash2, keys: "delete", danger: true, run: () => void remove() },
        ]
      : [];
  useShortcuts(
    text.title,
    canWrite ? [{ keys: "delete", label: text.remove, run: () => void remove(), when: () => count > 0 }] : [],
  );

  return (
    <Page
      title={text.title}
      fill
      {...(canWrite &&
        (pages.total ?? 0) > 0 && {
          actions: (
            <Button icon={Trash2} onClick={() => void empty()}>
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
            <div
              role="toolbar"
              aria-label={browseText.selectionBar}
              className="flex min-h-11 items-center gap-1 rounded-xl bg-accent-soft px-1"
            >
              <IconButton label={browseText.clearSelection} icon={X} onClick={collection.clear} />
              <span className="me-auto truncate text-sm font-medium">{browseText.selected(count)}</span>
              <Button variant="quiet" icon={RotateCcw} onClick={restore}>
                {text.restore}
              </Button>
              <Button variant="quiet" icon={Trash2} className="max-sm:hidden" onClick={() => void remove()}>
                {text.remove}
              </Button>
              <IconButton label={text.remove} icon={Trash2} className="sm:hidden" onClick={() => void remove()} />
            </div>
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
                  look={look}
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

function columns(): GridColumn<TrashedEntry>[] {
  return [
    {
      id: "from",
      header: text.from,
      track: "minmax(6rem, 14rem)",
      render: ({ originalFolder }) => (
        <span title={originalFolder}>{originalFolder === "/" ? browseText.home : originalFolder}</span>
      ),
    },
    { id: "deleted", header: text.deleted, track: "8.5rem", render: ({ trashedAt }) => formatRelative(trashedAt) },
    { id: "until", header: text.expires, track: "8.5rem", render: ({ expiresAt }) => formatDate(expiresAt) },
    { id: "size", header: browseText.size, track: "6.5rem", render: sizeOf },
  ];
}

function subtitleOf({ trashedAt, expiresAt }: TrashedEntry): string {
  return text.subtitle(formatRelative(trashedAt), formatDate(expiresAt));
}
