/** Grids of justified rows. */
import type { Schemas } from "../../api/generated.ts";

/** What a grid shows of a photo or video. */
export type GridItem = Pick<
  Schemas["Photo"],
  "id" | "name" | "isVideo" | "durationSeconds" | "takenAt" | "hasThumbnail" | "width" | "height"
> &
  Partial<Pick<Schemas["Photo"], "motion">> & {
    readonly isFavorite?: boolean | undefined;
    readonly shared?: Schemas["ShareMark"] | null | undefined;
  };

/** Which items are selected: a set or map of ids. */
export interface SelectedIds {
  readonly size: number;
  has(id: string): boolean;
}

/** A day with the shapes (aspect ratios) of its photos. */
export interface ShapedDay {
  readonly date: string;
  readonly count: number;
  /** Width divided by height in percent, 0 if unknown. Undefined if no shape of the day is loaded. */
  readonly aspects: readonly number[] | undefined;
}

/** Sizes of a layout, in pixels. */
export interface LayoutSize {
  readonly width: number;
  /** The configured height of rows. Rows are a little lower or higher, to fill the width. */
  readonly rowHeight: number;
}

/** A row of photos, which can belong to several days. Photos are counted from the first of the block. */
export interface Row {
  readonly first: number;
  /** The photo after its last. */
  readonly end: number;
  /** From the top of the block. */
  readonly top: number;
  readonly height: number;
}

/** The position of a day in its block. */
export interface DayBox {
  readonly date: string;
  readonly count: number;
  /** Its first photo, counted from the first of the block. */
  readonly first: number;
  /** The position and the width of its heading. */
  readonly left: number;
  readonly top: number;
  readonly width: number;
}

/** A month, or the whole of a list without days. */
export interface Block {
  /** For example `2026-07`; empty in a list without days. */
  readonly month: string;
  readonly count: number;
  readonly height: number;
  readonly rows: readonly Row[];
  readonly days: readonly DayBox[];
  /** The left edge and the width of each photo. */
  readonly lefts: Float32Array;
  readonly widths: Float32Array;
}

/** A block in the grid. */
export interface GridBlock extends Block {
  /** The index of its first photo among all photos. */
  readonly start: number;
  /** From the top of the grid. */
  readonly offset: number;
}

/** The whole grid. */
export interface Layout extends LayoutSize {
  readonly blocks: readonly GridBlock[];
  readonly total: number;
  readonly height: number;
}

/** Where a photo is in the grid. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}
