import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo, useRef, useState } from "react";
import { keys } from "../../../api/queries.ts";
import { href } from "../../../base/address.ts";
import { useSetTextSearch, useTextSearch } from "../../../base/search-params.ts";
import { useShortcuts } from "../../../base/shortcuts.ts";
import { EntryGrid } from "../../../entries/collection/entry-grid.tsx";
import type { GridDisplay, GridSort } from "../../../entries/collection/grid-types.ts";
import { ListSkeleton } from "../../../entries/collection/list-skeleton.tsx";
import { type Collection, useCollection } from "../../../entries/collection/use-collection.ts";
import { entryQuery } from "../../../entries/entry-query.ts";
import { afterFocusReturns } from "../../../entries/focus.ts";
import { useGoToFolder } from "../../../entries/folder-address.ts";
import { useListSort } from "../../../entries/list-sort.ts";
import { useViewPreferences } from "../../../entries/preferences.ts";
import { filePage, type PreviewSource } from "../../../entries/preview-source.ts";
import { text } from "../../../entries/sharing/text.ts";
import { text as entriesText } from "../../../entries/text.ts";
import { useColumns } from "../../../entries/use-columns.ts";
import { useFilePreview } from "../../../entries/use-preview.tsx";
import { ViewOptions } from "../../../entries/view-options.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { ErrorState } from "../../../ui/error-state.tsx";
import { IconButton } from "../../../ui/icon-button.tsx";
import { Share2 } from "../../../ui/icons.ts";
import { LinkButton } from "../../../ui/link-button.tsx";
import { ContextMenu } from "../../../ui/menu.tsx";
import { MoreMenu } from "../../../ui/more-menu.tsx";
import { Page } from "../../../ui/page.tsx";
import { Select } from "../../../ui/select.tsx";
import { SelectionToolbar } from "../../../ui/selection-toolbar.tsx";
import { showError } from "../../../ui/toast.tsx";
import {
  COLUMNS,
  type Filter,
  kindIcon,
  type OwnShare,
  SORTS,
  sharedItem,
  subtitleOf,
  useOwnShares,
} from "./own-shares.tsx";
import { type ShareAction, useShareActions } from "./share-actions.tsx";
import { SharedTabs } from "./shared-tabs.tsx";

const NOTHING_REMOVED: ReadonlySet<string> = new Set();

/** All shares that the account has created, with their state and statistics. */
export function SharedByMePage() {
  const { show } = useTextSearch();
  const filter: Filter = show === "open" || show === "closed" ? show : "all";
  const sort = useListSort("by-me", SORTS);
  const collection = useCollection(useOwnShares(sort, filter));
  const { pages } = collection;
  return (
    <Page title={text.byMeTitle} fill>
      <SharedTabs current="/shared/by-me" />
      {pages.error !== undefined ? (
        <ErrorState error={pages.error} onRetry={pages.refetch} />
      ) : pages.total === 0 && filter === "all" ? (
        <EmptyState
          icon={Share2}
          title={text.byMeEmpty}
          action={<LinkButton href={href("/files")}>{text.goToFiles}</LinkButton>}
        >
          {text.byMeEmptyHint}
        </EmptyState>
      ) : (
        <ShareList collection={collection} sort={sort} filter={filter} />
      )}
    </Page>
  );
}

