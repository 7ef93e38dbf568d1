import { ArrowLeft, ArrowLeftToLine, ArrowRight } from "lucide-react";
import { Image as CoverIcon, X } from "../../ui/icons.ts";
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
import type { AlbumItem } from "./items.ts";
import { text } from "./text.ts";
import type { useAlbumChanges } from "./use-album-changes.ts";

/** The toolbar of the selected files of an album: their order, the cover, and what can be done with files. */
export function AlbumSelection({
  items,
  selected,
  canChange,
  changes,
  onClear,
}: {
  readonly items: readonly AlbumItem[];
  /** In the order of the album. */
  readonly selected: readonly AlbumItem[];
  readonly canChange: boolean;
  readonly changes: ReturnType<typeof useAlbumChanges>;
  readonly onClear: () => void;
}) {
  const canMark = useCanWrite();
  const { favorite } = useEntryActions();
  const ids = selected.map(({ id }) => id);
  const files = selected.map(({ file }) => file);
  const areFavorites = files.every(({ isFavorite }) => isFavorite === true);
  const toggleFavorite = () => void favorite(files, !areFavorites);
  const takeOut = () => {
    onClear();
    void changes.takeOut(ids);
  };
  const { order, moveEarlier, moveLater } = orderActions(items, ids, changes);
  const [only] = selected;
  const cover: readonly MenuItem[] =
    only === undefined || selected.length > 1
      ? []
      : [{ label: text.setCover, icon: CoverIcon, run: () => void changes.setCover(only.id) }];
  useShortcuts(text.shortcuts, [
    ...(canMark ? [{ keys: "shift+s", label: entriesText.addFavorite, run: toggleFavorite }] : []),
    ...(canChange
      ? [
          { keys: "[", label: text.earlier, run: moveEarlier },
          { keys: "]", label: text.later, run: moveLater },
          { keys: "delete", label: text.takeOut, run: takeOut },
        ]
      : []),
  ]);
  return (
    <div className="mb-2">
      <SelectionToolbar count={selected.length} onClear={onClear}>
        <IconButton label={text.download} icon={Download} onClick={() => downloadEntries(files)} />
        {canMark && (
          <IconButton
            label={areFavorites ? entriesText.removeFavorite : entriesText.addFavorite}
            icon={Star}
            onClick={toggleFavorite}
          />
        )}
        {canChange && (
          <>
            <IconButton label={text.takeOut} icon={X} onClick={takeOut} />
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
  items: readonly AlbumItem[],
  ids: readonly string[],
  { move }: Pick<ReturnType<typeof useAlbumChanges>, "move">,
) {
  const { start, earlier, later } = targetsOf(items, ids);
  const moveBefore = (target: string | null | undefined) => {
    if (target !== undefined) void move(ids, target);
  };
  const moveEarlier = () => moveBefore(earlier);
  const moveLater = () => moveBefore(later);
  const order: readonly MenuItem[] = [
    { label: text.toStart, icon: ArrowLeftToLine, run: () => moveBefore(start) },
    { label: text.earlier, icon: ArrowLeft, keys: "[", run: moveEarlier },
    { label: text.later, icon: ArrowRight, keys: "]", run: moveLater },
  ];
  return { order, moveEarlier, moveLater };
}

/** The files that the selected ones can be put before: null for the end, undefined if they are there already. */
function targetsOf(items: readonly AlbumItem[], ids: readonly string[]) {
  const chosen = new Set(ids);
  const firstAt = items.findIndex(({ id }) => chosen.has(id));
  const lastAt = items.findLastIndex(({ id }) => chosen.has(id));
  const others = items.filter(({ id }) => !chosen.has(id));
  const beyond = items.slice(lastAt + 2).find(({ id }) => !chosen.has(id));
  return {
    start: firstAt === 0 && lastAt === ids.length - 1 ? undefined : others[0]?.id,
    earlier: items[firstAt - 1]?.id,
    later: lastAt >= items.length - 1 ? undefined : (beyond?.id ?? null),
  };
}
