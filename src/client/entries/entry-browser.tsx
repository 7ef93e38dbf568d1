import { type ReactNode, Suspense, useDeferredValue, useMemo, useRef } from "react";
import type { Entry } from "../api/types.ts";
import { useStore } from "../base/store.ts";
import { ContextMenu } from "../ui/context-menu.tsx";
import { lazyPart } from "../ui/lazy-part.ts";
import { EntryGrid } from "./collection/entry-grid.tsx";
import type { GridColumn, GridLook, GridSort } from "./collection/grid-types.ts";
import { ListSkeleton } from "./collection/list-skeleton.tsx";
import type { Collection } from "./collection/use-collection.ts";
import { useIsDragging } from "./collection/use-entry-drag.ts";
import { afterFocusReturns } from "./focus.ts";
import { leaving } from "./actions/use-entry-actions.ts";
import { detailsOpen } from "./details-store.ts";
import { sizeOf, subtitleOf } from "./entry-columns.tsx";
import { useViewPreferences } from "./preferences.ts";
import { SelectionBar } from "./actions/selection-bar.tsx";
import { useSelectionActions } from "./actions/use-selection-actions.tsx";
import { usePreview } from "./use-preview.tsx";

const DetailsPanel = lazyPart(() => import("./details/details-panel.tsx").then((part) => part.DetailsPanel));

/** Props of {@link EntryBrowser}. */
export interface EntryBrowserProps<T extends Entry> {
  readonly collection: Collection<T>;
  readonly label: string;
  /** The current folder, at which folder choosers open. */
  readonly folder: string;
  readonly columns: readonly GridColumn<T>[];
  readonly sort?: GridSort;
  onOpenFolder(path: string): void;
  nameOf?(entry: T): ReactNode;
  subtitle?(entry: T): string;
  /** Shown above the list while nothing is selected. */
  readonly toolbar: ReactNode;
  readonly takesFocus?: boolean;
  readonly startOffset?: number;
  onScrolled?(offset: number): void;
}

/** A list of files and folders with all actions on them. The files page and the search page are built around it. */
export function EntryBrowser<T extends Entry>(props: EntryBrowserProps<T>) {
  const { collection, folder, columns, nameOf, subtitle = subtitleOf, onOpenFolder } = props;
  const { pages, selection, count, cursor } = collection;
  const [{ layout, density }] = useViewPreferences();
  const areDetailsOpen = useStore(detailsOpen);
  const leavingIds = useStore(leaving);
  const isDragging = useIsDragging();
  const frame = useRef<HTMLDivElement>(null);
  // Deferred, because the first rendering of a list takes long enough to delay key presses. A deferred rendering can be
  // interrupted.
  const isKnown = useDeferredValue(pages.total !== undefined);

  const focusCursor = () => {
    if (document.querySelector('[role="dialog"], [role="alertdialog"]') !== null) return;
    // The person may be typing the next name already.
    if (document.activeElement instanceof HTMLInputElement && frame.current?.contains(document.activeElement)) return;
    frame.current?.querySelector<HTMLElement>('[data-position][tabindex="0"]')?.focus({ preventScroll: true });
  };
  const focusList = () => afterFocusReturns(focusCursor);
  const { open: openPreview, preview } = usePreview(collection, focusList);
  const onOpen = (entry: T, position: number) =>
    entry.type === "folder" ? onOpenFolder(entry.path) : openPreview(position);
  const actions = useSelectionActions({
    collection,
    folder,
    onOpen: (entry) => {
      const found = [...pages.known()].find(([, known]) => known.id === entry.id);
      if (found !== undefined) onOpen(entry, found[0]);
    },
    areDetailsOpen,
    onDetails: () => detailsOpen.update((isOpen) => !isOpen),
    focusList,
  });

  const { renaming, drag } = actions;
  const look = useMemo<GridLook<T>>(
    () => ({
      layout,
      density,
      columns,
      subtitle,
      caption: sizeOf,
      renaming,
      leaving: leavingIds,
      ...(nameOf !== undefined && { nameOf }),
    }),
    [layout, density, columns, subtitle, renaming, leavingIds, nameOf],
  );
  const selected = selection.kind === "some" && count === 1 ? [...selection.entries.values()][0] : undefined;
  const detailed = selected ?? (count === 0 ? pages.at(cursor) : undefined);

  return (
    <>
      {/* A fixed height, so that an item does not move between the two clicks of a double click. */}
      <div className="mb-1 h-11 shrink-0">
        {count > 0 && !isDragging ? (
          <SelectionBar
            count={count}
            isLoading={collection.isLoadingSelection}
            actions={actions}
            onSelectAll={collection.selectAll}
            onClear={() => {
              collection.clear();
              focusList();
            }}
          />
        ) : (
          <div className="flex h-full items-center justify-between gap-2">{props.toolbar}</div>
        )}
      </div>
      <div className="flex min-h-0 flex-1 gap-3">
        {/* A list, not a function: the click that opens the menu may have changed the selection. */}
        <ContextMenu items={actions.items()}>
          <div ref={frame} className="flex min-h-0 min-w-0 flex-1 flex-col">
            {!isKnown || pages.total === undefined ? (
              <ListSkeleton layout={layout} />
            ) : (
              <EntryGrid
                collection={collection}
                label={props.label}
                look={look}
                sort={props.sort}
                onOpen={onOpen}
                drag={drag}
                takesFocus={props.takesFocus ?? false}
                {...(props.startOffset !== undefined && { startOffset: props.startOffset })}
                {...(props.onScrolled !== undefined && { onScrolled: props.onScrolled })}
              />
            )}
          </div>
        </ContextMenu>
        <Suspense fallback={null}>
          {areDetailsOpen && detailed !== undefined && (
            <DetailsPanel entry={detailed} onClose={() => detailsOpen.set(false)} />
          )}
        </Suspense>
      </div>
      {preview}
      {actions.dialogs}
    </>
  );
}
