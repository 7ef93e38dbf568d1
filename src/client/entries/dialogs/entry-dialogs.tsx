import { useQuery } from "@tanstack/react-query";
import { Suspense, useEffect, useRef } from "react";
import { useOverlay } from "../../base/overlays.ts";
import { useTextSearch } from "../../base/search-params.ts";
import { useStore } from "../../base/store.ts";
import type { Entry } from "../../api/types.ts";
import { HasAddress } from "../../ui/dialog.tsx";
import { lazyPart } from "../../ui/lazy-part.ts";
import { showError } from "../../ui/toast.tsx";
import { useEntryActions } from "../actions/use-entry-actions.ts";
import { useExtract } from "../archives/use-extract.ts";
import { entryQuery } from "../entry-query.ts";
import { commonRights, useRightsOf } from "../rights.ts";
import { dialogEntries, ENTRY_DIALOGS, type EntryDialogKind } from "./entry-dialog-address.ts";

const DestinationDialog = lazyPart(() => import("./destination-dialog.tsx").then((part) => part.DestinationDialog));
const RenameDialog = lazyPart(() => import("./rename-dialog.tsx").then((part) => part.RenameDialog));
const TagsDialog = lazyPart(() => import("./tags-dialog.tsx").then((part) => part.TagsDialog));
const ShareDialog = lazyPart(() => import("../sharing/share-dialog.tsx").then((part) => part.ShareDialog));
const ShareSelectionDialog = lazyPart(() =>
  import("../albums/share-selection-dialog.tsx").then((part) => part.ShareSelectionDialog),
);
const AddToAlbumDialog = lazyPart(() =>
  import("../albums/add-to-album-dialog.tsx").then((part) => part.AddToAlbumDialog),
);

/** Props of {@link EntryDialogs}. */
interface EntryDialogsProps {
  /** The folder at which the folder chooser opens; by default that of the first entry. */
  readonly from?: string;
  /** Whether these are the dialogs over the preview. Only one of preview and page shows the dialog. */
  readonly isInPreview?: boolean;
  /** Called with the ids of entries that were moved away. */
  readonly onMoved?: (ids: readonly string[]) => void;
  readonly onClosed?: () => void;
}

/** The dialog that the address names, for the entry that it names, or for the entries that it was opened with. */
export function EntryDialogs({ isInPreview = false, onClosed, ...props }: EntryDialogsProps) {
  const { value, close } = useOverlay("dialog");
  const { view } = useTextSearch();
  const isHere = (view !== undefined) === isInPreview;
  const kind = isHere ? ENTRY_DIALOGS.find((known) => known === value) : undefined;
  const { entries, isGone } = useDialogEntries(kind !== undefined);
  const wasOpen = useRef(false);
  const latest = useRef({ close, onClosed });
  useEffect(() => {
    latest.current = { close, onClosed };
  });
  useEffect(() => {
    const isClosing = wasOpen.current && kind === undefined;
    wasOpen.current = kind !== undefined;
    if (isClosing) latest.current.onClosed?.();
  }, [kind]);
  // After a reload, nobody knows the entries of a larger selection.
  useEffect(() => {
    if (kind !== undefined && isGone) latest.current.close();
  }, [kind, isGone]);
  if (kind === undefined || entries.length === 0) return null;
  return (
    <HasAddress value={true}>
      <Suspense fallback={null}>
        <OneDialog key={kind} kind={kind} entries={entries} {...props} onClose={close} />
      </Suspense>
    </HasAddress>
  );
}

function OneDialog({
  kind,
  entries,
  from,
  onMoved,
  onClose,
}: {
  readonly kind: EntryDialogKind;
  readonly entries: readonly Entry[];
  readonly onClose: () => void;
} & Omit<EntryDialogsProps, "isInPreview" | "onClosed">) {
  const actions = useEntryActions();
  const extract = useExtract();
  const rightsOf = useRightsOf();
  const [first] = entries;
  if (first === undefined) return null;
  const { share, isOwn } = commonRights(() => entries, rightsOf);
  switch (kind) {
    case "share":
      return entries.length === 1 ? (
        <ShareDialog entry={first} onClose={onClose} />
      ) : (
        <ShareSelectionDialog entries={entries} onClose={onClose} />
      );
    case "album":
      return <AddToAlbumDialog entries={entries} onClose={onClose} />;
    case "rename":
      return <RenameDialog entry={first} rename={(name) => actions.rename(first, name)} onClose={onClose} />;
    case "tags":
      return (
        <TagsDialog
          entries={entries}
          onApply={(add, remove) => void actions.tag(entries, add, remove)}
          onClose={onClose}
        />
      );
    case "extract":
    case "move":
    case "copy":
      return (
        <DestinationDialog
          verb={kind}
          entries={entries}
          // A shared item itself has no folder that its recipient could see.
          from={isOwn || share !== undefined ? { folder: from ?? first.folder, share } : undefined}
          makeFolder={actions.makeFolder}
          onChosen={(to) => {
            if (kind === "extract") extract(first, to.folder);
            else if (kind === "move") void actions.move(entries, to).then(onMoved);
            else void actions.copy(entries, to);
          }}
          onClose={onClose}
        />
      );
  }
}

/** The entries of the dialog in the address. `isGone` if they are unknown. */
function useDialogEntries(isOpen: boolean): { readonly entries: readonly Entry[]; readonly isGone: boolean } {
  const { item } = useTextSearch();
  const opened = useStore(dialogEntries);
  const isKnown = item === undefined ? opened.length > 1 : opened.length === 1 && opened[0]?.id === item;
  const query = useQuery({ ...entryQuery(item ?? ""), enabled: isOpen && !isKnown && item !== undefined });
  const { error } = query;
  useEffect(() => {
    if (isOpen && error !== null) showError(error);
  }, [isOpen, error]);
  if (!isOpen) return { entries: [], isGone: false };
  if (isKnown) return { entries: opened, isGone: false };
  if (item === undefined || error !== null) return { entries: [], isGone: true };
  return { entries: query.data === undefined ? [] : [query.data], isGone: false };
}
