/** How lists of files look, as it is remembered. Pure. */

/** What the API sorts by. */
export type SortField = "name" | "size" | "createdAt" | "modifiedAt";

/** How files are listed. */
export interface ViewPreferences {
  readonly layout: "list" | "tiles";
  readonly density: "comfortable" | "compact";
  readonly sort: SortField;
  readonly order: "asc" | "desc";
}

const SORTS: readonly SortField[] = ["name", "size", "createdAt", "modifiedAt"];

/** Reads what was stored; whatever is not understood is as it is by default. */
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
