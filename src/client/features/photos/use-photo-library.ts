import { useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import type { FileRecord } from "../../api/types.ts";
import {
  chunkQuery,
  newestPhotosQuery,
  type PhotoScope,
  type PhotoRecord,
  recordsQuery,
  timelineQuery,
} from "./api.ts";
import { type Chunk, chunksBetween, chunksOf, type DayCount } from "./layout.ts";
import { useWasIdle } from "../../ui/use-was-idle.ts";
import { useShapes } from "./use-shapes.ts";

const NO_DAYS: readonly DayCount[] = [];
const NO_PHOTOS: readonly PhotoRecord[] = [];

/** The days of the photo grid, and the photos of the visible days. */
export function usePhotoLibrary(
  scope: PhotoScope,
  visibleDays: { readonly newest: string; readonly oldest: string } | undefined,
) {
  const queryClient = useQueryClient();
  const timeline = useQuery(timelineQuery(scope));
  const days = timeline.data?.days ?? NO_DAYS;
  const chunks = useMemo(() => chunksOf(days), [days]);
  const visibleChunks =
    visibleDays === undefined
      ? []
      : chunksBetween(chunks, visibleDays.newest, visibleDays.oldest).flatMap((i) => chunks[i] ?? []);
  // The newest photos fill the first view.
  const isIdle = useWasIdle();
  const photos = useQueries({
    queries: (isIdle ? visibleChunks : []).map((chunk) => chunkQuery(scope, chunk)),
    combine: byDay,
  });
  const { days: shapedDays, isReady } = useShapes(scope, days, isIdle ? visibleDays : undefined, photos);
  // Only until the first chunk of days is loaded.
  const newest = useQuery({ ...newestPhotosQuery(scope), enabled: photos.size === 0 }).data ?? NO_PHOTOS;

  const chunkOf = useCallback((date: string) => chunks.find(({ from, to }) => to <= date && date <= from), [chunks]);

  /**
   * The photos of a chunk, from the cache if possible.
   * @throws ApiError, OfflineError
   */
  const load = useCallback(
    (chunk: Chunk) => queryClient.ensureQueryData(chunkQuery(scope, chunk)),
    [queryClient, scope],
  );

  /**
   * The file records of a chunk.
   * @throws ApiError, OfflineError
   */
  const loadRecords = useCallback(
    (chunk: Chunk): Promise<(PhotoRecord & FileRecord)[]> => queryClient.fetchQuery(recordsQuery(scope, chunk)),
    [queryClient, scope],
  );

  const known = photos.size === 0 ? daysOf(newest) : photos;
  return { timeline, days: shapedDays, isReady, chunks, photos: known, chunkOf, load, loadRecords };
}

/** The result of {@link usePhotoLibrary}. */
export type PhotoLibrary = ReturnType<typeof usePhotoLibrary>;

/** The photos by day. A chunk contains whole days. Days that have not changed are the same arrays as before. */
function byDay(
  results: readonly { readonly data?: readonly PhotoRecord[] | undefined }[],
): ReadonlyMap<string, readonly PhotoRecord[]> {
  return new Map(results.flatMap(({ data }) => (data === undefined ? [] : [...daysOf(data)])));
}

const grouped = new WeakMap<readonly PhotoRecord[], ReadonlyMap<string, readonly PhotoRecord[]>>();

function daysOf(photos: readonly PhotoRecord[]): ReadonlyMap<string, readonly PhotoRecord[]> {
  const known = grouped.get(photos) ?? Map.groupBy(photos, dayOf);
  grouped.set(photos, known);
  return known;
}

/** The local date on which a photo was taken. */
export function dayOf({ takenAt }: PhotoRecord): string {
  return takenAt.slice(0, 10);
}
