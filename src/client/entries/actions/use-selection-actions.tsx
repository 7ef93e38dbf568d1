import { BookImage, ClipboardPaste, CopyPlus, PackageOpen, PenLine, Scissors, SquarePen } from "lucide-react";
import { Copy, Download, Eye, FolderInput, FolderOpen, Info, Share2, Star, Tag, Trash2 } from "../../ui/icons.ts";
import { type ReactNode, useMemo, useState } from "react";
import type { Entry } from "../../api/types.ts";
import { useShortcuts } from "../../base/shortcuts.ts";
import { createStore } from "../../base/store.ts";
import type { MenuItem } from "../../ui/menu-items.ts";
import type { DropAction } from "../collection/entry-drop.ts";
import type { DragRules } from "../collection/use-entry-drag.ts";
import { newDraft } from "../collection/entry-name.tsx";
import type { Renaming } from "../collection/grid-types.ts";
import type { Collection } from "../collection/use-collection.ts";
import { canDropInto } from "./bulk.ts";
import { downloadEntries } from "./download.ts";
import { usePinItem } from "../pins/use-pin-item.ts";
import { ActionStatus, showRunning } from "./action-status.tsx";
import { canMove, commonRights, type EntryRights, useRightsOf } from "../rights.ts";
import { type ClipCommands, useClipCommands, usePasteInto } from "./use-clip-commands.ts";
import { type EntryActions, useEntryActions } from "./use-entry-actions.ts";
import { useOpenEntryDialog } from "../dialogs/entry-dialog-address.ts";
import { isArchive } from "../archives/archive-type.ts";
import { text as archivesText } from "../archives/text.ts";
import { useExtract } from "../archives/use-extract.ts";
import { isEditableText, useOpenEditor } from "../editing/edit-text.ts";
import { EntryDialogs } from "../dialogs/entry-dialogs.tsx";
import { text } from "../text.ts";
import { showError } from "../../ui/toast.tsx";
import { useCanWrite } from "../../api/session.ts";
import { ignore } from "../../base/ignore.ts";

/** Actions on the selected entries. */
export interface SelectionActions {
  /** The entries of the selection's menu. */
  items(): readonly MenuItem[];
  /** This and the following are undefined if the person may not do it with all selected entries. */
  readonly download: (() => void) | undefined;
  readonly move: (() => void) | undefined;
  readonly trash: (() => void) | undefined;
  readonly share: (() => void) | undefined;
  /** Whether all selected entries are favorites. */
  readonly areFavorites: boolean;
  readonly toggleFavorite: (() => void) | undefined;
  readonly renaming: Renaming | undefined;
  readonly drag: DragRules<Entry> | undefined;
  /** The dialogs of the actions; the page must render them. */
  readonly dialogs: ReactNode;
}

/** @param withSelected runs an action on all selected entries */
export type ExtraItems<T extends Entry> = (
  withSelected: (action: (entries: readonly T[]) => unknown) => void,
) => readonly MenuItem[];

/** Options of {@link useSelectionActions}. */
interface SelectionActionsOptions<T extends Entry> {
  readonly collection: Collection<T>;
  /** The entry that the menu is open for, instead of the selection. */
  readonly menuTarget: T | undefined;
  /** The current folder, at which the destination dialog opens. */
  readonly folder: string;
  onOpen(entry: T): void;
  readonly areDetailsOpen: boolean;
  onDetails(): void;
  /** Actions of the page, at the end of the menu. */
  readonly extraItems?: ExtraItems<T> | undefined;
  /** Returns the focus to the list. */
  focusList(): void;
}

