/** The geometry of cropping, in pixels of the image. */

/** The area to keep. */
export interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Edges and corners that can be dragged: -1 for left or top, 1 for right or bottom, 0 for neither. */
export interface Handle {
  readonly x: -1 | 0 | 1;
  readonly y: -1 | 0 | 1;
}

/** All handles, clockwise from the top left corner. */
export const HANDLES: readonly Handle[] = [
  { x: -1, y: -1 },
  { x: 0, y: -1 },
  { x: 1, y: -1 },
  { x: 1, y: 0 },
  { x: 1, y: 1 },
  { x: 0, y: 1 },
  { x: -1, y: 1 },
  { x: -1, y: 0 },
];

/** The smallest side of an area that can be dragged. */
const SIDE_MIN = 16;

/** The largest area with this ratio of width to height, in the middle of the image. */
export function centered({ width, height }: Size, ratio: number | undefined): Area {
  if (ratio === undefined) return { x: 0, y: 0, width, height };
  const w = Math.max(1, Math.min(width, Math.round(height * ratio)));
  const h = Math.max(1, Math.min(height, Math.round(w / ratio)));
  return { x: Math.round((width - w) / 2), y: Math.round((height - h) / 2), width: w, height: h };
}

/** The area moved by a distance, inside the image. */
export function moved(area: Area, dx: number, dy: number, picture: Size): Area {
  return {
    ...area,
    x: clamp(Math.round(area.x + dx), 0, picture.width - area.width),
    y: clamp(Math.round(area.y + dy), 0, picture.height - area.height),
  };
}

/** The area after a handle was dragged. With a ratio, the side that is not dragged follows. */
export function resized(
  area: Area,
  handle: Handle,
  drag: { dx: number; dy: number },
  picture: Size,
  ratio?: number,
): Area {
  const side = Math.min(SIDE_MIN, picture.width, picture.height);
  const right = area.x + area.width;
  const bottom = area.y + area.height;
  let left = handle.x < 0 ? clamp(area.x + drag.dx, 0, right - side) : area.x;
  let top = handle.y < 0 ? clamp(area.y + drag.dy, 0, bottom - side) : area.y;
  let width = (handle.x > 0 ? clamp(right + drag.dx, left + side, picture.width) : right) - left;
  let height = (handle.y > 0 ? clamp(bottom + drag.dy, top + side, picture.height) : bottom) - top;
  if (ratio !== undefined) {
    // How far the other side can grow, from the edge that stays.
    const widthMax = handle.x < 0 ? right : picture.width - left;
    const heightMax = handle.y < 0 ? bottom : picture.height - top;
    width = handle.x === 0 ? height * ratio : width;
    width = Math.min(width, widthMax, heightMax * ratio);
    height = width / ratio;
    if (handle.x < 0) left = right - width;
    if (handle.y < 0) top = bottom - height;
  }
  return rounded({ x: left, y: top, width, height }, picture);
}

/** Whole pixels inside the image, at least one. */
export function rounded(area: Area, picture: Size): Area {
  const x = clamp(Math.round(area.x), 0, picture.width - 1);
  const y = clamp(Math.round(area.y), 0, picture.height - 1);
  return {
    x,
    y,
    width: clamp(Math.round(area.width), 1, picture.width - x),
    height: clamp(Math.round(area.height), 1, picture.height - y),
  };
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max);
}
