import { ArrowDownUp, CheckCheck, ClipboardPaste, FilePen, FileText, FolderUp, FolderX } from "lucide-react";
import { FolderOpen, FolderPlus, Upload } from "../../ui/icons.ts";
import { Link } from "@tanstack/react-router";
import { type ReactNode, Suspense, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
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
import { dropFiles } from "../uploads/drop-files.ts";
import { uploads } from "../uploads/uploads.ts";
import { Breadcrumbs, type Crumb, crumbsAbove } from "./breadcrumbs.tsx";
import { type FocusBefore, takeFocus } from "../../entries/focus.ts";
import { EntryBrowser, type EntryBrowserProps } from "../../entries/entry-browser.tsx";
import type { GridSort } from "../../entries/collection/grid-types.ts";
import { PAGE_SIZE } from "../../entries/collection/page-window.ts";
import type { NewFileKind } from "../../entries/dialogs/new-file-dialog.tsx";
import { folderFiles } from "../../entries/preview-source.ts";
import { useCollection } from "../../entries/collection/use-collection.ts";
import type { PageSource } from "../../entries/collection/read-pages.ts";
import { ActionStatus } from "../../entries/actions/action-status.tsx";
import { usePaste } from "../../entries/actions/use-clip-commands.ts";
import { folderName, useEntryActions } from "../../entries/actions/use-entry-actions.ts";
import { columnsOf } from "../../entries/entry-columns.tsx";
import { parentOf, useGoToFolder } from "../../entries/folder-address.ts";
import { sortOptions, useListSort } from "../../entries/list-sort.ts";
import { text } from "../../entries/text.ts";
import { sortItems } from "../../entries/view-options.tsx";
import { saveListState, findListState } from "./list-states.ts";
import { useCanWrite } from "../../api/session.ts";

const NewFolderDialog = lazyPart(() =>
  import("../../entries/dialogs/new-folder-dialog.tsx").then((part) => part.NewFolderDialog),
);
const NewFileDialog = lazyPart(() =>
  import("../../entries/dialogs/new-file-dialog.tsx").then((part) => part.NewFileDialog),
);

/** The value of `dialog=` in the address. */
const NEW_FOLDER = "new-folder";

/** The dialogs that create something in the folder. */
type NewEntryDialog = typeof NEW_FOLDER | NewFileKind;

/** Set when a folder is opened from a list, so that the next list takes the focus. */
let openedFromList = false;

/** How the list of a folder that another account shares differs from that of an own folder. */
export interface SharedFolder {
  /** The id of the share, which all paths are below. */
  readonly id: string;
  /** The name of the folder that is shared. */
  readonly name: string;
  readonly canWrite: boolean;
  readonly crumbs: readonly Crumb[];
  readonly actions: ReactNode;
  goTo(path: string): void;
}

/** One folder: its path, its content and the actions on it. */
export function FolderView({
  folder,
  historyKey,
  share,
}: {
  readonly folder: string;
  readonly historyKey: string;
  readonly share?: SharedFolder;
}) {
  const shareId = share?.id;
  const canWrite = useCanWrite() && share?.canWrite !== false;
  const { open: openDialog } = useOverlay("dialog");
  const goToOwnFolder = useGoToFolder();
  const goToFolder = share?.goTo ?? goToOwnFolder;

  const { openedAt, savedState, takesFocusFrom } = useOpening(historyKey);
  const sort = useListSort(share === undefined ? "files" : "received", SORTS);
  const collection = useCollection(useFolderSource(folder, sort, shareId), savedState?.cursor ?? 0);
  useEffect(() => saveListState(openedAt, { cursor: collection.cursor }), [openedAt, collection.cursor]);

  const goTo = (path: string) => {
    openedFromList = true;
    goToFolder(path);
  };
  const onPaste = usePaste(canWrite ? { folder, share: shareId } : undefined);
  const create = useCallback((dialog: NewEntryDialog) => openDialog(dialog), [openDialog]);
  useFolderCommands({ folder, share: shareId, canWrite, goTo, create, onPaste });

  const name = share !== undefined && folder === "/" ? share.name : folderName(folder);
  const crumbs = share?.crumbs ?? (folder === "/" ? [] : crumbsAbove(folder));
  const { pages } = collection;
  const isMissing = pages.error instanceof ApiError && pages.error.status === 404;
  return (
    <Page
      title={name}
      breadcrumbs={crumbs.length > 0 && <Breadcrumbs crumbs={crumbs} />}
      actions={share?.actions}
      fill
      keepFocus={takesFocusFrom !== undefined}
    >
      <DropZone
        folder={folder}
        share={shareId}
        disabled={!canWrite || isMissing}
        className="flex min-h-0 flex-1 flex-col"
      >
        {isMissing ? (
          <MissingFolder />
        ) : pages.error !== undefined ? (
          <ErrorState error={pages.error} onRetry={pages.refetch} />
        ) : pages.total === 0 ? (
          <EmptyFolder {...{ canWrite, folder, takesFocusFrom, create, onPaste }} share={shareId} />
        ) : (
          <FolderContent
            {...{ folder, name, collection, sort, onPaste, takesFocusFrom }}
            share={shareId}
            onOpenFolder={goTo}
            onCreate={canWrite ? create : undefined}
            startOffset={savedState?.offset ?? 0}
            onScrolled={(offset) => saveListState(openedAt, { offset })}
          />
        )}
      </DropZone>
      <NewEntry folder={folder} share={shareId} />
    </Page>
  );
}

/** How the folder was opened, with the state of its list at that time. */
function useOpening(historyKey: string) {
  // The history entry at which this folder was opened. Changing a query parameter later does not matter.
  const [openedAt] = useState(historyKey);
  const [savedState] = useState(() => findListState(historyKey));
  const [takesFocus] = useState(() => openedFromList || savedState !== undefined);
  const before = useRef<Element>(null);
  // The entry that was opened is removed by now, but not a link of the frame.
  useLayoutEffect(() => {
    before.current = document.activeElement;
    openedFromList = false;
  }, []);
  return { openedAt, savedState, takesFocusFrom: takesFocus ? before : undefined };
}

/** The dialog for a new folder or file, if the address opens it. */
function NewEntry({ folder, share }: { readonly folder: string; readonly share: string | undefined }) {
  const { value, close } = useOverlay("dialog");
  const { makeFolder } = useEntryActions();
  return (
    <Suspense fallback={null}>
      {value === NEW_FOLDER && (
        <HasAddress value={true}>
          <NewFolderDialog make={(name) => makeFolder(name, folder, share)} onClose={close} />
        </HasAddress>
      )}
      {(value === "new-text" || value === "new-markdown") && (
        <HasAddress value={true}>
          <NewFileDialog key={value} kind={value} folder={folder} share={share} onClose={close} />
        </HasAddress>
      )}
    </Suspense>
  );
}

/** The listing of a folder in the preferred order. */
function useFolderSource(
  folder: string,
  { field: sort, order }: GridSort,
  share: string | undefined,
): PageSource<Entry> {
  return useMemo(
    () => ({
      key: keys.listing(folder, { sort, order, share }),
      scope: `${share ?? ""}${folder}`,
      fetchPage: async (page, signal) => {
        const { files, pagination } = await request<Listing>("GET", "/api/files", {
          query: { folder, share, sort, order, page, limit: PAGE_SIZE },
          ...(signal !== undefined && { signal }),
        });
        return { entries: files, total: pagination.total };
      },
    }),
    [folder, share, sort, order],
  );
}

/** The entries of the "New" button and the shortcuts of a folder. */
function useFolderCommands({
  folder,
  share,
  canWrite,
  goTo,
  create,
  onPaste,
}: {
  readonly folder: string;
  readonly share: string | undefined;
  readonly canWrite: boolean;
  readonly goTo: (path: string) => void;
  /** The same function in each render. */
  readonly create: (dialog: NewEntryDialog) => void;
  readonly onPaste: (() => void) | undefined;
}): void {
  useNewMenu(
    useMemo(
      () => ({
        // The uploads that the button adds go to own folders.
        items: canWrite ? newItems({ folder, share, create, onPaste }) : [],
        folder,
        canUpload: canWrite && share === undefined,
      }),
      [canWrite, folder, share, create, onPaste],
    ),
  );
  useShortcuts(text.shortcuts, [
    { keys: "backspace alt+arrowup", label: text.goUp, run: () => folder !== "/" && goTo(parentOf(folder)) },
    ...(canWrite ? [{ keys: "shift+n", label: text.newFolder, run: () => create(NEW_FOLDER) }] : []),
  ]);
}

function FolderContent({
  folder,
  name,
  share,
  collection,
  sort,
  onCreate,
  onPaste,
  ...browser
}: Pick<
  EntryBrowserProps<Entry>,
  "folder" | "collection" | "onOpenFolder" | "takesFocusFrom" | "startOffset" | "onScrolled"
> & {
  readonly name: string;
  readonly share: string | undefined;
  readonly sort: GridSort;
  /** Undefined for people who may only read. */
  readonly onCreate: ((dialog: NewEntryDialog) => void) | undefined;
  readonly onPaste: (() => void) | undefined;
}) {
  const { field, order } = sort;
  const previewSource = useMemo(
    () => folderFiles({ folder, sort: field, order, ...(share !== undefined && { share }) }),
    [folder, field, order, share],
  );
  return (
    <EntryBrowser
      {...browser}
      previewSource={previewSource}
      sort={sort}
      backgroundItems={[
        ...(onCreate === undefined ? [] : [...addItems({ folder, share, create: onCreate, onPaste }), null]),
        { label: text.selectAll, icon: CheckCheck, keys: "mod+a", run: collection.selectAll },
        { label: text.sortBy, icon: ArrowDownUp, items: sortItems(sort) },
      ]}
      folder={folder}
      onDropFiles={dropFiles}
      collection={collection}
      label={text.listLabel({ folder: name })}
      kind={share === undefined ? "files" : "received"}
      columns={COLUMNS}
    />
  );
}

/** The entries of the menu that add something to a folder. */
function addItems({
  folder,
  share,
  create,
  onPaste,
}: {
  readonly folder: string;
  readonly share: string | undefined;
  readonly create: (dialog: NewEntryDialog) => void;
  readonly onPaste: (() => void) | undefined;
}): MenuItem[] {
  return [
    { label: text.newFolder, icon: FolderPlus, keys: "shift+n", run: () => create(NEW_FOLDER) },
    { label: text.newTextFile, icon: FileText, run: () => create("new-text") },
    { label: text.newMarkdownFile, icon: FilePen, run: () => create("new-markdown") },
    { label: text.uploadFiles, icon: Upload, run: () => void uploads.pickFiles(folder, { share }) },
    {
      label: text.uploadFolder,
      icon: FolderUp,
      run: () => void uploads.pickFolder(folder, { share }).catch(showError),
    },
    ...pasteItems(onPaste),
  ];
}

function pasteItems(onPaste: (() => void) | undefined): MenuItem[] {
  return onPaste === undefined ? [] : [{ label: text.paste, icon: ClipboardPaste, keys: "mod+v", run: onPaste }];
}

/** The entries of the "New" button. In own folders, it adds the uploads itself. */
function newItems(options: Parameters<typeof addItems>[0]): MenuItem[] {
  if (options.share !== undefined) return addItems(options);
  return [...addItems(options).slice(0, 3), ...pasteItems(options.onPaste)];
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
  share,
  create,
  onPaste,
  takesFocusFrom,
}: {
  readonly canWrite: boolean;
  readonly folder: string;
  readonly share: string | undefined;
  readonly create: (dialog: NewEntryDialog) => void;
  readonly onPaste: (() => void) | undefined;
  readonly takesFocusFrom: FocusBefore | undefined;
}): ReactNode {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (takesFocusFrom !== undefined) takeFocus(ref.current, takesFocusFrom);
  }, [takesFocusFrom]);
  return (
    <ContextMenu items={canWrite ? addItems({ folder, share, create, onPaste }) : []}>
      <div ref={ref} tabIndex={-1} className="flex flex-1 flex-col outline-none">
        <EmptyState
          icon={FolderOpen}
          title={text.emptyTitle}
          {...(canWrite && {
            action: (
              <Button icon={Upload} variant="primary" onClick={() => void uploads.pickFiles(folder, { share })}>
                {text.uploadFiles}
              </Button>
            ),
          })}
        >
          {canWrite ? <EmptyHint /> : text.emptyReadOnly}
        </EmptyState>
        <ActionStatus />
      </div>
    </ContextMenu>
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
