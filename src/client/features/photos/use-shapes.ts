import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { aspectOf } from "../../entries/justified/layout.ts";
import type { ShapedDay } from "../../entries/justified/types.ts";
import { newestShapesQuery, type PhotoScope, type PhotoRecord, type Shapes, shapesQuery } from "./api.ts";
import { CHUNK_SHAPES, chunksBetween, chunksOf, type DayCount } from "./layout.ts";

/**
 * The days with the shapes of their photos, if these are loaded. Loads the shapes for the visible days and for the days
 * around them. Loaded shapes are never dropped, so that the grid does not move.
 * @param photos the loaded records. Their shapes take precedence, because they are newer
 */
export function useShapes(
  scope: PhotoScope,
  days: readonly DayCount[],
  visibleDays: { readonly newest: string; readonly oldest: string } | undefined,
  photos: ReadonlyMap<string, readonly PhotoRecord[]>,
): { readonly days: readonly ShapedDay[]; readonly isReady: boolean } {
  const queryClient = useQueryClient();
  const newest = useQuery(newestShapesQuery(scope));
  const [loaded, setLoaded] = useState<Shapes>(NONE);
  const chunks = useMemo(() => chunksOf(days, CHUNK_SHAPES), [days]);
  const requested = useRef(new Set<string>());
  useEffect(() => {
    if (visibleDays === undefined) return;
    const visible = chunksBetween(chunks, visibleDays.newest, visibleDays.oldest);
    const around = new Set(visible.flatMap((index) => [index - 1, index, index + 1]));
    for (const chunk of [...around].flatMap((index) => chunks[index] ?? [])) {
      const key = JSON.stringify(chunk);
      if (requested.current.has(key)) continue;
      requested.current.add(key);
      queryClient.fetchQuery(shapesQuery(scope, chunk)).then(
        (shapes) => setLoaded((before) => new Map([...before, ...shapes])),
        // The layout uses estimates until these days are visible again, which repeats the request.
        () => requested.current.delete(key),
      );
    }
  }, [queryClient, scope, chunks, visibleDays]);
  return { days: useShapedDays(days, newest.data ?? NONE, loaded, photos), isReady: !newest.isPending };
}

const NONE: Shapes = new Map();

/** Combines days with their shapes. Days that have not changed are the same objects as before. */
function useShapedDays(
  days: readonly DayCount[],
  newest: Shapes,
  loaded: Shapes,
  photos: ReadonlyMap<string, readonly PhotoRecord[]>,
): readonly ShapedDay[] {
  const before = useRef<ReadonlyMap<string, ShapedDay>>(new Map());
  const fromRecords = useRef(new Map<string, readonly number[]>());
  return useMemo(() => {
    for (const [date, records] of photos) fromRecords.current.set(date, records.map(aspectOf));
    const shaped = days.map((day) => {
      const aspects = fromRecords.current.get(day.date) ?? loaded.get(day.date) ?? newest.get(day.date);
      const known = before.current.get(day.date);
      const isSame = known?.count === day.count && isEqual(known.aspects, aspects);
      return known !== undefined && isSame ? known : { ...day, aspects };
    });
    before.current = new Map(shaped.map((day) => [day.date, day]));
    return shaped;
  }, [days, newest, loaded, photos]);
}

function isEqual(one: readonly number[] | undefined, other: readonly number[] | undefined): boolean {
  if (one === other || one === undefined || other === undefined) return one === other;
  return one.length === other.length && one.every((value, at) => value === other[at]);
}
