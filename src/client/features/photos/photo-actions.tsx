import { BookImage, Play } from "lucide-react";
import { Download, EllipsisVertical, Share2, Star, Tag, Trash2 } from "../../ui/icons.ts";
import { Menu } from "../../ui/menu.tsx";
import { Suspense, useState } from "react";
import { ApiError, request } from "../../api/http.ts";
import type { FileRecord } from "../../api/types.ts";
import { useShortcuts } from "../../base/shortcuts.ts";
import { IconButton } from "../../ui/icon-button.tsx";
import { lazyPart } from "../../ui/lazy-part.ts";
import { downloadEntries } from "../../entries/actions/download.ts";
import { ActionStatus } from "../../entries/actions/action-status.tsx";
import { useEntryActions } from "../../entries/actions/use-entry-actions.ts";
import { text as entriesText } from "../../entries/text.ts";
import { text } from "./text.ts";
import type { SelectedPhotos } from "./use-photo-selection.ts";
import { dayOf, type PhotoLibrary } from "./use-photo-library.ts";
import { showError } from "../../ui/toast.tsx";
import { SelectionToolbar } from "../../ui/selection-toolbar.tsx";
import { useCanWrite } from "../../api/session.ts";

const ShareDialog = lazyPart(() => import("../../entries/sharing/share-dialog.tsx").then((part) => part.ShareDialog));
const TagsDialog = lazyPart(() => import("../../entries/dialogs/tags-dialog.tsx").then((part) => part.TagsDialog));
const ShareSelectionDialog = lazyPart(() =>
  import("../../entries/albums/share-selection-dialog.tsx").then((part) => part.ShareSelectionDialog),
);
const AddToAlbumDialog = lazyPart(() =>
  import("../../entries/albums/add-to-album-dialog.tsx").then((part) => part.AddToAlbumDialog),
);

type OpenDialog = { readonly kind: "share" | "tags" | "album"; readonly files: readonly FileRecord[] };

/** The toolbar of the selection: the number of selected photos and the actions on them. */
export function PhotoActions({
  library,
  selected,
  onClear,
  onSlideshow,
}: {
  readonly library: PhotoLibrary;
  readonly selected: SelectedPhotos;
  readonly onClear: () => void;
  readonly onSlideshow: () => void;
}) {
  const canWrite = useCanWrite();
  const actions = useEntryActions();
  const [dialog, setDialog] = useState<OpenDialog>();
  const { isLoading, withFiles } = useSelectedFiles(library, selected);
  const close = () => setDialog(undefined);

  const trash = () =>
    withFiles((files) => {
      onClear();
      void actions.trash(files);
    });
  const toggleFavorites = () =>
    withFiles((files) => void actions.favorite(files, !files.every(({ isFavorite }) => isFavorite === true)));
  const when = () => selected.size > 0;
  useShortcuts(
    text.shortcuts,
    canWrite
      ? [
          { keys: "shift+s", label: entriesText.addFavorite, run: () => void toggleFavorites(), when },
          { keys: "delete", label: text.trash, run: () => void trash(), when },
        ]
      : [],
  );
  return (
    <>
      {selected.size > 0 && (
        <Toolbar
          count={selected.size}
          canWrite={canWrite}
          isLoading={isLoading}
          onClear={onClear}
          onSlideshow={onSlideshow}
          onDownload={() => void withFiles(downloadEntries)}
          onDialog={(kind) => void withFiles((files) => setDialog({ kind, files }))}
          onFavorite={() => void toggleFavorites()}
          onTrash={() => void trash()}
        />
      )}
      <ActionStatus />
      <Suspense fallback={null}>
        {dialog !== undefined && dialog.kind !== "tags" && <SharingDialogs dialog={dialog} onClose={close} />}
        {dialog?.kind === "tags" && (
          <TagsDialog
            entries={dialog.files}
            onApply={(add, remove) => void actions.tag(dialog.files, add, remove)}
            onClose={close}
          />
        )}
      </Suspense>
    </>
  );
}

