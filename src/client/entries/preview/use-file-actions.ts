import { PenLine } from "lucide-react";
import type { FileRecord } from "../../api/types.ts";
import { Download, FolderInput, Info, Share2, Tag, Trash2 } from "../../ui/icons.ts";
import { useEntryActions } from "../actions/use-entry-actions.ts";
import { useOpenEntryDialog } from "../dialogs/entry-dialog-address.ts";
import { text as entriesText } from "../text.ts";
import type { PreviewAction } from "./actions.ts";
import { downloadAddress } from "./addresses.ts";
import { text } from "./text.ts";

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
  const { trash } = useEntryActions();
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
  if (!canChange) return [{ ...download, shownIn: "bar" }, details];
  const moveToTrash = () => {
    onTrash();
    void trash([file]);
  };
  return [
    { label: entriesText.share, icon: Share2, shownIn: "bar", run: () => openDialog("share", [file]) },
    download,
    details,
    { label: entriesText.remove, icon: Trash2, keys: "delete", shownIn: "bar", run: moveToTrash },
    { label: entriesText.rename, icon: PenLine, keys: "f2", run: () => openDialog("rename", [file]) },
    { label: entriesText.move, icon: FolderInput, keys: "shift+m", run: () => openDialog("move", [file]) },
    { label: entriesText.editTags, icon: Tag, run: () => openDialog("tags", [file]) },
  ];
}
