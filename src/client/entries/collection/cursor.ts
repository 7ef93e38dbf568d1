/** Where keys move the cursor in a list or a grid of tiles. Pure. */

/** The layout that the cursor moves in. */
interface GridView {
  readonly total: number;
  /** Entries per row: 1 in a list. */
  readonly columns: number;
  /** Rows that are completely visible. */
  readonly rowsInView: number;
  readonly isRightToLeft: boolean;
}

/** The position that a key leads to; undefined for keys that don't move. An empty list has no positions. */
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

/** One row down. If the last row has no entry directly below, its last entry. */
function below(from: number, columns: number, total: number): number {
  if (from + columns < total) return from + columns;
  const lastRow = Math.floor((total - 1) / columns);
  return Math.floor(from / columns) < lastRow ? total - 1 : from;
}

/** How long typed letters count as one word. */
export const TYPE_AHEAD_MS = 800;

/**
 * The position of the entry whose name begins with the typed letters: the first one from `from` on, wrapping around at
 * the end. Repeating one letter goes from match to match. Only loaded names are considered.
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
