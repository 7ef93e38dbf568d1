/** The files of an album, page by page, for its grid and for the preview. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { ResponseData } from "../../api/generated.ts";
import { request } from "../../api/http.ts";
import { byPage, keys } from "../../api/queries.ts";
import type { FileRecord } from "../../api/types.ts";
import { PAGE_SIZE } from "../../entries/collection/page-window.ts";
import type { GridItem } from "../../entries/justified/types.ts";
import { filePage, type PreviewSource, searchPages } from "../../entries/preview-source.ts";

/** A file of an album, as the grid shows it. */
export interface AlbumItem extends GridItem {
  readonly file: FileRecord;
}

const GRID_PAGE = 500;

function readItems(albumId: string, page: number, limit: number, signal: AbortSignal | undefined) {
  return request<ResponseData["GET /api/albums/{id}/items"]>("GET", `/api/albums/${albumId}/items`, {
    query: { page, limit },
    ...(signal !== undefined && { signal }),
  });
}

/** The files of an album in its order, as far as they are loaded. */
export function useAlbumItems(albumId: string) {
  const query = useInfiniteQuery({
    queryKey: [...keys.album(albumId), "items"],
    queryFn: ({ pageParam, signal }) => readItems(albumId, pageParam, GRID_PAGE, signal),
    ...byPage,
  });
  const { data } = query;
  const items = useMemo(() => data?.pages.flatMap((page) => page.items.map(toGridItem)) ?? [], [data]);
  return { query, items };
}

/** The files of an album, for the preview. */
export function albumFiles(albumId: string): PreviewSource {
  const fetchPage: PreviewSource["fetchPage"] = async (page, signal) => {
    const { items, pagination } = await readItems(albumId, page, PAGE_SIZE, signal);
    return filePage(items, page, pagination.total);
  };
  return {
    key: [...keys.album(albumId), "files only"],
    fetchPage,
    findPage: (id, signal) => searchPages(fetchPage, id, signal),
  };
}

function toGridItem(file: FileRecord): AlbumItem {
  const { id, name, mimeType, modifiedAt, hasThumbnail, isFavorite } = file;
  return {
    id,
    name,
    isVideo: mimeType.startsWith("video/"),
    durationSeconds: null,
    takenAt: modifiedAt,
    hasThumbnail,
    width: null,
    height: null,
    isFavorite,
    file,
  };
}
