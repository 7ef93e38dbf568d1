import type { Town } from "../places/types.ts";
import type { RequestProcess } from "../processes/request-process.ts";

/**
 * The version of what a file is read for. Raise it when the reader learns something new, and when the towns change: files
 * that an earlier version read are then read again in the background.
 */
export const READING_VERSION = 1;

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

/** What makes a photo or video a part of a Live Photo; null for what it does not contain. */
export interface LiveParts {
  /** The identifier that a photo and its video share (Apple). */
  readonly contentId: string | null;
  /** The video inside a photo. */
  readonly motion: { readonly offset: number; readonly bytes: number } | null;
}

/** Everything that is read from a file. */
export interface MediaReading extends LiveParts {
  readonly info: MediaInfo;
  /** The town where it was taken; null without a position. */
  readonly place: Town | "elsewhere" | null;
}

/** What to read: a file, or only the place of a file that was read before and is not on this disk now. */
export type Source = { readonly path: string; readonly mediaType: string } | { readonly known: MediaInfo };

/** The process that reads metadata. */
export type MediaProcess = RequestProcess<Source, MediaReading>;

/** Whether files of this media type may contain metadata. */
export function hasMetadata(mediaType: string): boolean {
  return /^(image\/(jpeg|png|webp|heic|heif|avif|tiff|gif)|audio\/.+|video\/.+|application\/ogg)(;|$)/i.test(mediaType);
}
