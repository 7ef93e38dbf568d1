import type { RefObject } from "react";
import type { Entry } from "../../api/types.ts";
import { type GridDisplay, NARROW_BELOW } from "./grid-types.ts";
import { HEADER_HEIGHT } from "./list-header.tsx";
import { layTiles, ROW_HEIGHT } from "./tile-layout.ts";
import { useSize } from "../../ui/use-size.ts";

/** The measures of a list or a grid of tiles at its current width, in CSS pixels. */
export interface GridLayout {
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
  /** The columns of the list, as a CSS grid template. */
  readonly template: string;
}

/** Space at the sides, where a selection rectangle can be started, and above tiles. */
export const EDGE_SPACE = 12;
const TILES_WIDTH_MIN = 240;
const LIST_ROW_NARROW = 60;
const MENU_TRACK = "2.75rem";

/** Lays out the entries in the width of `scroller`. */
export function useGridLayout<T extends Entry>(
  scroller: RefObject<HTMLElement | null>,
  { layout, density, columns }: GridDisplay<T>,
): GridLayout {
  const { width: outerWidth } = useSize(scroller, window.innerWidth);
  const edge = outerWidth < NARROW_BELOW ? 0 : EDGE_SPACE;
  const width = outerWidth - 2 * edge;
  const isNarrow = width < NARROW_BELOW;
  if (layout === "tiles") {
    const tiles = layTiles(Math.max(width, TILES_WIDTH_MIN), density);
    return { ...tiles, isTiles: true, isNarrow, edge, above: EDGE_SPACE, template: "" };
  }
  const tracks = isNarrow ? [] : columns.map(({ track }) => track);
  return {
    isTiles: false,
    isNarrow,
    edge,
    columns: 1,
    rowHeight: isNarrow ? LIST_ROW_NARROW : ROW_HEIGHT[density],
    above: HEADER_HEIGHT,
    template: ["minmax(0,1fr)", ...tracks, MENU_TRACK].join(" "),
  };
}
