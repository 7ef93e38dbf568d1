import type { PlaceRecord } from "../../api/places.ts";
import { type MapPoint, type MapView, project } from "./projection.ts";

/** Places that are too close to each other at this zoom, as one marker. */
export interface Cluster {
  /** Most photos first. */
  readonly places: readonly PlaceRecord[];
  /** The position of the first place. */
  readonly point: MapPoint;
  readonly count: number;
}

/** Markers closer than this are one, in pixels. */
const DISTANCE = 40;

/** Groups the places with a position. @param places most photos first */
export function clusterPlaces(places: readonly PlaceRecord[], { scale }: Pick<MapView, "scale">): Cluster[] {
  const clusters: { places: PlaceRecord[]; point: MapPoint; count: number }[] = [];
  for (const place of places) {
    const point = pointOf(place);
    if (point === undefined) continue;
    const near = clusters.find((cluster) => distance(cluster.point, point) * scale < DISTANCE);
    if (near === undefined) clusters.push({ places: [place], point, count: place.count });
    else {
      near.places.push(place);
      near.count += place.count;
    }
  }
  return clusters;
}

/** The position of a place on the map; undefined for "elsewhere". */
export function pointOf({ latitude, longitude }: PlaceRecord): MapPoint | undefined {
  return latitude === null || longitude === null ? undefined : project(latitude, longitude);
}

function distance(one: MapPoint, other: MapPoint): number {
  return Math.hypot(one.x - other.x, one.y - other.y);
}
