/** Parses the stored view preferences. Pure. */

/** The sort fields of the API. */
export type SortField = "name" | "size" | "createdAt" | "modifiedAt";

/** How files are listed. */
export interface ViewPreferences {
  readonly layout: "list" | "tiles";
  readonly density: "comfortable" | "compact";
  readonly sort: SortField;
  readonly order: "asc" | "desc";
}

const SORTS: readonly SortField[] = ["name", "size", "createdAt", "modifiedAt"];

/** Parses stored preferences. Unknown values become the defaults. */
export function readPreferences(stored: string | undefined): ViewPreferences {
  const parsed = parse(stored ?? "{}");
  return {
    layout: parsed["layout"] === "tiles" ? "tiles" : "list",
    density: parsed["density"] === "compact" ? "compact" : "comfortable",
    sort: SORTS.find((sort) => sort === parsed["sort"]) ?? "name",
    order: parsed["order"] === "desc" ? "desc" : "asc",
  };
}

function parse(stored: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(stored);
    return typeof parsed === "object" && parsed !== null ? { ...parsed } : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}
