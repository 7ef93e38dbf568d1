/** The files of an album: their order and shapes at once, and their records for the visible part. */
import { queryOptions, useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import type { ResponseData } from "../../api/generated.ts";
import { request } from "../../api/http.ts";
import { keys } from "../../api/queries.ts";
import { albumShapesQuery } from "../../entries/albums/api.ts";
import { PAGE_SIZE, pageOf, pagesOf } from "../../entries/collection/page-window.ts";
import type { GridItem } from "../../entries/justified/types.ts";
import type { PhotoRange } from "../../entries/justified/use-viewport.ts";
import { filePage, type PreviewSource, searchPages } from "../../entries/preview-source.ts";

/** The record of a file in an album; those of photos and videos have more. */
export type AlbumFile = ResponseData["GET /api/albums/{id}/items"]["items"][number];

/** A file of an album, as the grid shows it. */
export interface AlbumItem extends GridItem {
  readonly file: AlbumFile;
}

const NO_IDS: readonly string[] = [];
/** The first page is requested together with the shapes. */
const AT_FIRST: PhotoRange = { first: 0, end: PAGE_SIZE };

function itemsQuery(albumId: string, page: number) {
  return queryOptions({
    queryKey: [...keys.album(albumId), "items", page],
    queryFn: ({ signal }) =>
      request<ResponseData["GET /api/albums/{id}/items"]>("GET", `/api/albums/${albumId}/items`, {
        query: { page, limit: PAGE_SIZE },
        signal,
      }),
  });
}

/** The files of an album in its order. */
export function useAlbumItems(albumId: string) {
  const queryClient = useQueryClient();
  const shapes = useQuery(albumShapesQuery(albumId));
  const [needed, setNeeded] = useState(AT_FIRST);
  const ids = shapes.data?.fileIds ?? NO_IDS;
  const pages = pagesOf(
    { first: needed.first, last: needed.end - 1 },
    shapes.data === undefined ? undefined : ids.length,
  );
  const items = useQueries({ queries: pages.map((page) => itemsQuery(albumId, page)), combine: byId });

  /**
   * The records of files of the album, in the order of the album; loads those that are missing.
   * @throws ApiError, OfflineError
   */
  const load = useCallback(
    async (requested: ReadonlySet<string>): Promise<AlbumFile[]> => {
      const needs = new Set(ids.flatMap((id, index) => (requested.has(id) ? [pageOf(index)] : [])));
      const loaded = await Promise.all([...needs].map((page) => queryClient.fetchQuery(itemsQuery(albumId, page))));
      return loaded.flatMap((page) => page.items.filter(({ id }) => requested.has(id)));
    },
    [queryClient, albumId, ids],
  );
  return { shapes, ids, items, load, onNeeded: setNeeded };
}

function byId(
  results: readonly { readonly data?: ResponseData["GET /api/albums/{id}/items"] | undefined }[],
): ReadonlyMap<string, AlbumItem> {
  const files = results.flatMap(({ data }) => data?.items ?? []);
  return new Map(files.map((file) => [file.id, toGridItem(file)]));
}

/** The files of an album, for the preview. */
export function albumFiles(albumId: string): PreviewSource {
  const fetchPage: PreviewSource["fetchPage"] = async (page, signal) => {
    const { items, pagination } = await request<ResponseData["GET /api/albums/{id}/items"]>(
      "GET",
      `/api/albums/${albumId}/items`,
      { query: { page, limit: PAGE_SIZE }, ...(signal !== undefined && { signal }) },
    );
    return filePage(items, page, pagination.total);
  };
  return {
    key: [...keys.album(albumId), "files only"],
    fetchPage,
    findPage: (id, signal) => searchPages(fetchPage, id, signal),
  };
}

const gridItems = new WeakMap<AlbumFile, AlbumItem>();

/** The same object for the same record, so that its tile is not rendered again. */
function toGridItem(file: AlbumFile): AlbumItem {
  const known = gridItems.get(file);
  if (known !== undefined) return known;
  const { id, name, mimeType, fileModifiedAt, modifiedAt, takenAt, durationSeconds, width, height } = file;
  const item = {
    id,
    name,
    isVideo: mimeType.startsWith("video/"),
    durationSeconds,
    takenAt: takenAt ?? fileModifiedAt ?? modifiedAt,
    hasThumbnail: file.hasThumbnail,
    width,
    height,
    motion: file.motion,
    isFavorite: file.isFavorite,
    file,
  };
  gridItems.set(file, item);
  return item;
}
