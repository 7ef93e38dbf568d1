/** The part of an address behind the question mark: plain text by name, as every page reads it. */
import { useNavigate, useSearch } from "@tanstack/react-router";

/** Parameters of an address. */
export type TextSearch = Readonly<Record<string, string | undefined>>;

/** Takes what an address has as text; for the router. */
export function textSearch(raw: Readonly<Record<string, unknown>>): TextSearch {
  const entries = Object.entries(raw).flatMap(([name, value]) =>
    typeof value === "string" || typeof value === "number" || typeof value === "boolean"
      ? [[name, String(value)] as const]
      : [],
  );
  return Object.fromEntries(entries);
}

/** `?a=1&b=x` as text by name; of a name that comes twice, the last. */
export function parseTextSearch(query: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(query));
}

/** The opposite of {@link parseTextSearch}; undefined and empty values are left out. */
export function formatTextSearch(search: Readonly<Record<string, unknown>>): string {
  const parameters = new URLSearchParams(
    Object.entries(textSearch(search)).flatMap(([name, value]) =>
      value === undefined || value === "" ? [] : [[name, value] as [string, string]],
    ),
  );
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}

/** The parameters of the page's address. */
export function useTextSearch(): TextSearch {
  return useSearch({ strict: false });
}

/** Changes parameters of the page's address; undefined takes one away. `push` makes a step of the history of it. */
export function useSetTextSearch(): (change: TextSearch, options?: { push?: boolean }) => void {
  const navigate = useNavigate();
  return (change, { push = false } = {}) => {
    void navigate({
      to: ".",
      search: (former: TextSearch) => ({ ...former, ...change }),
      replace: !push,
      resetScroll: false,
    });
  };
}
