/** API requests of the photos page. */
import { queryOptions } from "@tanstack/react-query";
import type { ResponseData, Schemas } from "../../api/generated.ts";
import { request } from "../../api/http.ts";
import { keys, LIVE_INTERVAL_MS, live } from "../../api/queries.ts";
import type { FileRecord } from "../../api/types.ts";
import type { Chunk } from "./layout.ts";

/** Which kind of files is shown. */
export type PhotoKind = "all" | "photo" | "video";

/** Selects the photos of the page: by kind, and optionally by place. */
export interface PhotoScope {
  readonly kind: PhotoKind;
  /** The id of a place. */
  readonly place?: string | undefined;
}

/** A photo or video in the grid. */
export type PhotoRecord = Schemas["Photo"];

type Timeline = ResponseData["GET /api/photos/timeline"];

type Aspects = ResponseData["GET /api/photos/aspects"];

const PAGE = 1000;
const NEWEST_SHAPES = 500;
/** About as many as the first view shows. */
const NEWEST_PHOTOS = 30;
const SHAPES_PAGE = 5000;
const SETTLING_INTERVAL_MS = 3000;

function timelineKey(scope: PhotoScope) {
  return [...keys.photos, "timeline", scope] as const;
}

/** The number of photos per day. */
export function timelineQuery(scope: PhotoScope) {
  return queryOptions({
    queryKey: timelineKey(scope),
    queryFn: ({ signal }) => request<Timeline>("GET", "/api/photos/timeline", { query: queryOf(scope), signal }),
    // While older photos are being indexed, the number grows every second. New photos can move to another day when
    // their metadata has been read.
    refetchInterval: ({ state }) =>
      state.data?.isIndexing || state.data?.isSettling ? SETTLING_INTERVAL_MS : LIVE_INTERVAL_MS,
    refetchOnWindowFocus: "always",
  });
}

/** The photos of today's date in one earlier year. */
export type Memory = ResponseData["GET /api/photos/memories"]["memories"][number];

/** The photos of the same month and day in earlier years. @param date today's local date */
export function memoriesQuery(date: string) {
  return queryOptions({
    queryKey: [...keys.photos, "memories", date],
    queryFn: async ({ signal }) => {
      const { memories } = await request<ResponseData["GET /api/photos/memories"]>("GET", "/api/photos/memories", {
        query: { date },
        signal,
      });
      return memories;
    },
    staleTime: LIVE_INTERVAL_MS,
  });
}

/** The photos of a chunk of days. If there are fewer than the timeline counts, the timeline is loaded again. */
export function chunkQuery(scope: PhotoScope, chunk: Chunk) {
  return queryOptions({
    queryKey: [...keys.photos, "chunk", scope, chunk],
    queryFn: async ({ signal, client }) => {
      const photos = await readChunk<PhotoRecord>(scope, chunk, false, signal);
      if (photos.length < chunk.count) void client.invalidateQueries({ queryKey: timelineKey(scope) });
      return photos;
    },
    ...live,
    staleTime: LIVE_INTERVAL_MS,
    gcTime: 120_000,
  });
}

/** The newest photos, for the first view. Requested with the timeline, before the visible days are known. */
export function newestPhotosQuery(scope: PhotoScope) {
  return queryOptions({
    queryKey: [...keys.photos, "newest", scope],
    queryFn: async ({ signal }) => {
      const query = { limit: NEWEST_PHOTOS, ...queryOf(scope) };
      return (await request<{ photos: PhotoRecord[] }>("GET", "/api/photos", { query, signal })).photos;
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
}

/** The photos of a chunk with their full file records, for actions on them. */
export function recordsQuery(scope: PhotoScope, chunk: Chunk) {
  return queryOptions({
    queryKey: [...keys.photos, "records", scope, chunk],
    queryFn: ({ signal }) => readChunk<PhotoRecord & FileRecord>(scope, chunk, true, signal),
    staleTime: 10_000,
    gcTime: 60_000,
  });
}

/** The shapes of the photos by day, see {@link ShapedDay}. */
export type Shapes = ReadonlyMap<string, readonly number[]>;

/** The shapes of the newest photos, for the first view. Requested in parallel with the timeline. */
export function newestShapesQuery(scope: PhotoScope) {
  return queryOptions({
    queryKey: [...keys.photos, "shapes", scope, "newest"],
    queryFn: ({ signal }) => readShapes(scope, {}, NEWEST_SHAPES, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
}

/** The shapes of the photos of a chunk of days. */
export function shapesQuery(scope: PhotoScope, chunk: Chunk) {
  return queryOptions({
    queryKey: [...keys.photos, "shapes", scope, chunk],
    queryFn: ({ signal }) => readShapes(scope, { at: chunk.from }, chunk.count, signal),
    gcTime: 0,
  });
}

async function readShapes(
  scope: PhotoScope,
  start: { readonly at?: string },
  count: number,
  signal: AbortSignal,
): Promise<Shapes> {
  const shapes = new Map<string, number[]>();
  let position: { at?: string; cursor?: string } = start;
  for (let missing = count; missing > 0; ) {
    const query = { ...position, limit: Math.min(SHAPES_PAGE, missing), ...queryOf(scope) };
    // oxlint-disable-next-line no-await-in-loop -- each page says where the next one starts
    const { days, nextCursor } = await request<Aspects>("GET", "/api/photos/aspects", { query, signal });
    for (const { date, aspects } of days) {
      const before = shapes.get(date);
      if (before === undefined) shapes.set(date, [...aspects]);
      else before.push(...aspects);
      missing -= aspects.length;
    }
    if (nextCursor === null) break;
    position = { cursor: nextCursor };
  }
  return shapes;
}

async function readChunk<T extends PhotoRecord>(
  scope: PhotoScope,
  chunk: Chunk,
  isFull: boolean,
  signal: AbortSignal,
): Promise<T[]> {
  const collected: T[] = [];
  let position: { at?: string; cursor?: string } = { at: chunk.from };
  for (;;) {
    const limit = Math.max(1, Math.min(PAGE, chunk.count - collected.length));
    const query = { ...position, limit, ...queryOf(scope), full: isFull || undefined };
    const { photos, nextCursor } = await request<{ photos: T[]; nextCursor: string | null }>("GET", "/api/photos", {
      query,
      signal,
    });
    const inside = photos.filter(({ takenAt }) => takenAt.slice(0, 10) >= chunk.to);
    collected.push(...inside);
    if (nextCursor === null || inside.length < photos.length || collected.length >= chunk.count) return collected;
    position = { cursor: nextCursor };
  }
}

function queryOf({ kind, place }: PhotoScope) {
  return { type: kind === "all" ? undefined : kind, place };
}
