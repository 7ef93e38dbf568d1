/** Which columns fit next to the names. Pure; all measures in rem. */

/** What the layout knows of a column. */
interface MeasuredColumn {
  readonly id: string;
  readonly width: number;
}

/** The least width of a name's text. */
const NAME_TEXT_MIN = 12;
/** The check mark and the thumbnail in front of a name, with their gaps. */
export const BEFORE_NAME = 4.75;
/** The least width of the column of names. */
export const NAME_MIN = NAME_TEXT_MIN + BEFORE_NAME;
/** The column of the menu buttons. */
export const MENU_WIDTH = 2.75;
/** The gap between two columns. */
const GAP = 0.75;
/** The padding at both ends of a row. */
const ROW_PADDING = 1;
/** Stored widths are rounded; a column that was widened as far as possible must still fit. */
const ROUNDING = 0.02;
/** The least width that a column can be given. */
export const COLUMN_MIN = 4;

/** In a narrow list, the columns disappear from the end of this order to its beginning. Unknown ones disappear first. */
const LEAST_HIDDEN = [
  "activity",
  "location",
  "deleted",
  "size",
  "modified",
  "owner",
  "kind",
  "note",
  "expires",
  "visits",
  "transfers",
  "rights",
  "shared",
  "access",
  "type",
  "tags",
  "uploaded",
];

/** The columns that leave the names their least width, in their order. */
export function fitColumns<C extends MeasuredColumn>(
  columns: readonly C[],
  widths: Readonly<Record<string, number>>,
  room: number,
): C[] {
  const fitting = [...columns];
  while (fitting.length > 0 && spareRoom(fitting, widths, room) < -ROUNDING) {
    const first = fitting.reduce((weakest, column) => (rank(column) >= rank(weakest) ? column : weakest));
    fitting.splice(fitting.indexOf(first), 1);
  }
  return fitting;
}

/** By how much the columns could still be widened. */
export function spareRoom(
  columns: readonly MeasuredColumn[],
  widths: Readonly<Record<string, number>>,
  room: number,
): number {
  const taken = columns.reduce((sum, column) => sum + widthOf(column, widths) + GAP, 0);
  return room - ROW_PADDING - NAME_MIN - GAP - MENU_WIDTH - taken;
}

/** The width of a column: the person's choice, or its own. */
export function widthOf({ id, width }: MeasuredColumn, widths: Readonly<Record<string, number>>): number {
  return Math.max(COLUMN_MIN, widths[id] ?? width);
}

/** The columns of the list as a CSS grid template. */
export function templateOf(columns: readonly MeasuredColumn[], widths: Readonly<Record<string, number>>): string {
  const tracks = columns.map((column) => `${widthOf(column, widths)}rem`);
  return ["minmax(0,1fr)", ...tracks, `${MENU_WIDTH}rem`].join(" ");
}

function rank({ id }: MeasuredColumn): number {
  const at = LEAST_HIDDEN.indexOf(id);
  return at < 0 ? LEAST_HIDDEN.length : at;
}
