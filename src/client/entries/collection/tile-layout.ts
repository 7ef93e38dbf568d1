/** How tiles fill a width: the number per row and the row height. Pure. */

/** Sizes in CSS pixels. */
interface TileLayout {
  readonly columns: number;
  readonly rowHeight: number;
}

/** The gap between two tiles. */
export const TILE_GAP = 12;
/** The height of name and size below the thumbnail. */
const TILE_CAPTION = 52;
const NARROWEST: Readonly<Record<"comfortable" | "compact", number>> = { comfortable: 176, compact: 124 };

/** The layout for a width, with at least two tiles per row, as on the narrowest phones. */
export function layTiles(width: number, density: "comfortable" | "compact"): TileLayout {
  const columns = Math.max(2, Math.floor((width + TILE_GAP) / (NARROWEST[density] + TILE_GAP)));
  const tileWidth = (width - TILE_GAP * (columns - 1)) / columns;
  return { columns, rowHeight: Math.round(tileWidth * 0.75) + TILE_CAPTION + TILE_GAP };
}

/** The height of the header of the list. */
export const HEADER_HEIGHT = 40;

/** The row height of the list. */
export const ROW_HEIGHT: Readonly<Record<"comfortable" | "compact", number>> = { comfortable: 48, compact: 36 };

/** A rectangle in the coordinates of the scrolled content. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** The layout of entries: rows of `rowHeight`, each divided into `columns` of equal width. */
export interface GridMetrics {
  readonly total: number;
  readonly columns: number;
  readonly rowHeight: number;
  readonly width: number;
  readonly isRightToLeft: boolean;
}

/** The positions of all entries that a rectangle touches, in order. */
export function positionsIn(box: Box, { total, columns, rowHeight, width, isRightToLeft }: GridMetrics): number[] {
  if (total === 0 || width <= 0 || box.right < 0 || box.left > width || box.bottom < 0) return [];
  const columnWidth = width / columns;
  const left = isRightToLeft ? width - box.right : box.left;
  const right = isRightToLeft ? width - box.left : box.right;
  const firstColumn = Math.max(0, Math.floor(left / columnWidth));
  const lastColumn = Math.min(columns - 1, Math.floor(right / columnWidth));
  const firstRow = Math.max(0, Math.floor(box.top / rowHeight));
  const lastRow = Math.min(Math.ceil(total / columns) - 1, Math.floor(box.bottom / rowHeight));
  const positions: number[] = [];
  for (let row = firstRow; row <= lastRow; row += 1) {
    for (let column = firstColumn; column <= lastColumn; column += 1) {
      const position = row * columns + column;
      if (position < total) positions.push(position);
    }
  }
  return positions;
}
