import { ArrowLeft, ArrowLeftToLine, ArrowRight, ArrowRightToLine, ImageMinus } from "lucide-react";
import { Image as CoverIcon } from "../../ui/icons.ts";
import { useCanWrite } from "../../api/session.ts";
import { useShortcuts } from "../../base/shortcuts.ts";
import { downloadEntries } from "../../entries/actions/download.ts";
import { useEntryActions } from "../../entries/actions/use-entry-actions.ts";
import { text as entriesText } from "../../entries/text.ts";
import { IconButton } from "../../ui/icon-button.tsx";
import { Download, EllipsisVertical, Star } from "../../ui/icons.ts";
import { Menu } from "../../ui/menu.tsx";
import type { MenuItem } from "../../ui/menu-items.ts";
import { SelectionToolbar } from "../../ui/selection-toolbar.tsx";
import { showError } from "../../ui/toast.tsx";
import type { AlbumFile, AlbumItem } from "./items.ts";
import { moveTargets } from "./order.ts";
import { text } from "./text.ts";
import type { useAlbumChanges } from "./use-album-changes.ts";

/** The toolbar of the selected files of an album: their order, the cover, and what can be done with files. */
export function AlbumSelection({
  ids,
  selected,
  items,
  load,
  canChange,
  changes,
  onClear,
}: {
  /** All files of the album, in its order. */
  readonly ids: readonly string[];
  /** At least one of them. */
  readonly selected: ReadonlySet<string>;
  /** The loaded ones. */
  readonly items: ReadonlyMap<string, AlbumItem>;
  /** Loads the records of files. */
  readonly load: (ids: ReadonlySet<string>) => Promise<readonly AlbumFile[]>;
  readonly canChange: boolean;
  readonly changes: ReturnType<typeof useAlbumChanges>;
  readonly onClear: () => void;
}) {
  const canMark = useCanWrite();
  const { favorite } = useEntryActions();
  const chosen = ids.filter((id) => selected.has(id));
  // Those that are not loaded count as favorites until the action loads them.
  const areFavorites = chosen.every((id) => items.get(id)?.isFavorite !== false);
  const withFiles = (action: (files: readonly AlbumFile[]) => void) => void load(selected).then(action, showError);
  const toggleFavorite = () =>
    withFiles((files) => void favorite(files, !files.every(({ isFavorite }) => isFavorite === true)));
  const takeOut = () => {
    onClear();
    void changes.takeOut(chosen);
  };
  const { order, moveEarlier, moveLater } = orderActions(ids, selected, (before) => void changes.move(chosen, before));
  const [only] = chosen;
  const cover: readonly MenuItem[] =
    only === undefined || chosen.length > 1
      ? []
      : [{ label: text.setCover, icon: CoverIcon, run: () => void changes.setCover(only) }];
  useSelectionKeys({
    ...(canMark && { toggleFavorite }),
    ...(canChange && { moveEarlier, moveLater, takeOut }),
  });
  return (
    <div className="mb-2">
      <SelectionToolbar count={selected.size} onClear={onClear}>
        <IconButton label={text.download} icon={Download} onClick={() => withFiles(downloadEntries)} />
        {canMark && (
          <IconButton
            label={areFavorites ? entriesText.removeFavorite : entriesText.addFavorite}
            icon={Star}
            onClick={toggleFavorite}
          />
        )}
        {canChange && (
          <>
            <IconButton label={text.takeOut} icon={ImageMinus} onClick={takeOut} />
            <Menu
              align="end"
              trigger={<IconButton label={text.more} icon={EllipsisVertical} hasTooltip={false} />}
              items={() => [...order, ...(cover.length > 0 ? [null, ...cover] : [])]}
            />
          </>
        )}
      </SelectionToolbar>
    </div>
  );
}

/** The actions that move the selected files to another place in the album. */
function orderActions(
  ids: readonly string[],
  selected: ReadonlySet<string>,
  move: (before: string | null) => void,
): { readonly order: readonly MenuItem[]; readonly moveEarlier: () => void; readonly moveLater: () => void } {
  const { start, earlier, later, end } = moveTargets(ids, selected);
  const moveBefore = (target: string | null | undefined) => {
    if (target !== undefined) move(target);
  };
  const moveEarlier = () => moveBefore(earlier);
  const moveLater = () => moveBefore(later);
  const order: readonly MenuItem[] = [
    { label: text.toStart, icon: ArrowLeftToLine, run: () => moveBefore(start) },
    { label: text.earlier, icon: ArrowLeft, keys: "[", run: moveEarlier },
    { label: text.later, icon: ArrowRight, keys: "]", run: moveLater },
    { label: text.toEnd, icon: ArrowRightToLine, run: () => moveBefore(end) },
  ];
  return { order, moveEarlier, moveLater };
}

/** The keys of the actions that the person may use. */
function useSelectionKeys(actions: {
  readonly toggleFavorite?: () => void;
  readonly moveEarlier?: () => void;
  readonly moveLater?: () => void;
  readonly takeOut?: () => void;
}): void {
  const listed = [
    { keys: "shift+s", label: entriesText.addFavorite, run: actions.toggleFavorite },
    { keys: "[", label: text.earlier, run: actions.moveEarlier },
    { keys: "]", label: text.later, run: actions.moveLater },
    { keys: "delete", label: text.takeOut, run: actions.takeOut },
  ];
  useShortcuts(
    text.shortcuts,
    listed.flatMap(({ run, ...shortcut }) => (run === undefined ? [] : [{ ...shortcut, run }])),
  );
}
