import type { Digest } from "../../../blobs/digest.ts";
import type { Town } from "../../media/places/types.ts";

/** Types of photos: pictures and videos. */
export const PHOTO_TYPES = ["photo", "video"] as const;

/** One of {@link PHOTO_TYPES}. */
export type PhotoType = (typeof PHOTO_TYPES)[number];

/** Selects photos of an account. Absent fields do not restrict the selection. */
export interface PhotoFilter {
  readonly type?: PhotoType | undefined;
  /** All of them. */
  readonly tags?: readonly string[] | undefined;
  /** Only below this folder; normalized. */
  readonly folderPath?: string | undefined;
  /** Only those taken at this place. */
  readonly placeId?: number | undefined;
}

/**
 * The position of a photo among all photos of its account, newest first; it changes only with the date of the photo.
 */
export interface PhotoPosition {
  /** Days since 1970, where it was taken. */
  readonly day: number;
  /** Local time there, in milliseconds since 1970 as if it were UTC. */
  readonly takenAtMs: number;
  readonly nodeId: number;
}

/** A picture or video. */
export interface Photo extends PhotoPosition {
  readonly publicId: string;
  readonly name: string;
  readonly mediaType: string;
  readonly sizeBytes: number;
  readonly digest: Digest;
  /** Offset of the clock where it was taken; null if unknown. */
  readonly offsetMinutes: number | null;
  readonly isVideo: boolean;
  /** Pixels as displayed; null until the metadata is read, or if it has none. */
  readonly width: number | null;
  readonly height: number | null;
  readonly durationMs: number | null;
  /** The short video that belongs to a photo, in a file of its own or in the same one; null if there is none. */
  readonly motion: "pair" | "embedded" | null;
  /** The API's id of the file with that video; null unless it is one of its own. */
  readonly motionFileId: string | null;
}

/** A town, or everything far from all towns, and how many photos were taken there. */
export interface PhotoPlace extends Omit<Town, "country" | "latitude" | "longitude"> {
  readonly country: string | null;
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly count: number;
  /** The newest photo. */
  readonly cover: { readonly publicId: string; readonly mediaType: string; readonly digest: Digest };
}

/** How many photos were taken on a day. */
export interface PhotoDay {
  /** Days since 1970. */
  readonly day: number;
  readonly count: number;
}

/** The shape of a photo in the list. */
export interface PhotoAspect extends PhotoPosition {
  /** Width divided by height as displayed, in percent; 0 if unknown. */
  readonly aspect: number;
}

/** The photos of one day of an earlier year. */
export interface PhotoMemory extends PhotoDay {
  /** The newest of them. */
  readonly photos: readonly Photo[];
}
