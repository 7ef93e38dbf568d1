/** Parses the stored view preferences. Pure. */

/** Lists that are remembered separately, because their columns and orders differ. */
export type ListKind = "files" | "recent" | "favorites" | "search" | "trash" | "received" | "with-me" | "by-me";

/** How one kind of list is shown. */
export interface ListPreferences {
  /** The field it is sorted by; undefined for the default of the list. */
  readonly sort?: string | undefined;
  readonly order?: SortOrder | undefined;
  /** Columns that the person showed or hid; others follow the default of the list. */
  readonly columns: Readonly<Record<string, boolean>>;
  /** Widths that the person chose, in rem. */
  readonly widths: Readonly<Record<string, number>>;
}

/** A direction of sorting, as the API calls it. */
export type SortOrder = "asc" | "desc";

/** How files are listed. */
export interface ViewPreferences {
  readonly layout: "list" | "tiles";
  readonly density: "comfortable" | "compact";
  readonly lists: Readonly<Partial<Record<ListKind, ListPreferences>>>;
}

const KINDS: readonly ListKind[] = ["files", "recent", "favorites", "search", "trash", "received", "with-me", "by-me"];
/** More columns than any list has; a longer table was not stored by these pages. */
const COLUMNS_MAX = 50;

/** A list that nobody has changed yet. */
export const DEFAULT_LIST: ListPreferences = { columns: {}, widths: {} };

/** Parses stored preferences. Unknown values become the defaults. */
export function readPreferences(stored: string | undefined): ViewPreferences {
  const parsed = parse(stored ?? "{}");
  const lists = fieldsOf(parsed["lists"]);
  return {
    layout: parsed["layout"] === "tiles" ? "tiles" : "list",
    density: parsed["density"] === "compact" ? "compact" : "comfortable",
    lists: Object.fromEntries(
      KINDS.flatMap((kind) => (lists[kind] === undefined ? [] : [[kind, readList(fieldsOf(lists[kind]))]])),
    ),
  };
}

function readList(parsed: Readonly<Record<string, unknown>>): ListPreferences {
  const { sort, order } = parsed;
  return {
    ...(typeof sort === "string" && { sort }),
    ...((order === "asc" || order === "desc") && { order }),
    columns: pick(fieldsOf(parsed["columns"]), (value) => typeof value === "boolean"),
    widths: pick(fieldsOf(parsed["widths"]), (value) => typeof value === "number" && value > 0 && value < 100),
  };
}

/** The fields whose values have the expected type. */
function pick<T>(fields: Readonly<Record<string, unknown>>, isExpected: (value: unknown) => boolean) {
  const expected = Object.entries(fields)
    .slice(0, COLUMNS_MAX)
    .filter(([, value]) => isExpected(value));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- isExpected has checked each value
  return Object.fromEntries(expected) as Record<string, T>;
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function parse(stored: string): Record<string, unknown> {
  try {
    return fieldsOf(JSON.parse(stored));
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}
