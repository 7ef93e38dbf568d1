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

/** Where and how sharp's libraries are loaded. */
interface NativeLibraries {
  readonly nativeDir: string;
  readonly libvips: string | undefined;
}

/** The line that the editing process reads from its standard input to edit a file. */
export interface EditRequest extends NativeLibraries {
  readonly path: string;
  readonly mediaType: string;
  readonly edit: PictureEdit;
}

/** The line before the bytes of an image of which the editing process makes the pictures of a person. */
export interface AvatarRequest extends NativeLibraries {
  readonly isAvatar: true;
}

/** The pictures of a person, as WebP. */
export interface AvatarPictures {
  /** 256 × 256 pixels. */
  readonly large: Buffer;
  /** 64 × 64 pixels. */
  readonly small: Buffer;
}