/** The actions of a list of files, for its menu, toolbar, shortcuts and drag and drop. */
export function useSelectionActions<T extends Entry>(options: SelectionActionsOptions<T>): SelectionActions {
  const { collection, menuTarget, folder, onOpen, areDetailsOpen, onDetails, focusList } = options;
  const canWrite = useCanWrite();
  const entryActions = useEntryActions();
  const openDialog = useOpenEntryDialog();
  const { selection, count } = collection;
  const known = selection.kind === "some" ? [...selection.entries.values()] : [];
  const only = menuTarget ?? (count === 1 && known.length === 1 ? known[0] : undefined);
  const rights = useRights(collection, menuTarget, known);

  /** Runs an action on all selected entries. */
  const withSelected = (action: (entries: readonly T[]) => unknown) => {
    const entries = menuTarget === undefined ? resolveAll(collection) : Promise.resolve([menuTarget]);
    void entries.then(action).catch(showError);
  };
  const forget = (ids: readonly string[]) => {
    collection.forget(ids);
    focusList();
  };
  const forgetAfter = (action: Promise<readonly string[]>) => void action.then(forget);
  const choose = (kind: "move" | "copy" | "tags" | "album" | "share") => () =>
    withSelected((entries) => openDialog(kind, entries));
  const { areFavorites, toggleFavorite } = useFavoriteToggle(collection, known, withSelected);
  const { renaming, rename } = useRenaming(collection, only, focusList);
  const trash = () => withSelected((entries) => forgetAfter(entryActions.trash(entries, { canUndo: rights.isOwn })));

  const clip = useClipCommands({ withSelected, rights, known, count });
  const isOwn = canWrite && rights.isOwn;
  const commands: Commands<T> = {
    ...clip,
    only,
    open: onOpen,
    ...useContentCommands(only, canWrite, rights),
    pasteInto: usePasteInto(only, rights),
    download: when(rights.isFileOrFolder, () => withSelected(downloadEntries)),
    share: when(isOwn && (menuTarget !== undefined || count > 0), choose("share")),
    toggleFavorite: when(canWrite && rights.isFileOrFolder, toggleFavorite),
    album: when(isOwn && mayHaveFiles(known), choose("album")),
    rename: when(canWrite && rights.canManage, rename),
    move: when(canWrite && canMove(rights), choose("move")),
    copy: when(canWrite && rights.isFileOrFolder, choose("copy")),
    tags: when(canWrite && rights.canChange && mayHaveFiles(known), choose("tags")),
    details: when(rights.isFileOrFolder, onDetails),
    trash: when(canWrite && rights.canManage, trash),
  };
  useSelectionShortcuts(commands, count > 0);
  const pin = usePinItem(only);

  return {
    ...commands,
    items: () => [
      ...menuItems(commands, { areDetailsOpen, areFavorites, pin }),
      ...(options.extraItems?.(withSelected) ?? []),
    ],
    areFavorites,
    renaming,
    drag: canWrite && rights.isFileOrFolder ? dragRules(rights, entryActions, withSelected, forgetAfter) : undefined,
    dialogs: [
      <ActionStatus key="status" />,
      <EntryDialogs key="dialogs" from={folder} onMoved={forget} onClosed={focusList} />,
    ],
  };
}

/** What drops of dragged entries do. */
function dragRules(
  rights: EntryRights,
  actions: EntryActions,
  withSelected: (action: (entries: readonly Entry[]) => unknown) => void,
  forgetAfter: (action: Promise<readonly string[]>) => void,
): DragRules<Entry> {
  const run = (dragged: readonly Entry[] | undefined, action: (entries: readonly Entry[]) => unknown) => {
    if (dragged === undefined) withSelected(action);
    else void action(dragged);
  };
  const dropActions: Readonly<Record<DropAction, (entries: readonly Entry[]) => unknown>> = {
    favorite: (entries) => actions.favorite(entries, true),
    trash: (entries) => forgetAfter(actions.trash(entries, { canUndo: rights.isOwn })),
  };
  return {
    effectOn: dropEffects(rights),
    onDrop: (to, dragged, effect) =>
      run(dragged, (entries) =>
        effect === "copy" ? actions.copy(entries, to) : forgetAfter(actions.move(entries, to)),
      ),
    actionFor: (action) =>
      action === "trash" && !rights.canManage ? undefined : (dragged) => run(dragged, dropActions[action]),
  };
}

/** The commands that depend on what is in the only selected file. */
function useContentCommands(only: Entry | undefined, canWrite: boolean, { canChange }: EntryRights) {
  const openEditor = useOpenEditor();
  const extract = useExtract();
  const openDialog = useOpenEntryDialog();
  return {
    edit: only && when(canWrite && canChange && isEditableText(only), () => openEditor(only.id)),
    extract: only && when(canWrite && isArchive(only), () => extract(only)),
    extractTo: only && when(canWrite && isArchive(only), () => openDialog("extract", [only])),
  };
}

