import { PenLine } from "lucide-react";
import { Copy, Download, Eye, FolderInput, FolderOpen, Info, Share2, Tag, Trash2 } from "../../ui/icons.ts";
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
  /** Undefined unless exactly one entry is selected. */
  share: (() => void) | undefined;
  readonly renaming: Renaming | undefined;
  readonly drag: DragRules<Entry> | undefined;
  /** The dialogs of the actions; the page must render them. */
  readonly dialogs: ReactNode;
}

/** Options of {@link useSelectionActions}. */
interface SelectionActionsOptions<T extends Entry> {
  readonly collection: Collection<T>;
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
  const { collection, folder, onOpen, areDetailsOpen, onDetails, focusList } = options;
  const canWrite = useCanWrite();
  const entryActions = useEntryActions();
  const openDialog = useOpenEntryDialog();
  const [renamed, setRenamed] = useState<Pick<Renaming, "id" | "draft">>();
  const { selection, count } = collection;
  const known = selection.kind === "some" ? [...selection.entries.values()] : [];
  const only = count === 1 && known.length === 1 ? known[0] : undefined;

  /** Runs an action on all selected entries. */
  const withSelected = (action: (entries: readonly T[]) => unknown) => {
    void resolveAll(collection).then(action).catch(showError);
  };
  const forget = (ids: readonly string[]) => {
    collection.forget(ids);
    focusList();
  };
  const forgetAfter = (action: Promise<readonly string[]>) => void action.then(forget);
  const moveTo = (entries: readonly Entry[], to: string) => forgetAfter(entryActions.move(entries, to));

  const download = () => withSelected(downloadEntries);
  const trash = () => withSelected((entries) => forgetAfter(entryActions.trash(entries)));
  const choose = (kind: "move" | "copy" | "tags") => withSelected((entries) => openDialog(kind, entries));
  const share = only === undefined || !canWrite ? undefined : () => openDialog("share", [only]);
  const rename = () => {
    const entry = only ?? (count === 0 ? collection.pages.at(collection.cursor) : undefined);
    if (entry !== undefined) setRenamed({ id: entry.id, draft: createStore(newDraft(entry)) });
  };

  const commands = { only, open: onOpen, download, share, rename, choose, details: onDetails, trash };
  const items = () => menuItems(commands, { canWrite, areDetailsOpen });
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
    renaming,
    drag: canWrite
      ? {
          canDrop: canMoveInto,
          onDrop: (to, entries) =>
            entries === undefined ? withSelected((all) => moveTo(all, to)) : moveTo(entries, to),
        }
      : undefined,
    dialogs: (
      <>
        <ActionStatus />
        <EntryDialogs from={folder} onMoved={forget} onClosed={focusList} />
      </>
    ),
  };
}

/** The actions that the menu and the shortcuts offer. */
interface Commands<T extends Entry> {
  /** The only selected entry. */
  readonly only: T | undefined;
  open(entry: T): void;
  download(): void;
  readonly share: (() => void) | undefined;
  rename(): void;
  choose(kind: "move" | "copy" | "tags"): void;
  details(): void;
  trash(): void;
}

function menuItems<T extends Entry>(
  { only, open, download, share, rename, choose, details, trash }: Commands<T>,
  { canWrite, areDetailsOpen }: { readonly canWrite: boolean; readonly areDetailsOpen: boolean },
): readonly MenuItem[] {
  return [
    ...(only === undefined
      ? []
      : [{ label: text.open, icon: only.type === "folder" ? FolderOpen : Eye, keys: "enter", run: () => open(only) }]),
    { label: only?.type === "file" ? text.download : text.downloadZip, icon: Download, run: download },
    ...(share === undefined ? [] : [{ label: text.share, icon: Share2, run: share }]),
    ...(canWrite
      ? [
          null,
          ...(only === undefined ? [] : [{ label: text.rename, icon: PenLine, keys: "f2", run: rename }]),
          { label: text.move, icon: FolderInput, run: () => choose("move") },
          { label: text.copy, icon: Copy, run: () => choose("copy") },
          { label: text.editTags, icon: Tag, run: () => choose("tags") },
        ]
      : []),
    null,
    { label: areDetailsOpen ? text.hideDetails : text.details, icon: Info, keys: "i", run: details },
    ...(canWrite ? [null, { label: text.remove, icon: Trash2, keys: "delete", danger: true, run: trash }] : []),
  ];
}

function useSelectionShortcuts<T extends Entry>(
  { rename, choose, details, trash }: Commands<T>,
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
