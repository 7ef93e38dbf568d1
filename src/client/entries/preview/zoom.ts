// The position of an image on its stage: scale 1 fits it in; `x` and `y` move its center, in screen pixels.

/** The position and scale of the image. */
export interface View {
  readonly scale: number;
  readonly x: number;
  readonly y: number;
}

/** Width and height in screen pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** A point relative to the center of the stage. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

export const WHOLE: View = { scale: 1, x: 0, y: 0 };
const SCALE_MAX = 16;

/** Scales by `factor` so that the image stays in place at `point`. */
export function zoomAt(view: View, factor: number, point: Point): View {
  const scale = Math.min(Math.max(view.scale * factor, 1), SCALE_MAX);
  const real = scale / view.scale;
  return { scale, x: point.x - (point.x - view.x) * real, y: point.y - (point.y - view.y) * real };
}

/** Pans the image. */
export function panBy(view: View, by: Point): View {
  return { ...view, x: view.x + by.x, y: view.y + by.y };
}

/** Keeps the image on the stage: a large one covers it, a small one stays centered. */
export function clampToStage(view: View, picture: Size, stage: Size): View {
  const spareX = Math.max((picture.width * view.scale - stage.width) / 2, 0);
  const spareY = Math.max((picture.height * view.scale - stage.height) / 2, 0);
  const keep = (value: number, spare: number): number => Math.min(Math.max(value, -spare), spare) + 0;
  return { scale: view.scale, x: keep(view.x, spareX), y: keep(view.y, spareY) };
}

/** The largest size of an image that fits the stage; never more than its own. */
export function fitOnStage(picture: Size, stage: Size): Size {
  const ratio = Math.min(stage.width / picture.width, stage.height / picture.height, 1);
  return { width: picture.width * ratio, height: picture.height * ratio };
}
