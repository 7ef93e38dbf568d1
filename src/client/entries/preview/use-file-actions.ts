import { BookImage, Film, PenLine } from "lucide-react";
import type { FileRecord } from "../../api/types.ts";
import { useCanWrite } from "../../api/session.ts";
import { Download, FolderInput, Info, Share2, Star, Tag, Trash2 } from "../../ui/icons.ts";
import { type EntryActions, useEntryActions } from "../actions/use-entry-actions.ts";
import { type EntryDialogKind, useOpenEntryDialog } from "../dialogs/entry-dialog-address.ts";
import { canMove, NO_RIGHTS, useRightsOf } from "../rights.ts";
import { hasMotion, motionAddress } from "../live.ts";
import { text as entriesText } from "../text.ts";
import type { PreviewAction } from "./actions.ts";
import { downloadAddress } from "./addresses.ts";
import { text } from "./text.ts";
import { useContentActions } from "./use-content-actions.ts";

/** Options of {@link useFileActions}. */
interface FileActionsOptions {
  readonly hasDetails: boolean;
  onDetails(): void;
  /** Called before the file is moved to the trash: the next one follows. */
  onTrash(): void;
}

/** The actions that the preview offers for a file, in the order of the bar. */
export function useFileActions(
  file: FileRecord | undefined,
  { hasDetails, onDetails, onTrash }: FileActionsOptions,
): readonly PreviewAction[] {
  const openDialog = useOpenEntryDialog();
  const { trash, favorite } = useEntryActions();
  const contentActions = useContentActions(file);
  const rightsOf = useRightsOf();
  const canWrite = useCanWrite();
  if (file === undefined) return [];
  const rights = canWrite ? rightsOf(file) : NO_RIGHTS;
  const { isOwn, canManage, canChange } = rights;
  const open = (kind: EntryDialogKind) => () => openDialog(kind, [file]);
  const moveToTrash = () => {
    onTrash();
    void trash([file], { canUndo: isOwn });
  };
  const offered: readonly [isOffered: boolean, action: PreviewAction][] = [
    [isOwn, { label: entriesText.share, icon: Share2, shownIn: "bar", run: open("share") }],
    [true, downloadAction(file, canManage ? "wide" : "bar")],
    [canWrite, favoriteAction(file, favorite)],
    [true, { label: text.details, icon: Info, keys: "i", shownIn: "wide", isPressed: hasDetails, run: onDetails }],
    [canManage, { label: entriesText.remove, icon: Trash2, keys: "delete", shownIn: "bar", run: moveToTrash }],
    [canManage, { label: entriesText.rename, icon: PenLine, keys: "f2", run: open("rename") }],
    [canMove(rights), { label: entriesText.move, icon: FolderInput, keys: "shift+m", run: open("move") }],
    [isOwn, { label: entriesText.addToAlbum, icon: BookImage, run: open("album") }],
    [hasMotion(file), { label: text.downloadVideo, icon: Film, href: motionAddress(file, false), download: "" }],
    [canChange, { label: entriesText.editTags, icon: Tag, run: open("tags") }],
  ];
  return [...contentActions, ...offered.flatMap(([isOffered, action]) => (isOffered ? [action] : []))];
}

function downloadAction(file: FileRecord, shownIn: "wide" | "bar"): PreviewAction {
  return {
    label: text.download,
    name: text.downloadOf({ name: file.name }),
    icon: Download,
    keys: "d",
    shownIn,
    href: downloadAddress(file),
    download: file.name,
  };
}

function favoriteAction(file: FileRecord, favorite: EntryActions["favorite"]): PreviewAction {
  const isFavorite = file.isFavorite === true;
  return {
    label: isFavorite ? entriesText.removeFavorite : entriesText.addFavorite,
    icon: Star,
    keys: "shift+s",
    shownIn: "wide",
    isPressed: isFavorite,
    run: () => void favorite([file], !isFavorite),
  };
}
