import { BookImage, PenLine } from "lucide-react";
import { Copy, Download, Eye, FolderInput, FolderOpen, Info, Share2, Star, Tag, Trash2 } from "../../ui/icons.ts";
import { type ReactNode, useState } from "react";
import type { Entry } from "../../api/types.ts";
import { useShortcuts } from "../../base/shortcuts.ts";
import { createStore } from "../../base/store.ts";
import type { MenuItem } from "../../ui/menu-items.ts";
import type { DragRules } from "../collection/use-entry-drag.ts";
import { newDraft } from "../collection/entry-name.tsx";
import type { Renaming } from "../collection/grid-types.ts";
import type { Collection } from "../collection/use-collection.ts";
import { canMoveInto } from "./bulk.ts";
import { downloadEntries } from "./download.ts";
import { ActionStatus, showRunning } from "./action-status.tsx";
import { useEntryActions } from "./use-entry-actions.ts";
import { useOpenEntryDialog } from "../dialogs/entry-dialog-address.ts";
import { EntryDialogs } from "../dialogs/entry-dialogs.tsx";
import { text } from "../text.ts";
import { showError } from "../../ui/toast.tsx";
import { useCanWrite } from "../../api/session.ts";
import { ignore } from "../../base/ignore.ts";

/** Actions on the selected entries. */
export interface SelectionActions {
  readonly canWrite: boolean;
  /** The entries of the selection's menu. */
  items(): readonly MenuItem[];
  download(): void;
  move(): void;
  trash(): void;
  /** Undefined if the person may not share. */
  share: (() => void) | undefined;
  /** Whether all selected entries are favorites. */
  readonly areFavorites: boolean;
  toggleFavorite(): void;
  readonly renaming: Renaming | undefined;
  readonly drag: DragRules<Entry> | undefined;
  /** The dialogs of the actions; the page must render them. */
  readonly dialogs: ReactNode;
}

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
  /** Returns the focus to the list. */
  focusList(): void;
}

