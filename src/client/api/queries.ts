/** Names of what pages have asked, so that a change made on one is seen on all. */
import { type QueryClient, type QueryKey, queryOptions } from "@tanstack/react-query";
import { basePath } from "../base/address.ts";
import { request } from "./http.ts";
import type { Usage } from "./types.ts";

const FILES = "files";

/** Query keys; what begins with the same parts is thrown away together. */
export const keys = {
  /** All that depends on the account's files. */
  files: [FILES] as const,
  /** All pages of a folder; what else tells the question apart (sort, page, at) comes behind. */
  listing: (folder: string, ...rest: readonly unknown[]) => [FILES, "listing", folder, ...rest] as const,
  /** One entry by its id. */
  entry: (id: string, ...rest: readonly unknown[]) => [FILES, "entry", id, ...rest] as const,
  versions: (id: string) => [FILES, "entry", id, "versions"] as const,
  activity: (id: string) => [FILES, "entry", id, "activity"] as const,
  search: (...rest: readonly unknown[]) => [FILES, "search", ...rest] as const,
  trash: [FILES, "trash"] as const,
  photos: [FILES, "photos"] as const,
  history: [FILES, "history"] as const,
  tags: [FILES, "tags"] as const,
  usage: [FILES, "usage"] as const,
  shares: ["shares"] as const,
  sharesOf: (id: string) => ["shares", "of", id] as const,
  received: ["shares", "received"] as const,
  profile: ["profile"] as const,
  settings: ["settings"] as const,
  notifications: ["notifications"] as const,
  admin: (section: string, ...rest: readonly unknown[]) => ["admin", section, ...rest] as const,
};

/** How often what is seen is asked for again while the page is in front: others may have changed it. */
export const LIVE_INTERVAL_MS = 30_000;

/**
 * How soon a list is asked for again that the server is still completing: in a second at first, then ever later, so that
 * a long completion does not use up what an account may ask in an hour.
 */
export function settlingIntervalMs(responses: number): number {
  return Math.min(LIVE_INTERVAL_MS, 1000 * 2 ** Math.min(responses - 1, 10));
}

/** For what is seen of files, while it is seen. */
export const live = { refetchInterval: LIVE_INTERVAL_MS, refetchOnWindowFocus: "always" } as const;

/** What the account uses of its storage. */
export const usageQuery = queryOptions({
  queryKey: keys.usage,
  queryFn: ({ signal }) => request<Usage>("GET", "/api/users/usage", { signal }),
});

/** After any change of files: whatever shows files asks again (listing, photos, trash, search, usage, history, shares). */
export async function invalidateTree(queryClient: QueryClient): Promise<void> {
  tabs().postMessage(CHANGED);
  await invalidateFiles(queryClient);
}

/** Lets changes that other tabs of this browser make be seen at once. Called once, by main.tsx. */
export function followOtherTabs(queryClient: QueryClient): void {
  tabs().addEventListener("message", ({ data }: MessageEvent<unknown>) => {
    if (data === CHANGED) void invalidateFiles(queryClient);
  });
}

async function invalidateFiles(queryClient: QueryClient): Promise<void> {
  await Promise.all([keys.files, keys.shares].map((queryKey) => invalidateBelow(queryClient, queryKey)));
}

async function invalidateBelow(queryClient: QueryClient, queryKey: QueryKey): Promise<void> {
  // A first answer that is on its way is not asked for anew, and may be of before the change.
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

/** The other tabs; opened when it is first needed. */
function tabs(): BroadcastChannel {
  channel ??= new BroadcastChannel(`larder-files${basePath()}`);
  return channel;
}
