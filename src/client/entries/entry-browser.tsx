import { type ReactNode, Suspense, useDeferredValue, useMemo, useRef, useState } from "react";
import type { Entry } from "../api/types.ts";
import { useCanWrite } from "../api/session.ts";
import { useStore } from "../base/store.ts";
import { HasAddress } from "../ui/dialog.tsx";
import { ContextMenu } from "../ui/menu.tsx";
import { lazyPart } from "../ui/lazy-part.ts";
import type { MenuItem } from "../ui/menu-items.ts";
import { EntryGrid } from "./collection/entry-grid.tsx";
import type { Destination } from "./actions/bulk.ts";
import { useCutIds } from "./clipboard.ts";
import type { GridColumn, GridDisplay, GridSort } from "./collection/grid-types.ts";
import { ListSkeleton } from "./collection/list-skeleton.tsx";
import type { Collection } from "./collection/use-collection.ts";
import { useIsDragging } from "./collection/entry-drop.ts";
import type { FolderDrops } from "./collection/use-entry-drag.ts";
import { afterFocusReturns, type FocusBefore } from "./focus.ts";
import { entriesBeingRemoved } from "./actions/use-entry-actions.ts";
import { sizeOf, subtitleOf } from "./entry-columns.tsx";
import { useViewPreferences } from "./preferences.ts";
import type { ListKind } from "./read-preferences.ts";
import { canAddTo, useRightsOf } from "./rights.ts";
import { ItemCount } from "./item-count.tsx";
import { useColumns } from "./use-columns.ts";
import { SelectionBar } from "./actions/selection-bar.tsx";
import { type ExtraItems, type SelectionActions, useSelectionActions } from "./actions/use-selection-actions.tsx";
import { usePreview } from "./use-preview.tsx";
import { ViewOptions } from "./view-options.tsx";
import type { PreviewSource } from "./preview-source.ts";
import { type DetailsState, useDetailsState } from "./details-state.ts";

const DetailsPanel = lazyPart(() => import("./details/details-panel.tsx").then((part) => part.DetailsPanel));

/** Props of {@link EntryBrowser}. */
export interface EntryBrowserProps<T extends Entry> {
  readonly collection: Collection<T>;
  readonly label: string;
  /** The current folder, at which folder choosers open. */
  readonly folder: string;
  /** Where a drop on a folder goes; by default to its path, where its rights allow it. */
  destinationOf?(folder: T): Destination | undefined;
  /** Takes files from the desktop that are dropped on a folder. */
  onDropFiles?(to: Destination, transfer: DataTransfer): void;
  /** What the list is remembered as on this device. */
  readonly kind: ListKind;
  /** Every column that the list can have. */
  readonly columns: readonly GridColumn<T>[];
  readonly sort?: GridSort;
  /** The menu of the empty space around the entries. */
  readonly backgroundItems?: readonly MenuItem[];
  onOpenFolder(path: string, folder: T): void;
  nameOf?(entry: T): ReactNode;
  subtitle?(entry: T): ReactNode;
  /** A further line below the name in lists. */
  excerptOf?(entry: T): ReactNode;
  /** Shown in place of a thumbnail for entries that have none. */
  thumbnailOf?(entry: T, size: "small" | "medium"): ReactNode;
  /** Actions of the page, at the end of the menu. */
  readonly extraItems?: ExtraItems<T>;
  /** Shown above the list while nothing is selected, next to the view options; by default the number of entries. */
  readonly summary?: ReactNode;
  /** The files that the preview goes through; by default those of the collection. */
  readonly previewSource?: PreviewSource;
  readonly takesFocusFrom?: FocusBefore | undefined;
  readonly startOffset?: number;
  onScrolled?(offset: number): void;
}

/** A list of files and folders with all actions on them. The files page and the search page are built around it. */
export function EntryBrowser<T extends Entry>(props: EntryBrowserProps<T>) {
  const { collection, folder, onOpenFolder } = props;
  const { pages, count } = collection;
  const frame = useRef<HTMLDivElement>(null);
  // Deferred and so interruptible: the first rendering of a list takes long enough to delay key presses.
  const isKnown = useDeferredValue(pages.total !== undefined);

  const focusList = () => afterFocusReturns(() => focusCursor(frame.current));
  const { open: openPreview, preview } = usePreview(collection, focusList, { source: props.previewSource });
  const onOpen = (entry: T) => (entry.type === "folder" ? onOpenFolder(entry.path, entry) : openPreview(entry.id));
  const [menuTarget, setMenuTarget] = useState<T>();
  const details = useDetailsState(useDescribed(menuTarget ?? pointedBy(collection)), pages);
  const actions = useSelectionActions({
    collection,
    menuTarget,
    folder,
    onOpen,
    areDetailsOpen: details.isOpen,
    onDetails: details.toggle,
    extraItems: props.extraItems,
    focusList,
  });

  const display = useDisplay(props, actions.renaming);
  const drops = useFolderDrops(props);
  const onClear = () => {
    collection.clear();
    focusList();
  };
  return (
    <>
      <Bar collection={collection} actions={actions} summary={props.summary} sort={props.sort} onClear={onClear} />
      <div className="flex min-h-0 flex-1 gap-3">
        {/* A list, not a function: the click that opens the menu may have changed the selection. It must not be empty
            before, because an empty menu does not open. */}
        <ContextMenu
          items={(count === 0 && menuTarget === undefined && props.backgroundItems) || actions.items()}
          onClosed={() => setMenuTarget(undefined)}
        >
          <div ref={frame} className="flex min-h-0 min-w-0 flex-1 flex-col">
            {!isKnown || pages.total === undefined ? (
              <ListSkeleton layout={display.layout} />
            ) : (
              <EntryGrid<T>
                collection={collection}
                label={props.label}
                display={display}
                sort={props.sort}
                onOpen={onOpen}
                onMenuTarget={setMenuTarget}
                drag={actions.drag}
                drops={drops}
                hasBackgroundMenu={props.backgroundItems !== undefined}
                takesFocusFrom={props.takesFocusFrom}
                {...(props.startOffset !== undefined && { startOffset: props.startOffset })}
                {...(props.onScrolled !== undefined && { onScrolled: props.onScrolled })}
              />
            )}
          </div>
        </ContextMenu>
        <Details {...details} />
      </div>
      {preview}
      {actions.dialogs}
    </>
  );
}

