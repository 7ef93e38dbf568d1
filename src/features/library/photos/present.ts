import { toTimestamp } from "../../../lib/clock.ts";
import { presentFileItem, presentShareMark } from "../files/present.ts";
import type { ShareMark } from "../marks/share-marks.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { toDate, toCursor } from "./cursor.ts";
import type { AspectPage, PhotoPage, PhotoTimeline } from "./service.ts";
import { ELSEWHERE_ID } from "../../media/places/types.ts";
import { ELSEWHERE } from "./model.ts";
import type { Photo, PhotoMemory, PhotoPlace } from "./types.ts";

/** Data for presenting photos, in addition to the photos. */
export interface PhotoContext {
  /** `http://host[:port][/base]` */
  readonly baseUrl: string;
  readonly hasThumbnail: (content: Pick<FileNode, "mediaType" | "digest">) => boolean;
  /** Row ids of the files that the caller marked. */
  readonly favorites: ReadonlySet<number>;
  /** How the caller shares the files, by row id. */
  readonly shares: ReadonlyMap<number, ShareMark>;
}

/** A page of GET /api/photos. @param files the files by row id, to be shown with all fields of a listing */
export function presentPhotos(
  { photos, next }: PhotoPage,
  context: PhotoContext,
  files?: ReadonlyMap<number, FileNode>,
) {
  return {
    photos: photos.flatMap((photo) => {
      const shown = presentPhoto(photo, context);
      if (files === undefined) return [shown];
      const file = files.get(photo.nodeId);
      if (file === undefined) return [];
      return [{ ...shown, ...presentFileItem(file, context), isFavorite: shown.isFavorite, shared: shown.shared }];
    }),
    nextCursor: next === undefined ? null : toCursor(next),
  };
}

/** GET /api/photos/timeline. */
export function presentTimeline({ days, total }: PhotoTimeline) {
  return { days: days.map(({ day, count }) => ({ date: toDate(day), count })), total };
}

/** The places of GET /api/photos/places. */
export function presentPlaces(
  places: readonly PhotoPlace[],
  { baseUrl, hasThumbnail }: Omit<PhotoContext, "favorites" | "shares">,
) {
  return places.map(({ id, cover, ...place }) => ({
    id: id === ELSEWHERE_ID ? ELSEWHERE : String(id),
    ...place,
    coverFileId: cover.publicId,
    coverUrl: `${baseUrl}/api/files/${cover.publicId}/download?thumbnail=true`,
    hasCover: hasThumbnail(cover),
  }));
}

/** A page of GET /api/photos/aspects. */
export function presentAspects({ photos, next }: AspectPage) {
  const days: { readonly date: string; readonly aspects: number[] }[] = [];
  let last: number | undefined;
  for (const { day, aspect } of photos) {
    if (day === last) days.at(-1)?.aspects.push(aspect);
    else days.push({ date: toDate(day), aspects: [aspect] });
    last = day;
  }
  return { days, nextCursor: next === undefined ? null : toCursor(next) };
}

/** GET /api/photos/memories. */
export function presentMemories(memories: readonly PhotoMemory[], context: PhotoContext) {
  return {
    memories: memories.map(({ day, count, photos }) => ({
      date: toDate(day),
      count,
      photos: photos.map((photo) => presentPhoto(photo, context)),
    })),
  };
}

function presentPhoto(photo: Photo, { baseUrl, hasThumbnail, favorites, shares }: PhotoContext) {
  const { publicId, name, mediaType, sizeBytes, isVideo, width, height, durationMs, motion, motionFileId } = photo;
  return {
    id: publicId,
    name,
    isVideo,
    mimeType: mediaType,
    size: sizeBytes,
    width,
    height,
    durationSeconds: durationMs === null ? null : durationMs / 1000,
    motion,
    motionFileId,
    takenAt: toTakenAt(photo),
    thumbnailUrl: `${baseUrl}/api/files/${publicId}/download?thumbnail=true`,
    hasThumbnail: hasThumbnail(photo),
    isFavorite: favorites.has(photo.nodeId),
    shared: presentShareMark(shares.get(photo.nodeId)),
  };
}

/** The fields by which a grid shows a photo, for the record of any file: null for other files. */
export function presentPhotoFields(photo: Photo | undefined) {
  const { durationMs = null } = photo ?? {};
  return {
    width: photo?.width ?? null,
    height: photo?.height ?? null,
    durationSeconds: durationMs === null ? null : durationMs / 1000,
    takenAt: photo === undefined ? null : toTakenAt(photo),
    motion: photo?.motion ?? null,
    motionFileId: photo?.motionFileId ?? null,
  };
}

/** With the UTC offset of the location, so that the first ten characters are the local date. */
function toTakenAt({ takenAtMs, offsetMinutes }: Photo): string {
  const local = toTimestamp(takenAtMs);
  if (offsetMinutes === null) return local;
  const minutes = Math.abs(offsetMinutes);
  return `${local.slice(0, -1)}${offsetMinutes < 0 ? "-" : "+"}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`;
}

function pad(value: number): string {
  return String(value).padStart(2, "0");
}
