import { ArrowDownUp, CheckCheck, FolderUp, FolderX } from "lucide-react";
import { FolderOpen, FolderPlus, Upload } from "../../ui/icons.ts";
import { Link } from "@tanstack/react-router";
import { type ReactNode, Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { ApiError, request } from "../../api/http.ts";
import { keys } from "../../api/queries.ts";
import type { Entry, Listing } from "../../api/types.ts";
import { Page } from "../../ui/page.tsx";
import { useNewMenu } from "../../ui/new-menu.ts";
import { useShortcuts } from "../../base/shortcuts.ts";
import { Button, buttonClassName } from "../../ui/button.tsx";
import { HasAddress } from "../../ui/dialog.tsx";
import { useOverlay } from "../../base/overlays.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorState } from "../../ui/error-state.tsx";
import { ContextMenu } from "../../ui/menu.tsx";
import { lazyPart } from "../../ui/lazy-part.ts";
import type { MenuItem } from "../../ui/menu-items.ts";
import { showError } from "../../ui/toast.tsx";
import { DropZone } from "../uploads/drop-zone.tsx";
import { uploads } from "../uploads/uploads.ts";
import { Breadcrumbs } from "./breadcrumbs.tsx";
import { EntryBrowser, type EntryBrowserProps } from "../../entries/entry-browser.tsx";
import type { GridSort } from "../../entries/collection/grid-types.ts";
import { ItemCount } from "../../entries/item-count.tsx";
import { PAGE_SIZE } from "../../entries/collection/page-window.ts";
import { folderFiles } from "../../entries/preview-source.ts";
import { useCollection } from "../../entries/collection/use-collection.ts";
import type { PageSource } from "../../entries/collection/read-pages.ts";
import { folderName, useEntryActions } from "../../entries/actions/use-entry-actions.ts";
import { columnsOf } from "../../entries/entry-columns.tsx";
import { parentOf, useGoToFolder } from "../../entries/folder-address.ts";
import { sortOptions, useListSort } from "../../entries/list-sort.ts";
import { text } from "../../entries/text.ts";
import { sortItems, ViewOptions } from "../../entries/view-options.tsx";
import { saveListState, findListState } from "./list-states.ts";
import { useCanWrite } from "../../api/session.ts";

const NewFolderDialog = lazyPart(() =>
  import("../../entries/dialogs/new-folder-dialog.tsx").then((part) => part.NewFolderDialog),
);

/** The value of `dialog=` in the address. */
const NEW_FOLDER = "new-folder";

/** Set when a folder is opened from a list, so that the next list takes the focus. */
let openedFromList = false;

/** One folder: its path, its content and the actions on it. */
export function FolderView({ folder, historyKey }: { readonly folder: string; readonly historyKey: string }) {
  const canWrite = useCanWrite();
  const creating = useOverlay("dialog");
  const { open: openDialog } = creating;
  const { makeFolder } = useEntryActions();
  const goToFolder = useGoToFolder();

  // The history entry at which this folder was opened. Changing a query parameter later does not matter.
  const [openedAt] = useState(historyKey);
  const [savedState] = useState(() => findListState(historyKey));
  const [takesFocus] = useState(() => openedFromList || savedState !== undefined);
  useEffect(() => {
    openedFromList = false;
  }, []);
  const sort = useListSort("files", SORTS);
  const collection = useCollection(useFolderSource(folder, sort), savedState?.cursor ?? 0);
  useEffect(() => saveListState(openedAt, { cursor: collection.cursor }), [openedAt, collection.cursor]);

  const goTo = (path: string) => {
    openedFromList = true;
    goToFolder(path);
  };
  const createFolder = useCallback(() => openDialog(NEW_FOLDER), [openDialog]);
  useFolderCommands({ folder, canWrite, goTo, createFolder });

  const { pages } = collection;
  const isMissing = pages.error instanceof ApiError && pages.error.status === 404;
  return (
    <Page
      title={folderName(folder)}
      breadcrumbs={folder !== "/" && <Breadcrumbs folder={folder} />}
      fill
      keepFocus={takesFocus}
    >
      <DropZone folder={folder} disabled={!canWrite || isMissing} className="flex min-h-0 flex-1 flex-col">
        {isMissing ? (
          <MissingFolder />
        ) : pages.error !== undefined ? (
          <ErrorState error={pages.error} onRetry={pages.refetch} />
        ) : pages.total === 0 ? (
          <ContextMenu items={canWrite ? addItems(folder, createFolder) : []}>
            <div className="flex flex-1 flex-col">
              <EmptyFolder canWrite={canWrite} folder={folder} takesFocus={takesFocus} />
            </div>
          </ContextMenu>
        ) : (
          <FolderContent
            folder={folder}
            collection={collection}
            sort={sort}
            onOpenFolder={goTo}
            onCreateFolder={canWrite ? createFolder : undefined}
            takesFocus={takesFocus}
            startOffset={savedState?.offset ?? 0}
            onScrolled={(offset) => saveListState(openedAt, { offset })}
          />
        )}
      </DropZone>
      <Suspense fallback={null}>
        {creating.value === NEW_FOLDER && (
          <HasAddress value={true}>
            <NewFolderDialog make={(newName) => makeFolder(newName, folder)} onClose={creating.close} />
          </HasAddress>
        )}
      </Suspense>
    </Page>
  );
}

/** The listing of a folder in the preferred order. */
function useFolderSource(folder: string, { field: sort, order }: GridSort): PageSource<Entry> {
  return useMemo(
    () => ({
      key: keys.listing(folder, { sort, order }),
      scope: folder,
      fetchPage: async (page, signal) => {
        const { files, pagination } = await request<Listing>("GET", "/api/files", {
          query: { folder, sort, order, page, limit: PAGE_SIZE },
          ...(signal !== undefined && { signal }),
        });
        return { entries: files, total: pagination.total };
      },
    }),
    [folder, sort, order],
  );
}

/** The entries of the "New" button and the shortcuts of a folder. */
function useFolderCommands({
  folder,
  canWrite,
  goTo,
  createFolder,
}: {
  readonly folder: string;
  readonly canWrite: boolean;
  readonly goTo: (path: string) => void;
  /** The same function in each render. */
  readonly createFolder: () => void;
}): void {
  useNewMenu(
    useMemo(
      () => ({
        items: canWrite ? [{ label: text.newFolder, icon: FolderPlus, keys: "shift+n", run: createFolder }] : [],
        folder,
        canUpload: canWrite,
      }),
      [canWrite, folder, createFolder],
    ),
  );
  useShortcuts(text.shortcuts, [
    { keys: "backspace alt+arrowup", label: text.goUp, run: () => folder !== "/" && goTo(parentOf(folder)) },
    ...(canWrite ? [{ keys: "shift+n", label: text.newFolder, run: createFolder }] : []),
  ]);
}

function FolderContent({
  folder,
  collection,
  sort,
  onCreateFolder,
  ...browser
}: Pick<
  EntryBrowserProps<Entry>,
  "folder" | "collection" | "onOpenFolder" | "takesFocus" | "startOffset" | "onScrolled"
> & {
  readonly sort: GridSort;
  /** Undefined for people who may only read. */
  readonly onCreateFolder: (() => void) | undefined;
}) {
  const { field, order } = sort;
  const previewSource = useMemo(() => folderFiles({ folder, sort: field, order }), [folder, field, order]);
  return (
    <EntryBrowser
      {...browser}
      previewSource={previewSource}
      sort={sort}
      backgroundItems={[
        ...(onCreateFolder === undefined ? [] : [...addItems(folder, onCreateFolder), null]),
        { label: text.selectAll, icon: CheckCheck, keys: "mod+a", run: collection.selectAll },
        { label: text.sortBy, icon: ArrowDownUp, items: sortItems(sort) },
      ]}
      folder={folder}
      collection={collection}
      label={text.listLabel(folderName(folder))}
      kind="files"
      columns={COLUMNS}
      toolbar={
        <>
          <ItemCount collection={collection} />
          <div className="flex shrink-0">
            <ViewOptions sort={sort} />
          </div>
        </>
      }
    />
  );
}

/** The entries of the menu that add something to a folder. */
function addItems(folder: string, createFolder: () => void): MenuItem[] {
  return [
    { label: text.newFolder, icon: FolderPlus, keys: "shift+n", run: createFolder },
    { label: text.uploadFiles, icon: Upload, run: () => void uploads.pickFiles(folder) },
    { label: text.uploadFolder, icon: FolderUp, run: () => void uploads.pickFolder(folder).catch(showError) },
  ];
}

function MissingFolder() {
  return (
    <EmptyState
      icon={FolderX}
      title={text.folderNotFound}
      action={
        <Link to="/files" className={buttonClassName({ variant: "primary" })}>
          {text.toFiles}
        </Link>
      }
    >
      {text.folderNotFoundHint}
    </EmptyState>
  );
}

const COLUMNS = columnsOf(["tags", "type", "modified", "uploaded", "size"]);
const SORTS = sortOptions(["natural", "fileModifiedAt", "createdAt", "size"]);

/**
 * Explains how to fill a folder. If it was opened from a list, this takes the focus, because there is no entry to
 * focus.
 */
function EmptyFolder({
  canWrite,
  folder,
  takesFocus,
}: {
  readonly canWrite: boolean;
  readonly folder: string;
  readonly takesFocus: boolean;
}): ReactNode {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (takesFocus) ref.current?.focus();
  }, [takesFocus]);
  return (
    <div ref={ref} tabIndex={-1} className="flex flex-1 flex-col justify-center outline-none">
      <EmptyState
        icon={FolderOpen}
        title={text.emptyTitle}
        {...(canWrite && {
          action: (
            <Button icon={Upload} variant="primary" onClick={() => void uploads.pickFiles(folder)}>
              {text.uploadFiles}
            </Button>
          ),
        })}
      >
        {canWrite ? <EmptyHint /> : text.emptyReadOnly}
      </EmptyState>
    </div>
  );
}

/** A finger can't drop files, and phones have a round button instead of New. */
function EmptyHint() {
  return (
    <>
      <span className="pointer-coarse:hidden">{text.emptyHint}</span>
      <span className="hidden pointer-coarse:inline">{text.emptyHintTouch}</span>
    </>
  );
}