/** The only selected entry; without a selection, the one at the cursor. */
function pointedBy<T extends Entry>({ pages, selection, count, cursor }: Collection<T>): T | undefined {
  if (count === 0) return pages.at(cursor);
  return selection.kind === "some" && count === 1 ? [...selection.entries.values()][0] : undefined;
}

/** The folders of the list that take entries and files. */
function useFolderDrops<T extends Entry>({ destinationOf, onDropFiles }: EntryBrowserProps<T>): FolderDrops<T> {
  const rightsOf = useRightsOf();
  const canWrite = useCanWrite();
  const byRights = (folder: T): Destination | undefined => {
    const rights = rightsOf(folder);
    return folder.type === "folder" && canAddTo(rights) ? { folder: folder.path, share: rights.share } : undefined;
  };
  return { destinationOf: (folder) => (canWrite ? (destinationOf ?? byRights)(folder) : undefined), onDropFiles };
}

/** The entry if it has details: albums between files and folders have none. */
function useDescribed(entry: Entry | undefined): Entry | undefined {
  const rightsOf = useRightsOf();
  return entry !== undefined && rightsOf(entry).isFileOrFolder ? entry : undefined;
}

function Details({ isOpen, entry, hasAddress, close }: DetailsState) {
  return (
    <Suspense fallback={null}>
      {isOpen && entry !== undefined && (
        <HasAddress value={hasAddress}>
          <DetailsPanel entry={entry} onClose={close} />
        </HasAddress>
      )}
    </Suspense>
  );
}

/** The summary and the view options, or the toolbar of the selection if there is one. */
function Bar<T extends Entry>({
  collection,
  actions,
  summary = <ItemCount collection={collection} />,
  sort,
  onClear,
}: Pick<EntryBrowserProps<T>, "collection" | "summary"> & {
  readonly sort: GridSort | undefined;
  readonly actions: SelectionActions;
  readonly onClear: () => void;
}) {
  const isDragging = useIsDragging();
  return (
    // A fixed height, so that an item does not move between the two clicks of a double click.
    <div className="mb-1 h-11 shrink-0">
      {collection.count > 0 && !isDragging ? (
        <SelectionBar
          count={collection.count}
          isLoading={collection.isLoadingSelection}
          actions={actions}
          onSelectAll={collection.selectAll}
          onClear={onClear}
        />
      ) : (
        <div className="flex h-full items-center justify-between gap-2">
          {summary}
          <div className="flex shrink-0">
            <ViewOptions sort={sort} />
          </div>
        </div>
      )}
    </div>
  );
}

/** How the entries are shown: by the preferences of this browser and the page. */
function useDisplay<T extends Entry>(
  {
    collection,
    kind,
    columns: allColumns,
    nameOf,
    excerptOf,
    thumbnailOf,
    subtitle = subtitleOf,
  }: EntryBrowserProps<T>,
  renaming: SelectionActions["renaming"],
): GridDisplay<T> {
  const [{ layout, density }] = useViewPreferences();
  const removing = useStore(entriesBeingRemoved);
  const cut = useCutIds();
  const columns = useColumns(kind, allColumns, collection);
  return useMemo<GridDisplay<T>>(
    () => ({
      layout,
      density,
      columns,
      subtitle,
      caption: sizeOf,
      renaming,
      removing,
      cut,
      ...(nameOf !== undefined && { nameOf }),
      ...(excerptOf !== undefined && { excerptOf }),
      ...(thumbnailOf !== undefined && { thumbnailOf }),
    }),
    [layout, density, columns, subtitle, renaming, removing, cut, nameOf, excerptOf, thumbnailOf],
  );
}

/** Focuses the entry at the cursor, unless a dialog or menu is open. */
function focusCursor(frame: HTMLElement | null): void {
  if (document.querySelector('[role="dialog"], [role="alertdialog"], [role="menu"]') !== null) return;
  // The person may be typing already: the next name, or in the search field.
  if (document.activeElement instanceof HTMLInputElement) return;
  frame?.querySelector<HTMLElement>('[data-position][tabindex="0"]')?.focus({ preventScroll: true });
}
