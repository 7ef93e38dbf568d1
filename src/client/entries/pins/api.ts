/** The folders and albums in the sidebar. */
import { type QueryClient, queryOptions } from "@tanstack/react-query";
import type { Schemas } from "../../api/generated.ts";
import { request } from "../../api/http.ts";
import { keys, LIVE_INTERVAL_MS } from "../../api/queries.ts";

/** A pinned folder or album. */
export type Pin = Schemas["Pins"]["pins"][number];

/** The pins in their order. They are fetched again after each change of files, and when the window is used again. */
export const pinsQuery = queryOptions({
  queryKey: keys.pins,
  queryFn: async ({ signal }) => (await request<Schemas["Pins"]>("GET", "/api/pins", { signal })).pins,
  staleTime: LIVE_INTERVAL_MS,
  refetchOnWindowFocus: "always",
});

/** Whether a folder or album is pinned, as far as the pins are loaded. */
export function isPinned(queryClient: QueryClient, id: string): boolean {
  return queryClient.getQueryData(pinsQuery.queryKey)?.some((pin) => pin.id === id) === true;
}

/** Whether the entry of a list can be pinned: folders and albums, also received ones. */
export function canPin({ id }: { readonly id: string }): boolean {
  return /^(fold|albm)_/.test(id);
}
