import { memo } from "react";
import type { Entry } from "../../api/types.ts";
import { cx } from "../../ui/cx.ts";
import { text } from "../text.ts";
import { EntryName, FavoriteStar } from "./entry-name.tsx";
import { CheckMark, type EntryViewProps, MenuButton, viewAttributes, viewClasses } from "./list-row.tsx";
import { ShareMarks } from "./share-marks.tsx";
import { Thumbnail } from "./thumbnail.tsx";

function TileView<T extends Entry>(props: EntryViewProps<T> & { readonly column: number }) {
  const { entry, display, isSelected, isSelecting, column } = props;
  return (
    <div
      {...viewAttributes(props)}
      role="gridcell"
      aria-colindex={column + 1}
      className={cx(
        viewClasses(props),
        "relative flex min-w-0 flex-col rounded-xl border",
        isSelected ? "border-accent" : "border-line bg-raised",
        display.renaming?.id === entry?.id && entry !== undefined && "z-10",
      )}
    >
      {entry === undefined ? (
        <span className="skeleton h-full w-full" aria-label={text.loadingEntry} role="img" />
      ) : (
        <>
          <div className="relative min-h-0 flex-1 overflow-hidden rounded-t-[0.7rem] border-b border-line bg-sunken">
            {display.thumbnailOf?.(entry, "medium") ?? <Thumbnail entry={entry} size="medium" />}
          </div>
          <div className="flex h-13 shrink-0 items-center gap-1 ps-3 pe-1">
            <div className="min-w-0 flex-1 text-sm">
              <EntryName entry={entry} display={display} hasStar={false} />
              <span className="flex items-center gap-1 text-xs text-muted">
                {/* Names have little room in a tile, so the star is in the line below. */}
                <FavoriteStar entry={entry} />
                <ShareMarks entry={entry} className="size-3" />
                <span className="truncate">{display.caption(entry)}</span>
              </span>
            </div>
            <MenuButton name={entry.name} />
          </div>
          <div className="absolute start-2 top-2">
            <CheckMark isSelected={isSelected} isShown={isSelecting} />
          </div>
        </>
      )}
    </div>
  );
}

/** A tile of the grid. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- memo forgets that the component is generic
export const Tile = memo(TileView) as typeof TileView;
