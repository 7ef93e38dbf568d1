import type { RefObject } from "react";
import { Tile, type TileEvents } from "./tile.tsx";
import type { GridItem, GridBlock, SelectedIds } from "./types.ts";

/** What all tiles of a grid need. */
export interface TilesContext {
  itemAt(index: number): GridItem | undefined;
  readonly selected: SelectedIds;
  readonly cursor: number;
  readonly events: TileEvents;
  readonly scrolledAt: RefObject<number>;
}

/** The tiles of some photos of a block. The photos are given by their index in the grid. */
export function Tiles({
  block,
  indexes,
  context: { itemAt, selected, cursor, events, scrolledAt },
}: {
  readonly block: GridBlock;
  readonly indexes: readonly number[];
  readonly context: TilesContext;
}) {
  let row = 0;
  return indexes.map((index) => {
    const at = index - block.start;
    // Indexes are in order, except for the cursor.
    if (at < (block.rows[row]?.first ?? 0)) row = 0;
    while (at >= (block.rows[row]?.end ?? Number.POSITIVE_INFINITY)) row++;
    const item = itemAt(index);
    return (
      <Tile
        key={index}
        item={item}
        index={index}
        left={block.lefts[at] ?? 0}
        top={block.rows[row]?.top ?? 0}
        width={block.widths[at] ?? 0}
        height={block.rows[row]?.height ?? 0}
        isSelected={item !== undefined && selected.has(item.id)}
        isSelecting={selected.size > 0}
        isCurrent={index === cursor}
        events={events}
        scrolledAt={scrolledAt}
      />
    );
  });
}
