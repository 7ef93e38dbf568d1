import type { Entry } from "../../api/types.ts";
import { type EntryViewProps, ListRow } from "./list-row.tsx";
import { Tile } from "./tile.tsx";
import { type Box, TILE_GAP } from "./tile-layout.ts";
import type { GridLayout } from "./use-grid-layout.ts";

/** The rendered rows of a list or a grid of tiles. */
export function GridRows<T extends Entry>({
  rows,
  total,
  layout,
  viewOf,
}: {
  /** Their indexes. */
  readonly rows: readonly number[];
  readonly total: number;
  readonly layout: GridLayout<T>;
  readonly viewOf: (position: number) => EntryViewProps<T>;
}) {
  const { isTiles, isNarrow, columns, rowHeight, fitting } = layout;
  return rows.map((index) => {
    const top = index * rowHeight;
    if (!isTiles) {
      return (
        <ListRow key={index} {...viewOf(index)} top={top} height={rowHeight} isNarrow={isNarrow} columns={fitting} />
      );
    }
    const first = index * columns;
    const columnIndexes = Array.from({ length: Math.min(columns, total - first) }, (_, column) => column);
    return (
      <div
        key={index}
        role="row"
        aria-rowindex={index + 1}
        className="absolute inset-x-0 top-0 grid"
        style={{
          height: rowHeight,
          transform: `translateY(${top}px)`,
          gap: TILE_GAP,
          paddingBottom: TILE_GAP,
          gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))`,
        }}
      >
        {columnIndexes.map((column) => (
          <Tile key={column} {...viewOf(first + column)} column={column} />
        ))}
      </div>
    );
  });
}

/** The rectangle that is being drawn to select entries. */
export function SelectionBox({ box }: { readonly box: Box }) {
  return (
    <div
      aria-hidden="true"
      className="pointer-events-none absolute z-10 border border-accent bg-accent/15"
      style={{ left: box.left, top: box.top, width: box.right - box.left, height: box.bottom - box.top }}
    />
  );
}