/** Renames the only selected entry; without a selection, the one at the cursor. */
function useRenaming<T extends Entry>(
  { pages, cursor, count }: Collection<T>,
  only: T | undefined,
  focusList: () => void,
): { readonly renaming: Renaming | undefined; readonly rename: () => void } {
  const { rename: save } = useEntryActions();
  const [renamed, setRenamed] = useState<Pick<Renaming, "id" | "draft">>();
  const rename = () => {
    const entry = only ?? (count === 0 ? pages.at(cursor) : undefined);
    if (entry !== undefined) setRenamed({ id: entry.id, draft: createStore(newDraft(entry)) });
  };
  const end = () => {
    // The response may come when the next name is already being edited.
    setRenamed((now) => (now?.draft === renamed?.draft ? undefined : now));
    focusList();
  };
  return { renaming: renamed && { ...renamed, save, end }, rename };
}

/** The rights to the entry of the menu, to the selected entries, or (for all, and without a selection) to the loaded ones. */
function useRights<T extends Entry>(
  { pages }: Collection<T>,
  menuTarget: T | undefined,
  known: readonly T[],
): EntryRights {
  const rightsOf = useRightsOf();
  const { known: loaded } = pages;
  const ofLoaded = useMemo(() => commonRights(() => loaded().values(), rightsOf), [loaded, rightsOf]);
  if (menuTarget !== undefined) return rightsOf(menuTarget);
  return known.length > 0 ? commonRights(() => known, rightsOf) : ofLoaded;
}

/** Entries are moved within their root, and copied to any other: a file stays with its owner. */
function dropEffects(rights: EntryRights): DragRules<Entry>["effectOn"] {
  return (to, entries, wantsCopy) => {
    const isSameRoot = rights.share === to.share && (rights.isOwn || rights.share !== undefined);
    const isCopy = wantsCopy || !isSameRoot || !canMove(rights);
    if (isSameRoot && !canDropInto(entries, to.folder, isCopy)) return undefined;
    return isCopy ? "copy" : "move";
  };
}

function when(isAllowed: boolean, action: () => void): (() => void) | undefined {
  return isAllowed ? action : undefined;
}

/** A selection of a whole list names no entries. */
function mayHaveFiles(known: readonly Entry[]): boolean {
  return known.length === 0 || known.some(({ type }) => type === "file");
}

/**
 * Marks the selected entries as favorites, or removes the marks if all have one. Without a selection, the entry at the
 * cursor.
 */
function useFavoriteToggle<T extends Entry>(
  { count, cursor, pages }: Collection<T>,
  known: readonly T[],
  withSelected: (action: (entries: readonly T[]) => unknown) => void,
) {
  const { favorite } = useEntryActions();
  const areFavorites = known.length > 0 && known.every(({ isFavorite }) => isFavorite === true);
  const toggleFavorite = () => {
    const pointed = count === 0 ? pages.at(cursor) : undefined;
    if (pointed !== undefined) void favorite([pointed], pointed.isFavorite !== true);
    else withSelected((entries) => favorite(entries, !areFavorites));
  };
  return { areFavorites, toggleFavorite };
}

/** The actions that the menu and the shortcuts offer; undefined if they are not allowed. */
interface Commands<T extends Entry> extends ClipCommands {
  /** The only selected entry. */
  readonly only: T | undefined;
  open(entry: T): void;
  readonly edit: (() => void) | undefined;
  readonly extract: (() => void) | undefined;
  readonly extractTo: (() => void) | undefined;
  readonly download: (() => void) | undefined;
  readonly share: (() => void) | undefined;
  readonly toggleFavorite: (() => void) | undefined;
  readonly album: (() => void) | undefined;
  readonly rename: (() => void) | undefined;
  readonly pasteInto: (() => void) | undefined;
  readonly move: (() => void) | undefined;
  readonly copy: (() => void) | undefined;
  readonly tags: (() => void) | undefined;
  readonly details: (() => void) | undefined;
  readonly trash: (() => void) | undefined;
}