/** The actions of a list of files, for its menu, toolbar, shortcuts and drag and drop. */
export function useSelectionActions<T extends Entry>(options: SelectionActionsOptions<T>): SelectionActions {
  const { collection, menuTarget, folder, onOpen, areDetailsOpen, onDetails, focusList } = options;
  const canWrite = useCanWrite();
  const entryActions = useEntryActions();
  const openDialog = useOpenEntryDialog();
  const [renamed, setRenamed] = useState<Pick<Renaming, "id" | "draft">>();
  const { selection, count } = collection;
  const known = selection.kind === "some" ? [...selection.entries.values()] : [];
  const only = menuTarget ?? (count === 1 && known.length === 1 ? known[0] : undefined);

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
  const moveTo = (entries: readonly Entry[], to: string) => forgetAfter(entryActions.move(entries, to));

  const download = () => withSelected(downloadEntries);
  const trash = () => withSelected((entries) => forgetAfter(entryActions.trash(entries)));
  const choose = (kind: "move" | "copy" | "tags" | "album") => withSelected((entries) => openDialog(kind, entries));
  const canShare = canWrite && (menuTarget !== undefined || count > 0);
  const share = canShare ? () => withSelected((entries) => openDialog("share", entries)) : undefined;
  const { areFavorites, toggleFavorite } = useFavoriteToggle(collection, known, withSelected);
  const rename = () => {
    const entry = only ?? (count === 0 ? collection.pages.at(collection.cursor) : undefined);
    if (entry !== undefined) setRenamed({ id: entry.id, draft: createStore(newDraft(entry)) });
  };

  const commands = { only, open: onOpen, download, share, toggleFavorite, rename, choose, details: onDetails, trash };
  const items = () => menuItems(commands, { canWrite, areDetailsOpen, areFavorites, hasFiles: mayHaveFiles(known) });
  useSelectionShortcuts(commands, { canWrite, hasSelection: count > 0 });

  const renaming: Renaming | undefined = renamed && {
    ...renamed,
    save: entryActions.rename,
    end: () => {
      // The response may come when the next name is already being edited.
      setRenamed((now) => (now?.draft === renamed.draft ? undefined : now));
      focusList();
    },
  };
  return {
    canWrite,
    items,
    download,
    move: () => choose("move"),
    trash,
    share,
    areFavorites,
    toggleFavorite,
    renaming,
    drag: canWrite
      ? {
          canDrop: canMoveInto,
          onDrop: (to, entries) =>
            entries === undefined ? withSelected((all) => moveTo(all, to)) : moveTo(entries, to),
        }
      : undefined,
    dialogs: [
      <ActionStatus key="status" />,
      <EntryDialogs key="dialogs" from={folder} onMoved={forget} onClosed={focusList} />,
    ],
  };
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

/** The actions that the menu and the shortcuts offer. */
interface Commands<T extends Entry> {
  /** The only selected entry. */
  readonly only: T | undefined;
  open(entry: T): void;
  download(): void;
  readonly share: (() => void) | undefined;
  rename(): void;
  toggleFavorite(): void;
  choose(kind: "move" | "copy" | "tags" | "album"): void;
  details(): void;
  trash(): void;
}

interface MenuState {
  readonly canWrite: boolean;
  readonly areDetailsOpen: boolean;
  /** Whether all selected entries are favorites. */
  readonly areFavorites: boolean;
  readonly hasFiles: boolean;
}

function menuItems<T extends Entry>(
  { only, open, download, share, toggleFavorite, rename, choose, details, trash }: Commands<T>,
  { canWrite, areDetailsOpen, areFavorites, hasFiles }: MenuState,
): readonly MenuItem[] {
  return [
    ...(only === undefined
      ? []
      : [{ label: text.open, icon: only.type === "folder" ? FolderOpen : Eye, keys: "enter", run: () => open(only) }]),
    { label: only?.type === "file" ? text.download : text.downloadZip, icon: Download, run: download },
    ...(share === undefined ? [] : [{ label: text.share, icon: Share2, run: share }]),
    ...(canWrite
      ? [
          {
            label: areFavorites ? text.removeFavorite : text.addFavorite,
            icon: Star,
            keys: "shift+s",
            run: toggleFavorite,
          },
          ...(hasFiles ? [{ label: text.addToAlbum, icon: BookImage, run: () => choose("album") }] : []),
          null,
          ...(only === undefined ? [] : [{ label: text.rename, icon: PenLine, keys: "f2", run: rename }]),
          { label: text.move, icon: FolderInput, run: () => choose("move") },
          { label: text.copy, icon: Copy, run: () => choose("copy") },
          ...(hasFiles ? [{ label: text.editTags, icon: Tag, run: () => choose("tags") }] : []),
        ]
      : []),
    null,
    { label: areDetailsOpen ? text.hideDetails : text.details, icon: Info, keys: "i", run: details },
    ...(canWrite ? [null, { label: text.remove, icon: Trash2, keys: "delete", danger: true, run: trash }] : []),
  ];
}

function useSelectionShortcuts<T extends Entry>(
  { rename, toggleFavorite, choose, details, trash }: Commands<T>,
  { canWrite, hasSelection }: { readonly canWrite: boolean; readonly hasSelection: boolean },
): void {
  const when = () => hasSelection;
  useShortcuts(text.shortcuts, [
    { keys: "enter", label: text.keyOpen, run: ignore, listedOnly: true },
    { keys: "space", label: text.keySelect, run: ignore, listedOnly: true },
    { keys: "shift+arrowdown", label: text.keyRange, run: ignore, listedOnly: true },
    { keys: "mod+a", label: text.keySelectAll, run: ignore, listedOnly: true },
    { keys: "i", label: text.details, run: details },
    ...(canWrite
      ? [
          { keys: "f2", label: text.rename, run: rename },
          { keys: "shift+s", label: text.addFavorite, run: toggleFavorite },
          { keys: "delete", label: text.remove, run: trash, when },
          { keys: "shift+m", label: text.move, run: () => choose("move"), when },
        ]
      : []),
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
