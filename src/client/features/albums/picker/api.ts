/** API requests of the dialog that adds photos to an album. */
import { queryOptions } from "@tanstack/react-query";
import type { ResponseData, Schemas } from "../../../api/generated.ts";
import { request } from "../../../api/http.ts";
import { keys } from "../../../api/queries.ts";
import { type MonthCount, monthsOf } from "./layout.ts";

/** A photo or video of the library. */
export type LibraryPhoto = Schemas["Photo"];

const PAGE = 1_000;

/** The months of the library, newest first. */
export const monthsQuery = queryOptions({
  queryKey: [...keys.photos, "months"],
  queryFn: async ({ signal }) => {
    const { days } = await request<ResponseData["GET /api/photos/timeline"]>("GET", "/api/photos/timeline", { signal });
    return monthsOf(days);
  },
});

/** The photos of a month, newest first. */
export function monthQuery({ month, count }: MonthCount) {
  return queryOptions({
    queryKey: [...keys.photos, "month", month, count],
    queryFn: ({ signal }) => readMonth({ month, count }, signal),
    gcTime: 60_000,
  });
}

async function readMonth({ month, count }: MonthCount, signal: AbortSignal): Promise<LibraryPhoto[]> {
  const photos: LibraryPhoto[] = [];
  let position: { readonly at?: string; readonly cursor?: string } = { at: month };
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- each page says where the next one starts
    const page = await request<{ readonly photos: readonly LibraryPhoto[]; readonly nextCursor: string | null }>(
      "GET",
      "/api/photos",
      { query: { ...position, limit: Math.max(1, Math.min(PAGE, count - photos.length)) }, signal },
    );
    const own = page.photos.filter(({ takenAt }) => takenAt.startsWith(month));
    photos.push(...own);
    if (page.nextCursor === null || own.length < page.photos.length || photos.length >= count) return photos;
    position = { cursor: page.nextCursor };
  }
}