interface MenuState {
  readonly areDetailsOpen: boolean;
  /** Whether all selected entries are favorites. */
  readonly areFavorites: boolean;
  /** Pins the only selected entry, or removes its pin. */
  readonly pin: ReturnType<typeof usePinItem>;
}

/** The groups of the menu, with separators between them. */
function menuItems<T extends Entry>(
  commands: Commands<T>,
  { areDetailsOpen, areFavorites, pin }: MenuState,
): MenuItem[] {
  const { only, open } = commands;
  const favorite = areFavorites ? text.removeFavorite : text.addFavorite;
  const groups = [
    [
      {
        label: text.open,
        icon: only?.type === "folder" ? FolderOpen : Eye,
        keys: "enter",
        run: only && (() => open(only)),
      },
      { label: text.edit, icon: SquarePen, keys: "e", run: commands.edit },
      { label: archivesText.extractHere, icon: PackageOpen, run: commands.extract },
      { label: archivesText.extractTo, icon: PackageOpen, run: commands.extractTo },
      { label: only?.type === "file" ? text.download : text.downloadZip, icon: Download, run: commands.download },
      { label: text.share, icon: Share2, run: commands.share },
      { label: favorite, icon: Star, keys: "shift+s", run: commands.toggleFavorite },
      ...(pin === undefined ? [] : [pin]),
      { label: text.addToAlbum, icon: BookImage, run: commands.album },
    ],
    [
      { label: text.rename, icon: PenLine, keys: "f2", run: only && commands.rename },
      { label: text.cutItems, icon: Scissors, keys: "mod+x", run: commands.cutItems },
      { label: text.copyItems, icon: Copy, keys: "mod+c", run: commands.copyItems },
      { label: text.pasteInto, icon: ClipboardPaste, run: commands.pasteInto },
      { label: text.move, icon: FolderInput, run: commands.move },
      { label: text.copy, icon: CopyPlus, run: commands.copy },
      { label: text.editTags, icon: Tag, run: commands.tags },
    ],
    [{ label: areDetailsOpen ? text.hideDetails : text.details, icon: Info, keys: "i", run: commands.details }],
    [{ label: text.remove, icon: Trash2, keys: "delete", danger: true, run: commands.trash }],
  ];
  return groups
    .map((group) => group.flatMap(({ run, ...item }): MenuItem[] => (run === undefined ? [] : [{ ...item, run }])))
    .filter((group) => group.length > 0)
    .flatMap((group, index) => (index === 0 ? group : [null, ...group]));
}

function useSelectionShortcuts<T extends Entry>(
  { edit, rename, toggleFavorite, move, details, trash }: Commands<T>,
  hasSelection: boolean,
): void {
  const isSelecting = () => hasSelection;
  const offered = [
    { keys: "i", label: text.details, run: details },
    { keys: "e", label: text.edit, run: edit },
    { keys: "f2", label: text.rename, run: rename },
    { keys: "shift+s", label: text.addFavorite, run: toggleFavorite },
    { keys: "delete", label: text.remove, run: trash, when: isSelecting },
    { keys: "shift+m", label: text.move, run: move, when: isSelecting },
  ];
  useShortcuts(text.shortcuts, [
    { keys: "enter", label: text.keyOpen, run: ignore, listedOnly: true },
    { keys: "space", label: text.keySelect, run: ignore, listedOnly: true },
    { keys: "shift+arrowdown", label: text.keyRange, run: ignore, listedOnly: true },
    { keys: "mod+a", label: text.keySelectAll, run: ignore, listedOnly: true },
    ...offered.flatMap(({ run, ...shortcut }) => (run === undefined ? [] : [{ ...shortcut, run }])),
  ]);
}

/** All selected entries. Shows the progress if they must be loaded first. */
async function resolveAll<T extends Entry>(collection: Collection<T>): Promise<T[]> {
  if (collection.selection.kind === "some") return await collection.resolve();
  try {
    return await collection.resolve((done, of) => showRunning({ title: text.gatheringItems, done, of }));
  } finally {
    showRunning(undefined);
  }
}