/** Loads the files of the selection, and runs an action on them. */
function useSelectedFiles(library: PhotoLibrary, selected: SelectedPhotos) {
  const [isLoading, setLoading] = useState(false);
  const withFiles = async (action: (files: readonly FileRecord[]) => void) => {
    if (isLoading || selected.size === 0) return;
    setLoading(true);
    try {
      action(await filesOf(library, selected));
    } catch (error) {
      showError(error);
    } finally {
      setLoading(false);
    }
  };
  return { isLoading, withFiles };
}

function SharingDialogs({
  dialog: { kind, files },
  onClose,
}: {
  readonly dialog: OpenDialog;
  readonly onClose: () => void;
}) {
  const [only] = files;
  if (only === undefined) return null;
  if (kind === "album") return <AddToAlbumDialog entries={files} onClose={onClose} />;
  if (files.length === 1) return <ShareDialog entry={only} onClose={onClose} />;
  return <ShareSelectionDialog entries={files} onClose={onClose} />;
}

function Toolbar({
  count,
  canWrite,
  isLoading,
  onClear,
  onSlideshow,
  onDownload,
  onDialog,
  onFavorite,
  onTrash,
}: {
  readonly count: number;
  readonly canWrite: boolean;
  readonly isLoading: boolean;
  readonly onClear: () => void;
  readonly onSlideshow: () => void;
  readonly onDownload: () => void;
  readonly onDialog: (kind: OpenDialog["kind"]) => void;
  readonly onFavorite: () => void;
  readonly onTrash: () => void;
}) {
  // On phones, these are in a menu, because the bar is too narrow.
  const more = [
    { label: text.slideshow, icon: Play, run: onSlideshow },
    ...(canWrite
      ? [
          { label: entriesText.addFavorite, icon: Star, run: onFavorite },
          { label: entriesText.addToAlbum, icon: BookImage, run: () => onDialog("album") },
          { label: text.tags, icon: Tag, run: () => onDialog("tags") },
        ]
      : []),
  ];
  return (
    <div className="mb-2">
      <SelectionToolbar count={count} loading={isLoading ? text.gathering : undefined} onClear={onClear}>
        {more.map(({ label, icon, run }) => (
          <IconButton key={label} label={label} icon={icon} onClick={run} className="max-sm:hidden" />
        ))}
        <IconButton label={text.download} icon={Download} onClick={onDownload} />
        {canWrite && (
          <>
            <IconButton label={text.share} icon={Share2} onClick={() => onDialog("share")} />
            <IconButton label={text.trash} icon={Trash2} onClick={onTrash} />
          </>
        )}
        <Menu
          align="end"
          items={more}
          trigger={
            <IconButton label={entriesText.more} icon={EllipsisVertical} hasTooltip={false} className="sm:hidden" />
          }
        />
      </SelectionToolbar>
    </div>
  );
}

/**
 * The files of the selected photos. Loads one chunk after another.
 * @throws ApiError, OfflineError
 */
async function filesOf(library: PhotoLibrary, selected: SelectedPhotos): Promise<FileRecord[]> {
  const chunks = new Set([...selected.values()].flatMap((photo) => library.chunkOf(dayOf(photo)) ?? []));
  const files: FileRecord[] = [];
  for (const chunk of chunks) {
    // One after another: each is a request for a few hundred records.
    // oxlint-disable-next-line no-await-in-loop -- see above
    const records = await library.loadRecords(chunk);
    files.push(...records.filter(({ id }) => selected.has(id)));
  }
  // A photo that has moved to another day since it was selected is not in its former chunk.
  const found = new Set(files.map(({ id }) => id));
  for (const id of [...selected.keys()].filter((one) => !found.has(one))) {
    // oxlint-disable-next-line no-await-in-loop -- seldom more than a few
    files.push(...(await findFile(id)));
  }
  return files;
}

/**
 * A file by its id; empty if it no longer exists.
 * @throws ApiError, OfflineError
 */
async function findFile(id: string): Promise<FileRecord[]> {
  try {
    return [await request<FileRecord>("GET", `/api/files/${id}`)];
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return [];
    throw error;
  }
}
