import { type RefObject, useMemo } from "react";
import type { Entry } from "../../api/types.ts";
import { fitColumns, spareRoom, templateOf } from "./fit-columns.ts";
import { type GridColumn, type GridDisplay, NARROW_BELOW } from "./grid-types.ts";
import { HEADER_HEIGHT, layTiles, ROW_HEIGHT } from "./tile-layout.ts";
import { rootFontSize } from "./root-font-size.ts";
import { useSize } from "../../ui/use-size.ts";

/** The measures of a list or a grid of tiles at its current width, in CSS pixels. */
export interface GridLayout<T extends Entry> {
  readonly isTiles: boolean;
  /** Whether only the name fits. */
  readonly isNarrow: boolean;
  /** Space at the sides. */
  readonly edge: number;
  /** Entries per row. */
  readonly columns: number;
  readonly rowHeight: number;
  /** The height of what is above the first row. */
  readonly above: number;
  /** The columns of the list that fit next to the names. */
  readonly fitting: readonly GridColumn<T>[];
  /** The columns of the list, as a CSS grid template. */
  readonly template: string;
  /** By how much a column can be widened, in rem. */
  readonly spare: number;
}

/** Space at the sides, where a selection rectangle can be started, and above tiles. */
export const EDGE_SPACE = 12;
const TILES_WIDTH_MIN = 240;
const LIST_ROW_NARROW = 60;
const EXCERPT_HEIGHT = 16;

/** Lays out the entries in the width of `scroller`. */
export function useGridLayout<T extends Entry>(
  scroller: RefObject<HTMLElement | null>,
  { layout, density, columns: { shown, widths }, excerptOf }: GridDisplay<T>,
): GridLayout<T> {
  const { width: outerWidth } = useSize(scroller, window.innerWidth);
  const edge = outerWidth < NARROW_BELOW ? 0 : EDGE_SPACE;
  const width = outerWidth - 2 * edge;
  const isNarrow = width < NARROW_BELOW;
  const isTiles = layout === "tiles";
  const columns = useMemo(() => {
    if (isTiles || isNarrow) return { fitting: [], template: templateOf([], {}), spare: 0 };
    const room = width / rootFontSize();
    const fitting = fitColumns(shown, widths, room);
    return { fitting, template: templateOf(fitting, widths), spare: Math.max(0, spareRoom(fitting, widths, room)) };
  }, [isTiles, isNarrow, width, shown, widths]);
  if (isTiles) {
    const tiles = layTiles(Math.max(width, TILES_WIDTH_MIN), density);
    return { ...columns, ...tiles, isTiles, isNarrow, edge, above: EDGE_SPACE };
  }
  return {
    ...columns,
    isTiles,
    isNarrow,
    edge,
    columns: 1,
    rowHeight: (isNarrow ? LIST_ROW_NARROW : ROW_HEIGHT[density]) + (excerptOf === undefined ? 0 : EXCERPT_HEIGHT),
    above: HEADER_HEIGHT,
  };
}
