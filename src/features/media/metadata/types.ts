/** Embedded metadata of a file; null for what it does not contain. */
export interface MediaInfo {
  /** Pixels as displayed, rotated according to the orientation. */
  readonly width: number | null;
  readonly height: number | null;
  /** Orientation of the stored pixels, 1 to 8 (Exif 2.32). */
  readonly orientation: number | null;
  readonly durationMs: number | null;
  /** ISO 8601 with an offset. */
  readonly takenAt: string | null;
  /** Make and model. */
  readonly camera: string | null;
  /** Degrees. */
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly codec: string | null;
  /** Bits per second. */
  readonly bitrate: number | null;
  readonly title: string | null;
  readonly artist: string | null;
  readonly album: string | null;
}

/** A file without metadata. */
export const NO_MEDIA_INFO: MediaInfo = Object.freeze({
  width: null,
  height: null,
  orientation: null,
  durationMs: null,
  takenAt: null,
  camera: null,
  latitude: null,
  longitude: null,
  codec: null,
  bitrate: null,
  title: null,
  artist: null,
  album: null,
});

/** To the process: read this file. */
export interface ReadRequest {
  readonly id: number;
  readonly path: string;
  readonly mediaType: string;
}

/** From the process: it is ready, the metadata of a file, or why it could not be read. */
export type FromProcess =
  | { readonly type: "hello" }
  | { readonly type: "read"; readonly id: number; readonly info: MediaInfo }
  | { readonly type: "failed"; readonly id: number; readonly reason: string };

/** Whether files of this media type may contain metadata. */
export function hasMetadata(mediaType: string): boolean {
  return /^(image\/(jpeg|png|webp|heic|heif|avif|tiff|gif)|audio\/.+|video\/.+|application\/ogg)(;|$)/i.test(mediaType);
}
