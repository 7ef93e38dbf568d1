import { useEffect, useMemo, useRef } from "react";
import type { ResponseData } from "../../api/generated.ts";
import { request } from "../../api/http.ts";
import { keys } from "../../api/queries.ts";
import type { FileRecord } from "../../api/types.ts";
import { type PreviewSource, searchPages } from "../../entries/preview-source.ts";
import { useFilePreview } from "../../entries/use-preview.tsx";
import type { PhotoRecord } from "./api.ts";
import { dayOf, type PhotoLibrary } from "./use-photo-library.ts";

/**
 * Shows photos in the preview, across chunk boundaries.
 * @param onClosed called with the photo that was shown last
 */
export function usePhotoPreview(library: PhotoLibrary, onClosed: (photo: PhotoRecord) => void) {
  const source = usePhotoSource(library);
  const { open, preview } = useFilePreview(source, {
    onClosed: (_, { items, index }) => {
      const file = items[index];
      if (file !== undefined && isPhoto(file)) onClosed(file);
    },
  });
  return { open: ({ id }: PhotoRecord) => open(id), preview };
}

/** The photos of the library as pages for the preview. A page is a chunk of days. */
function usePhotoSource({ chunks, loadRecords, chunkOf, photos }: PhotoLibrary): PreviewSource {
  const visible = useRef(photos);
  useEffect(() => {
    visible.current = photos;
  });
  return useMemo(() => {
    const total = chunks.reduce((sum, { count }) => sum + count, 0);
    const firstOf = (index: number) => chunks.slice(0, index).reduce((sum, { count }) => sum + count, 0);
    const fetchPage: PreviewSource["fetchPage"] = async (page) => {
      const chunk = chunks[page - 1];
      const files = chunk === undefined ? [] : await loadRecords(chunk);
      return { files, first: firstOf(page - 1), total, hasNext: page < chunks.length };
    };
    const pageOfDay = (day: string | undefined) => {
      const chunk = day === undefined ? undefined : chunkOf(day);
      return chunk === undefined ? undefined : chunks.indexOf(chunk) + 1;
    };
    return {
      // The chunks change when photos are added or removed.
      key: [...keys.photos, "preview", chunks.map(({ from, count }) => `${from} ${count}`).join()],
      fetchPage,
      pageAt: (position) => Math.max(1, chunks.findLastIndex((_, index) => firstOf(index) <= position) + 1),
      findPage: async (id, signal) => {
        const shown = [...visible.current.values()].flat().find((photo) => photo.id === id);
        const day = shown === undefined ? await readDay(id, signal) : dayOf(shown);
        const page = pageOfDay(day);
        const isThere = page !== undefined && (await fetchPage(page, signal)).files.some((file) => file.id === id);
        return isThere ? page : searchPages(fetchPage, id, signal);
      },
    };
  }, [chunks, loadRecords, chunkOf]);
}

/** The local day on which a photo was taken, or the best date that its record has instead. */
async function readDay(id: string, signal: AbortSignal | undefined): Promise<string> {
  const info = await request<ResponseData["GET /api/files/{id}"]>("GET", `/api/files/${id}`, {
    ...(signal !== undefined && { signal }),
  });
  const taken = info.capturedAt ?? info.media?.takenAt ?? info.fileModifiedAt ?? info.createdAt;
  return taken.slice(0, 10);
}

function isPhoto(file: FileRecord): file is PhotoRecord & FileRecord {
  return "takenAt" in file;
}
