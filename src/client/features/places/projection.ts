/** Positions on the map of the world: Mercator, 360 units wide, with 0 in the middle. */

/** A position in units of the map. */
export interface MapPoint {
  readonly x: number;
  readonly y: number;
}

/** A part of the map. */
export interface MapView {
  /** The center. */
  readonly x: number;
  readonly y: number;
  /** Pixels per unit. */
  readonly scale: number;
}

/** Farther north and south the map is stretched too much. */
const LATITUDE_MAX = 84;
/** How far to zoom in: a town and its surroundings. */
const SCALE_MAX = 400;
/** Around the places, in pixels. The zoom buttons are at one side. */
const MARGIN = { x: 72, y: 40 };

/** The position of a place on the map. */
export function project(latitude: number, longitude: number): MapPoint {
  const clamped = Math.max(-LATITUDE_MAX, Math.min(LATITUDE_MAX, latitude));
  const radians = (clamped * Math.PI) / 180;
  return { x: longitude, y: -(180 / Math.PI) * Math.log(Math.tan(Math.PI / 4 + radians / 2)) };
}

/** The view that shows all of these points, not closer than a country. */
export function fitView(points: readonly MapPoint[], width: number, height: number): MapView {
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
  const [left, right] = points.length === 0 ? [-180, 180] : [Math.min(...xs), Math.max(...xs)];
  const [top, bottom] = points.length === 0 ? [-90, 90] : [Math.min(...ys), Math.max(...ys)];
  const across = Math.max(right - left, 8);
  const down = Math.max(bottom - top, 5);
  const scale = Math.min((width - 2 * MARGIN.x) / across, (height - 2 * MARGIN.y) / down);
  return limitView({ x: (left + right) / 2, y: (top + bottom) / 2, scale }, width);
}

/** The same view, zoomed so that one point stays where it is. @param at pixels from the center */
export function zoomView(view: MapView, factor: number, width: number, at = { x: 0, y: 0 }): MapView {
  const { scale } = limitView({ ...view, scale: view.scale * factor }, width);
  return limitView(
    {
      x: view.x + at.x / view.scale - at.x / scale,
      y: view.y + at.y / view.scale - at.y / scale,
      scale,
    },
    width,
  );
}

/**
 * Keeps the map in view, with the middle of the view on the map. The map is at least half as wide as the view: places far
 * to the north and south also fit into a wide view.
 */
export function limitView({ x, y, scale }: MapView, width: number): MapView {
  return {
    x: Math.max(-180, Math.min(180, x)),
    y: Math.max(-150, Math.min(150, y)),
    scale: Math.max(width / 720, Math.min(SCALE_MAX, scale)),
  };
}

/** Lines of the file outlines.txt as the paths of an SVG: areas of land, and borders between countries. */
export function readOutlines(lines: string): { readonly land: string; readonly borders: string } {
  const paths = { L: "", B: "" };
  for (const line of lines.split("\n")) {
    const kind = line.startsWith("L") ? "L" : "B";
    let [longitude, latitude] = [0, 0];
    const numbers = line.match(/-?\d+/g)?.map(Number) ?? [];
    for (let at = 0; at + 1 < numbers.length; at += 2) {
      longitude += numbers[at] ?? 0;
      latitude += numbers[at + 1] ?? 0;
      const { x, y } = project(latitude / 10, longitude / 10);
      paths[kind] += `${at === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(2)}`;
    }
    if (kind === "L" && numbers.length > 0) paths.L += "Z";
  }
  return { land: paths.L, borders: paths.B };
}
