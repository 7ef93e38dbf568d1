/** The query of the page's address as text values by name. */
import { useNavigate, useSearch } from "@tanstack/react-router";

/** Query parameters of an address. */
export type TextSearch = Readonly<Record<string, string | undefined>>;

/** Keeps the parameters that can be read as text. For the router. */
export function textSearch(raw: Readonly<Record<string, unknown>>): TextSearch {
  const entries = Object.entries(raw).flatMap(([name, value]) =>
    typeof value === "string" || typeof value === "number" || typeof value === "boolean"
      ? [[name, String(value)] as const]
      : [],
  );
  return Object.fromEntries(entries);
}

/** Parses `?a=1&b=x`. If a name occurs twice, the last value counts. */
export function parseTextSearch(query: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(query));
}

/** The inverse of {@link parseTextSearch}. Undefined and empty values are left out. */
export function formatTextSearch(search: Readonly<Record<string, unknown>>): string {
  const parameters = new URLSearchParams(
    Object.entries(textSearch(search)).flatMap(([name, value]) =>
      value === undefined || value === "" ? [] : [[name, value] as [string, string]],
    ),
  );
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}

/** The query parameters of the current address. */
export function useTextSearch(): TextSearch {
  return useSearch({ strict: false });
}

/** Changes query parameters of the current address; undefined removes one. `push` adds a history entry. */
export function useSetTextSearch(): (change: TextSearch, options?: { push?: boolean }) => void {
  const navigate = useNavigate();
  return (change, { push = false } = {}) => {
    void navigate({
      to: ".",
      search: (former: TextSearch) => ({ ...former, ...change }),
      replace: !push,
      // What the history entry notes besides the address stays with it.
      state: push ? {} : true,
      resetScroll: false,
    });
  };
}
