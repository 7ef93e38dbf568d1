/** Query keys that all pages share, so that a change made on one page refreshes the others. */
import { focusManager, type QueryClient, type QueryKey, queryOptions } from "@tanstack/react-query";
import { basePath } from "../base/address.ts";
import { request } from "./http.ts";
import type { Pagination, Usage } from "./types.ts";

const FILES = "files";

/** Query keys; keys with the same prefix are invalidated together. */
export const keys = {
  /** Everything that depends on the account's files. */
  files: [FILES] as const,
  /** All pages of a folder listing. `rest` holds what distinguishes the queries: sort order, page, moment. */
  listing: (folder: string, ...rest: readonly unknown[]) => [FILES, "listing", folder, ...rest] as const,
  /** One entry by its id. */
  entry: (id: string, ...rest: readonly unknown[]) => [FILES, "entry", id, ...rest] as const,
  versions: (id: string) => [FILES, "entry", id, "versions"] as const,
  activity: (id: string) => [FILES, "entry", id, "activity"] as const,
  search: (...rest: readonly unknown[]) => [FILES, "search", ...rest] as const,
  trash: [FILES, "trash"] as const,
  photos: [FILES, "photos"] as const,
  favorites: [FILES, "favorites"] as const,
  recent: [FILES, "recent"] as const,
  albums: [FILES, "albums"] as const,
  pins: [FILES, "pins"] as const,
  album: (id: string) => [FILES, "albums", "one", id] as const,
  history: [FILES, "history"] as const,
  holds: [FILES, "history", "holds"] as const,
  tags: [FILES, "tags"] as const,
  usage: [FILES, "usage"] as const,
  shares: ["shares"] as const,
  sharesOf: (id: string) => ["shares", "of", id] as const,
  received: ["shares", "received"] as const,
  profile: ["profile"] as const,
  avatars: ["avatars"] as const,
  settings: ["settings"] as const,
  appPasswords: ["app-passwords"] as const,
  notifications: ["notifications"] as const,
  admin: (section: string, ...rest: readonly unknown[]) => ["admin", section, ...rest] as const,
};

/** How often visible data is fetched again while the page is in the foreground, because others may have changed it. */
export const LIVE_INTERVAL_MS = 30_000;

/**
 * How soon to fetch again a list that the server is still completing. Starts at one second and doubles, so that a long
 * completion does not use up the account's hourly request limit.
 */
export function settlingIntervalMs(responses: number): number {
  return Math.min(LIVE_INTERVAL_MS, 1000 * 2 ** Math.min(responses - 1, 10));
}

/** Options for file data that is on screen. */
export const live = { refetchInterval: LIVE_INTERVAL_MS, refetchOnWindowFocus: "always" } as const;

/** Options of infinite queries for lists that the server returns page by page. */
export const byPage = {
  initialPageParam: 1,
  getNextPageParam: ({ pagination }: { readonly pagination: Pagination }) =>
    pagination.hasNext ? pagination.page + 1 : undefined,
};

/** A list that the server returns as a whole, in one field of the response. */
export function listQuery<Item>(
  queryKey: QueryKey,
  path: `/api/${string}`,
  field: string,
  query: Readonly<Record<string, string>> = {},
) {
  return queryOptions({
    queryKey,
    queryFn: async ({ signal }) => {
      const { [field]: items = [] } = await request<Record<string, readonly Item[]>>("GET", path, { query, signal });
      return items;
    },
  });
}

/** The storage usage of the account. */
export const usageQuery = queryOptions({
  queryKey: keys.usage,
  queryFn: ({ signal }) => request<Usage>("GET", "/api/users/usage", { signal }),
});

/**
 * Call after any change to files. Everything that shows files is fetched again: listings, photos, trash, search, usage,
 * history, shares.
 */
export async function invalidateTree(queryClient: QueryClient): Promise<void> {
  tabs().postMessage(CHANGED);
  await invalidateFiles(queryClient);
}

/** Refreshes this tab when another tab of this browser changes files. Called once, by main.tsx. */
export function followOtherTabs(queryClient: QueryClient): void {
  tabs().addEventListener("message", ({ data }: MessageEvent<unknown>) => {
    if (data === CHANGED) void invalidateFiles(queryClient);
  });
}

/**
 * Repeats the requests that are on their way when the person returns to the page: their responses may predate the return, and
 * would otherwise be the last ones for {@link LIVE_INTERVAL_MS}. Called once, by main.tsx.
 */
export function followReturns(queryClient: QueryClient): void {
  focusManager.subscribe((isVisible) => {
    if (!isVisible) return;
    const early = queryClient
      .getQueryCache()
      .findAll({ queryKey: keys.files, type: "active", fetchStatus: "fetching" });
    for (const { queryKey } of early) void invalidateBelow(queryClient, queryKey);
  });
}

async function invalidateFiles(queryClient: QueryClient): Promise<void> {
  await Promise.all([keys.files, keys.shares].map((queryKey) => invalidateBelow(queryClient, queryKey)));
}

async function invalidateBelow(queryClient: QueryClient, queryKey: QueryKey): Promise<void> {
  // A first response that is still on its way is not requested again automatically, and may predate the change.
  const early = queryClient.getQueryCache().findAll({
    queryKey,
    fetchStatus: "fetching",
    predicate: ({ state }) => state.data === undefined,
  });
  await queryClient.invalidateQueries({ queryKey });
  await Promise.all(early.map((query) => queryClient.invalidateQueries({ queryKey: query.queryKey, exact: true })));
}

const CHANGED = "files-changed";
let channel: BroadcastChannel | undefined;

/** The channel to the other tabs, opened on first use. */
function tabs(): BroadcastChannel {
  channel ??= new BroadcastChannel(`larder-files${basePath()}`);
  return channel;
}
