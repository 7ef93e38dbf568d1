import { BookImage, Film, PenLine } from "lucide-react";
import type { FileRecord } from "../../api/types.ts";
import { useCanWrite } from "../../api/session.ts";
import { Download, FolderInput, Info, Share2, Star, Tag, Trash2 } from "../../ui/icons.ts";
import { useEntryActions } from "../actions/use-entry-actions.ts";
import { useOpenEntryDialog } from "../dialogs/entry-dialog-address.ts";
import { hasMotion, motionAddress } from "../live.ts";
import { text as entriesText } from "../text.ts";
import type { PreviewAction } from "./actions.ts";
import { downloadAddress } from "./addresses.ts";
import { text } from "./text.ts";
import { useContentActions } from "./use-content-actions.ts";

/** Options of {@link useFileActions}. */
interface FileActionsOptions {
  /** Whether the person may share, change, and trash the file. */
  readonly canChange: boolean;
  readonly hasDetails: boolean;
  onDetails(): void;
  /** Called before the file is moved to the trash: the next one follows. */
  onTrash(): void;
}

/** The actions that the preview offers for a file, in the order of the bar. */
export function useFileActions(
  file: FileRecord | undefined,
  { canChange, hasDetails, onDetails, onTrash }: FileActionsOptions,
): readonly PreviewAction[] {
  const openDialog = useOpenEntryDialog();
  const { trash, favorite } = useEntryActions();
  const contentActions = useContentActions(file);
  const canMark = useCanWrite();
  if (file === undefined) return [];
  const details: PreviewAction = {
    label: text.details,
    icon: Info,
    keys: "i",
    shownIn: "wide",
    isPressed: hasDetails,
    run: onDetails,
  };
  const download: PreviewAction = {
    label: text.download,
    name: text.downloadOf(file.name),
    icon: Download,
    keys: "d",
    shownIn: "wide",
    href: downloadAddress(file),
    download: file.name,
  };
  const isFavorite = file.isFavorite === true;
  const mark: PreviewAction = {
    label: isFavorite ? entriesText.removeFavorite : entriesText.addFavorite,
    icon: Star,
    keys: "shift+s",
    shownIn: "wide",
    isPressed: isFavorite,
    run: () => void favorite([file], !isFavorite),
  };
  const marks = canMark ? [mark] : [];
  const video: readonly PreviewAction[] = hasMotion(file)
    ? [{ label: text.downloadVideo, icon: Film, href: motionAddress(file, false), download: "" }]
    : [];
  if (!canChange) return [...contentActions, { ...download, shownIn: "bar" }, ...marks, details, ...video];
  const moveToTrash = () => {
    onTrash();
    void trash([file]);
  };
  return [
    ...contentActions,
    { label: entriesText.share, icon: Share2, shownIn: "bar", run: () => openDialog("share", [file]) },
    download,
    ...marks,
    details,
    { label: entriesText.remove, icon: Trash2, keys: "delete", shownIn: "bar", run: moveToTrash },
    { label: entriesText.rename, icon: PenLine, keys: "f2", run: () => openDialog("rename", [file]) },
    { label: entriesText.move, icon: FolderInput, keys: "shift+m", run: () => openDialog("move", [file]) },
    { label: entriesText.addToAlbum, icon: BookImage, run: () => openDialog("album", [file]) },
    ...video,
    { label: entriesText.editTags, icon: Tag, run: () => openDialog("tags", [file]) },
  ];
}
