/** API requests of the photos page. */
import { queryOptions } from "@tanstack/react-query";
import type { ResponseData, Schemas } from "../../api/generated.ts";
import { request } from "../../api/http.ts";
import { keys, LIVE_INTERVAL_MS, live } from "../../api/queries.ts";
import type { FileRecord } from "../../api/types.ts";
import type { Chunk } from "./layout.ts";

/** Which photos are shown. */
export type PhotoKind = "all" | "photo" | "video";

/** A photo or video in the grid. */
export type PhotoRecord = Schemas["Photo"];

type Timeline = ResponseData["GET /api/photos/timeline"];

type Aspects = ResponseData["GET /api/photos/aspects"];

const PAGE = 1000;
const NEWEST_SHAPES = 500;
const SHAPES_PAGE = 5000;
const SETTLING_INTERVAL_MS = 3000;

function timelineKey(kind: PhotoKind) {
  return [...keys.photos, "timeline", kind] as const;
}

/** The number of photos per day. */
export function timelineQuery(kind: PhotoKind) {
  return queryOptions({
    queryKey: timelineKey(kind),
    queryFn: ({ signal }) =>
      request<Timeline>("GET", "/api/photos/timeline", { query: { type: typeOf(kind) }, signal }),
    // While older photos are being indexed, the number grows every second, and new photos may still move to another
    // day.
    refetchInterval: ({ state }) =>
      state.data?.isIndexing || state.data?.isSettling ? SETTLING_INTERVAL_MS : LIVE_INTERVAL_MS,
    refetchOnWindowFocus: "always",
  });
}

/** The photos of some days. If there are fewer than counted, the days are counted again. */
export function chunkQuery(kind: PhotoKind, chunk: Chunk) {
  return queryOptions({
    queryKey: [...keys.photos, "chunk", kind, chunk],
    queryFn: async ({ signal, client }) => {
      const photos = await readChunk<PhotoRecord>(kind, chunk, false, signal);
      if (photos.length < chunk.count) void client.invalidateQueries({ queryKey: timelineKey(kind) });
      return photos;
    },
    ...live,
    staleTime: LIVE_INTERVAL_MS,
    gcTime: 120_000,
  });
}

/** The same photos with their full file records, for actions on them. */
export function recordsQuery(kind: PhotoKind, chunk: Chunk) {
  return queryOptions({
    queryKey: [...keys.photos, "records", kind, chunk],
    queryFn: ({ signal }) => readChunk<PhotoRecord & FileRecord>(kind, chunk, true, signal),
    staleTime: 10_000,
    gcTime: 60_000,
  });
}

/** The shapes of the photos of each day, see {@link ShapedDay}. */
export type Shapes = ReadonlyMap<string, readonly number[]>;

/** The shapes of the newest photos, which the first view needs. Requested together with the timeline. */
export function newestShapesQuery(kind: PhotoKind) {
  return queryOptions({
    queryKey: [...keys.photos, "shapes", kind, "newest"],
    queryFn: ({ signal }) => readShapes(kind, {}, NEWEST_SHAPES, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
}

/** The shapes of the photos of some days. */
export function shapesQuery(kind: PhotoKind, chunk: Chunk) {
  return queryOptions({
    queryKey: [...keys.photos, "shapes", kind, chunk],
    queryFn: ({ signal }) => readShapes(kind, { at: chunk.from }, chunk.count, signal),
    gcTime: 0,
  });
}

async function readShapes(
  kind: PhotoKind,
  start: { readonly at?: string },
  count: number,
  signal: AbortSignal,
): Promise<Shapes> {
  const shapes = new Map<string, number[]>();
  let position: { at?: string; cursor?: string } = start;
  for (let missing = count; missing > 0; ) {
    const query = { ...position, limit: Math.min(SHAPES_PAGE, missing), type: typeOf(kind) };
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
  kind: PhotoKind,
  chunk: Chunk,
  isFull: boolean,
  signal: AbortSignal,
): Promise<T[]> {
  const collected: T[] = [];
  let position: { at?: string; cursor?: string } = { at: chunk.from };
  for (;;) {
    const limit = Math.max(1, Math.min(PAGE, chunk.count - collected.length));
    const query = { ...position, limit, type: typeOf(kind), full: isFull || undefined };
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

function typeOf(kind: PhotoKind): string | undefined {
  return kind === "all" ? undefined : kind;
}
