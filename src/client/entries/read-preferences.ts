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
  const told = parse(stored ?? "{}");
  return {
    layout: told["layout"] === "tiles" ? "tiles" : "list",
    density: told["density"] === "compact" ? "compact" : "comfortable",
    sort: SORTS.find((sort) => sort === told["sort"]) ?? "name",
    order: told["order"] === "desc" ? "desc" : "asc",
  };
}

function parse(stored: string): Record<string, unknown> {
  try {
    const told: unknown = JSON.parse(stored);
    return typeof told === "object" && told !== null ? { ...told } : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}
