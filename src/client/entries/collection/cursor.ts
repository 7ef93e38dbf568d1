/** Where the keyboard goes in a list or in rows of tiles. Pure. */

/** What the keyboard moves in. */
export interface GridView {
  readonly total: number;
  /** Entries side by side: 1 in a list. */
  readonly columns: number;
  /** Whole rows that are seen at once. */
  readonly rowsInView: number;
  readonly isRightToLeft: boolean;
}

/** The position that a key leads to from `from`; undefined for keys that don't move. An empty list has no positions. */
export function moveCursor(key: string, from: number, view: GridView): number | undefined {
  const { total, columns, rowsInView, isRightToLeft } = view;
  if (total === 0) return undefined;
  const forward = isRightToLeft ? -1 : 1;
  const page = Math.max(1, rowsInView - 1) * columns;
  const to: Readonly<Record<string, number | undefined>> = {
    ArrowDown: below(from, columns, total),
    ArrowUp: from - columns < 0 ? from : from - columns,
    ArrowRight: columns > 1 ? from + forward : undefined,
    ArrowLeft: columns > 1 ? from - forward : undefined,
    Home: 0,
    End: total - 1,
    PageDown: from + page,
    PageUp: from - page,
  };
  const position = to[key];
  return position === undefined ? undefined : Math.min(total - 1, Math.max(0, position));
}

/** One row down; into the last row, where that has no entry right below. */
function below(from: number, columns: number, total: number): number {
  if (from + columns < total) return from + columns;
  const lastRow = Math.floor((total - 1) / columns);
  return Math.floor(from / columns) < lastRow ? total - 1 : from;
}

/** How long typed letters belong together. */
export const TYPE_AHEAD_MS = 800;

/**
 * The position of the entry that typed letters mean: the next one, from `from` on and around, whose name begins with them.
 * The same letter again and again goes from one to the next. Only names that are known are looked at.
 */
export function findTyped(typed: string, from: number, names: ReadonlyMap<number, string>): number | undefined {
  const first = typed[0] ?? "";
  const isRepeated = typed.length > 1 && [...typed].every((character) => character === first);
  const prefix = (isRepeated ? first : typed).toLocaleLowerCase();
  const startsAfter = typed.length === 1 || isRepeated;
  const positions = [...names]
    .filter(([, name]) => name.toLocaleLowerCase().startsWith(prefix))
    .map(([position]) => position)
    .sort((one, other) => one - other);
  return positions.find((position) => (startsAfter ? position > from : position >= from)) ?? positions[0];
}
