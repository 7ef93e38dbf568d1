import { PackageOpen, SquarePen } from "lucide-react";
import { useCanWrite } from "../../api/session.ts";
import type { FileRecord } from "../../api/types.ts";
import { isArchiveType } from "../archives/archive-type.ts";
import { text as archivesText } from "../archives/text.ts";
import { useExtract } from "../archives/use-extract.ts";
import { useOpenEntryDialog } from "../dialogs/entry-dialog-address.ts";
import { isEditableText, useOpenEditor } from "../editing/edit-text.ts";
import { useRightsOf } from "../rights.ts";
import { text } from "../text.ts";
import type { PreviewAction } from "./actions.ts";

/** The actions that depend on what is in the file. The list knows the rights to files that others share. */
export function useContentActions(file: FileRecord | undefined): readonly PreviewAction[] {
  const canWrite = useCanWrite();
  const rightsOf = useRightsOf();
  const openEditor = useOpenEditor();
  const extract = useExtract();
  const openDialog = useOpenEntryDialog();
  if (file === undefined || !canWrite) return [];
  if (isArchiveType(file.mimeType)) {
    return [
      { label: archivesText.extractHere, icon: PackageOpen, run: () => extract(file) },
      { label: archivesText.extractTo, icon: PackageOpen, run: () => openDialog("extract", [file]) },
    ];
  }
  if (!isEditableText(file) || !rightsOf(file).canChange) return [];
  return [{ label: text.edit, icon: SquarePen, keys: "e", shownIn: "bar", run: () => openEditor(file.id) }];
}
