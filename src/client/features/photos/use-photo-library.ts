import { useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import type { FileRecord } from "../../api/types.ts";
import { chunkQuery, type PhotoKind, type PhotoRecord, recordsQuery, timelineQuery } from "./api.ts";
import { type Chunk, chunksBetween, chunksOf, type DayCount } from "./layout.ts";

const NO_DAYS: readonly DayCount[] = [];

/** The days of the photo grid, and the photos of the visible days. */
export function usePhotoLibrary(
  kind: PhotoKind,
  visibleDays: { readonly newest: string; readonly oldest: string } | undefined,
) {
  const queryClient = useQueryClient();
  const timeline = useQuery(timelineQuery(kind));
  const days = timeline.data?.days ?? NO_DAYS;
  const chunks = useMemo(() => chunksOf(days), [days]);
  const visibleChunks =
    visibleDays === undefined
      ? []
      : chunksBetween(chunks, visibleDays.newest, visibleDays.oldest).flatMap((i) => chunks[i] ?? []);
  const photos = useQueries({
    queries: visibleChunks.map((chunk) => chunkQuery(kind, chunk)),
    combine: byDay,
  });

  const chunkOf = useCallback((date: string) => chunks.find(({ from, to }) => to <= date && date <= from), [chunks]);

  /**
   * The photos of a chunk, from the cache if possible.
   * @throws ApiError, OfflineError
   */
  const load = useCallback((chunk: Chunk) => queryClient.ensureQueryData(chunkQuery(kind, chunk)), [queryClient, kind]);

  /**
   * The file records of a chunk.
   * @throws ApiError, OfflineError
   */
  const loadRecords = useCallback(
    (chunk: Chunk): Promise<(PhotoRecord & FileRecord)[]> => queryClient.fetchQuery(recordsQuery(kind, chunk)),
    [queryClient, kind],
  );

  return { timeline, days, chunks, photos, chunkOf, load, loadRecords };
}

/** The result of {@link usePhotoLibrary}. */
export type PhotoLibrary = ReturnType<typeof usePhotoLibrary>;

function byDay(
  results: readonly { readonly data?: readonly PhotoRecord[] | undefined }[],
): ReadonlyMap<string, readonly PhotoRecord[]> {
  return Map.groupBy(
    results.flatMap(({ data }) => data ?? []),
    dayOf,
  );
}

/** The local date on which a photo was taken. */
export function dayOf({ takenAt }: PhotoRecord): string {
  return takenAt.slice(0, 10);
}
