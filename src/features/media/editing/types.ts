import type { Quarter } from "./orientation.ts";

/** A rectangle in pixels of the displayed picture. */
export interface CropArea {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A change of a picture: first rotated, then cropped. */
export interface PictureEdit {
  /** Degrees clockwise. */
  readonly rotate?: Quarter | undefined;
  /** In pixels of the picture after the rotation. */
  readonly crop?: CropArea | undefined;
}

/** What the editing process reads from its standard input. */
export interface EditRequest {
  readonly path: string;
  readonly mediaType: string;
  readonly edit: PictureEdit;
  /** Where and how sharp's libraries are loaded. */
  readonly nativeDir: string;
  readonly libvips: string | undefined;
}
