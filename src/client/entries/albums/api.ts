/** API requests for albums. */
import type { QueryClient } from "@tanstack/react-query";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { ResponseData, Schemas } from "../../api/generated.ts";
import { request } from "../../api/http.ts";
import { invalidateTree, keys, live } from "../../api/queries.ts";
import { BATCH_MAX } from "../actions/bulk.ts";
import { splitIntoBatches } from "../collection/page-window.ts";

/** An album. */
export type Album = Schemas["Album"];

/** How albums are listed. */
export interface AlbumOrder {
  readonly sort: "name" | "modifiedAt" | "createdAt";
  readonly order: "asc" | "desc";
}

/** An account has at most this many albums, which are one page. */
const ALBUMS_MAX = 1_000;

/** The albums of the account. */
export function albumsQuery(listed: AlbumOrder) {
  return queryOptions({
    queryKey: [...keys.albums, "list", listed],
    queryFn: async ({ signal }) =>
      (
        await request<ResponseData["GET /api/albums"]>("GET", "/api/albums", {
          query: { ...listed, limit: ALBUMS_MAX },
          signal,
        })
      ).albums,
    placeholderData: keepPreviousData,
    ...live,
  });
}

/** One album. */
export function albumQuery(id: string) {
  return queryOptions({
    queryKey: keys.album(id),
    queryFn: ({ signal }) => request<Album>("GET", `/api/albums/${id}`, { signal }),
    ...live,
  });
}

/** The albums of the account that a file is in, by name. */
export function albumsOfFileQuery(id: string) {
  return queryOptions({
    queryKey: keys.entry(id, "albums"),
    queryFn: async ({ signal }) =>
      (await request<ResponseData["GET /api/files/{id}/albums"]>("GET", `/api/files/${id}/albums`, { signal })).albums,
  });
}

/** The ids and the aspect ratios of all files of an album, in its order. */
export type AlbumShapes = ResponseData["GET /api/albums/{id}/aspects"];

/** See {@link AlbumShapes}. */
export function albumShapesQuery(id: string) {
  return queryOptions({
    queryKey: [...keys.album(id), "aspects"],
    queryFn: ({ signal }) => request<AlbumShapes>("GET", `/api/albums/${id}/aspects`, { signal }),
  });
}

/** The path of an album's cover on this server; undefined for an empty album. */
export function coverAddress({ coverUrl }: Album): string | undefined {
  if (coverUrl === null) return undefined;
  const { pathname, search } = new URL(coverUrl, window.location.href);
  return pathname + search;
}

/**
 * Makes an album with these files.
 * @returns the album, and how many files could not be added
 * @throws ApiError, OfflineError
 */
export async function createAlbum(name: string, fileIds: readonly string[]): Promise<{ album: Album; failed: number }> {
  const [first = [], ...more] = splitIntoBatches(fileIds, BATCH_MAX);
  const { failed, ...album } = await request<ResponseData["POST /api/albums"]>("POST", "/api/albums", {
    body: { name, fileIds: first },
  });
  const rest = await addToAlbum(album.id, more.flat());
  return { album, failed: failed.length + rest.failed };
}

/**
 * Adds files to the end of an album.
 * @throws ApiError, OfflineError
 */
export async function addToAlbum(
  id: string,
  fileIds: readonly string[],
): Promise<{ readonly added: number; readonly failed: number }> {
  let [added, failed] = [0, 0];
  for (const batch of splitIntoBatches(fileIds, BATCH_MAX)) {
    // In order: the album shows the files in the order in which they were added.
    // oxlint-disable-next-line no-await-in-loop -- see above
    const result = await request<ResponseData["POST /api/albums/{id}/items"]>("POST", `/api/albums/${id}/items`, {
      body: { fileIds: batch },
    });
    added += result.added;
    failed += result.failed.length;
  }
  return { added, failed };
}

/** Call after an album was changed. */
export function invalidateAlbums(queryClient: QueryClient): Promise<void> {
  return invalidateTree(queryClient);
}
