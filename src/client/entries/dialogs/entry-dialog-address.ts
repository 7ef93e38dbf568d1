import { useOverlay } from "../../base/overlays.ts";
import { createStore } from "../../base/store.ts";
import type { Entry } from "../../api/types.ts";

/** The dialogs for files and folders: the values of `dialog=` in the address. */
export const ENTRY_DIALOGS = ["share", "rename", "move", "copy", "tags", "album", "extract"] as const;

/** One of {@link ENTRY_DIALOGS}. */
export type EntryDialogKind = (typeof ENTRY_DIALOGS)[number];

/** The entries that the last dialog was opened for. The address names only a single one. */
export const dialogEntries = createStore<readonly Entry[]>([]);

/** Opens a dialog for entries. The page or the preview must render `EntryDialogs`. */
export function useOpenEntryDialog(): (kind: EntryDialogKind, entries: readonly Entry[]) => void {
  const { open } = useOverlay("dialog");
  return (kind, entries) => {
    const [first] = entries;
    if (first === undefined) return;
    dialogEntries.set(entries);
    open(kind, entries.length === 1 ? { item: first.id } : {});
  };
}