function ShareList({
  collection,
  sort,
  filter,
}: {
  readonly collection: Collection<OwnShare>;
  readonly sort: GridSort;
  readonly filter: Filter;
}) {
  const { pages, count, selection } = collection;
  const frame = useRef<HTMLDivElement>(null);
  const focusList = () =>
    afterFocusReturns(() => frame.current?.querySelector<HTMLElement>('[data-position][tabindex="0"]')?.focus());
  const [menuTarget, setMenuTarget] = useState<OwnShare>();
  const { open, preview } = useOpenShared(focusList);
  const selected = selection.kind === "some" && count === 1 ? [...selection.entries.values()][0] : undefined;
  const { actions, dialog } = useShareActions(menuTarget ?? selected, {
    open,
    resolve: () => (menuTarget === undefined ? collection.resolve() : Promise.resolve([menuTarget])),
    onDone: (ids) => {
      collection.forget(ids);
      focusList();
    },
  });
  const end = actions.at(-1);
  useShortcuts(text.byMeTitle, end === undefined ? [] : [{ ...end, keys: "delete", when: () => count > 0 }]);
  const display = useDisplay(collection);
  return (
    <>
      <Bar collection={collection} sort={sort} filter={filter} actions={actions} />
      <ContextMenu items={actions} onClosed={() => setMenuTarget(undefined)}>
        <div ref={frame} className="flex min-h-0 flex-1 flex-col">
          {pages.total === undefined && <ListSkeleton layout="list" />}
          {pages.total === 0 && <p className="py-8 text-center text-muted">{text.noneOfFilter}</p>}
          {pages.total !== undefined && pages.total > 0 && (
            <EntryGrid<OwnShare>
              collection={collection}
              label={text.byMeList}
              display={display}
              sort={sort}
              onOpen={open}
              onMenuTarget={setMenuTarget}
            />
          )}
        </div>
      </ContextMenu>
      {dialog}
      {preview}
    </>
  );
}

/** The filter and the view options, or the actions on the selected shares. */
function Bar({
  collection,
  sort,
  filter,
  actions,
}: {
  readonly collection: Collection<OwnShare>;
  readonly sort: GridSort;
  readonly filter: Filter;
  readonly actions: readonly ShareAction[];
}) {
  const setSearch = useSetTextSearch();
  const { pages, count } = collection;
  if (count > 0) {
    return (
      <div className="mb-1 h-11 shrink-0">
        <SelectionToolbar count={count} onClear={collection.clear}>
          {actions.map(({ label, icon, run }) => (
            <IconButton key={label} label={label} icon={icon} onClick={run} className="max-sm:hidden" />
          ))}
          <span className="sm:hidden">
            <MoreMenu label={entriesText.more} items={actions} />
          </span>
        </SelectionToolbar>
      </div>
    );
  }
  return (
    <div className="mb-1 flex h-11 shrink-0 items-center justify-between gap-2">
      <span className="shrink-0 text-sm text-muted">
        {pages.total !== undefined && entriesText.items({ n: pages.total })}
      </span>
      <div className="flex min-w-0 items-center gap-1">
        <Select
          label={text.filter}
          isLabelHidden
          className="min-w-0"
          value={filter}
          onChange={(value) => setSearch({ show: value === "all" ? undefined : value })}
          options={[
            { value: "all", label: text.filterAll },
            { value: "open", label: text.filterOpen },
            { value: "closed", label: text.filterClosed },
          ]}
        />
        <ViewOptions sort={sort} hasTiles={false} />
      </div>
    </div>
  );
}

function useDisplay(collection: Collection<OwnShare>): GridDisplay<OwnShare> {
  const [{ density }] = useViewPreferences();
  const columns = useColumns("by-me", COLUMNS, collection);
  return useMemo(
    () => ({
      layout: "list",
      density,
      columns,
      subtitle: subtitleOf,
      caption: subtitleOf,
      thumbnailOf: kindIcon,
      removing: NOTHING_REMOVED,
    }),
    [density, columns],
  );
}

/** Opens what is shared: a file in the preview, a folder or an album on its page. */
function useOpenShared(focusList: () => void) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const goToFolder = useGoToFolder();
  const { open: openFile, preview } = useFilePreview(ONE_FILE, { onClosed: focusList });
  const open = ({ share }: OwnShare) => {
    const item = sharedItem(share);
    if (item?.type === "file") openFile(item.id);
    if (item?.type === "album") void navigate({ to: "/albums/$albumId", params: { albumId: item.id } });
    if (item?.type !== "folder") return;
    const goTo = async () => {
      const folder = await queryClient.fetchQuery(entryQuery(item.id));
      if (folder.type === "folder") goToFolder(folder.path);
    };
    goTo().catch(showError);
  };
  return { open, preview };
}

/** The list has shares, not files, so the preview shows one file without its neighbors. */
const ONE_FILE: PreviewSource = {
  key: [...keys.files, "shared one by one"],
  fetchPage: (page) => Promise.resolve(filePage([], page, 0)),
  findPage: () => Promise.resolve(undefined),
};
