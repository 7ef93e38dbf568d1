/** Photos and videos of Immich, as files of an import. */
import type { SourceDetails } from "../../source.ts";
import type { Checksum } from "../server/download.ts";
import type { JsonFields } from "../server/json-fields.ts";

/** A photo or a video. */
export interface Asset {
  readonly id: string;
  readonly ownerId: string;
  readonly fileName: string;
  /** Of the content; undefined if the server has none. */
  readonly checksum: Checksum | undefined;
  readonly sizeBytes: number | undefined;
  readonly modifiedMs: number | undefined;
  /** Year and month in which it was taken, in the local time: `2024/07`. */
  readonly month: string;
  /** What is known without albums and tags. */
  readonly details: SourceDetails;
  /** The video of a live photo. */
  readonly videoId: string | undefined;
  readonly isTrashed: boolean;
  /** Its file is on a disk that the server has lost. */
  readonly isOffline: boolean;
  /** A part of another asset. */
  readonly isHidden: boolean;
  readonly isInStack: boolean;
  readonly isEdited: boolean;
  readonly isRated: boolean;
}

const SHA1_BYTES = 20;
/** Longer names are cut. */
const NAME_CHARACTERS_MAX = 500;
const MINUTE_MS = 60_000;
const OFFSET_MS_MAX = 14 * 60 * MINUTE_MS;

/** @throws SourceError if required fields are missing */
export function toAsset(fields: JsonFields): Asset {
  const exif = fields.optionalObject("exifInfo");
  const localDateTime = fields.string("localDateTime");
  const modifiedMs = Date.parse(fields.string("fileModifiedAt"));
  const originalPath = fields.optionalString("originalPath");
  return {
    id: fields.id("id"),
    ownerId: fields.string("ownerId"),
    fileName: fileNameOf(fields.string("originalFileName"), originalPath),
    checksum: toChecksum(fields.optionalString("checksum"), originalPath),
    sizeBytes: exif?.optionalNumber("fileSizeInByte"),
    modifiedMs: Number.isNaN(modifiedMs) ? undefined : modifiedMs,
    month: monthOf(localDateTime),
    details: detailsOf(fields, exif, localDateTime),
    videoId: fields.optionalString("livePhotoVideoId"),
    isTrashed: fields.isTrue("isTrashed"),
    isOffline: fields.isTrue("isOffline"),
    isHidden: fields.optionalString("visibility") === "hidden",
    isInStack: fields.optionalObject("stack") !== undefined,
    isEdited: fields.isTrue("isEdited"),
    isRated: (exif?.optionalNumber("rating") ?? 0) > 0,
  };
}

/** Old versions have names without an extension. */
function fileNameOf(name: string, originalPath: string | undefined): string {
  const extension = extensionOf(name);
  const stem = name.slice(0, name.length - extension.length).slice(0, NAME_CHARACTERS_MAX);
  return stem + (extension === "" ? extensionOf(originalPath ?? "") : extension);
}

/** The extension of a name or path, with its dot; empty if it has none. */
export function extensionOf(path: string): string {
  return /[^/]\.([0-9a-z]{1,10})$/i.exec(path)?.[0].slice(1) ?? "";
}

/** For files of external libraries, the checksum is that of their path. */
function toChecksum(base64: string | undefined, originalPath: string | undefined): Checksum | undefined {
  const bytes = Buffer.from(base64 ?? "", "base64");
  if (bytes.length !== SHA1_BYTES) return undefined;
  const hex = bytes.toString("hex");
  const ofPath = new Bun.CryptoHasher("sha1").update(`path:${originalPath ?? ""}`).digest("hex");
  return hex === ofPath ? undefined : { algorithm: "sha1", hex };
}

function monthOf(localDateTime: string): string {
  const [, year, month] = /^(\d{4})-(\d{2})-/.exec(localDateTime) ?? [];
  return year === undefined || month === undefined ? "undated" : `${year}/${month}`;
}

function detailsOf(fields: JsonFields, exif: JsonFields | undefined, localDateTime: string): SourceDetails {
  const [latitude, longitude] = [exif?.optionalNumber("latitude"), exif?.optionalNumber("longitude")];
  const description = exif?.optionalString("description");
  const takenAt = exif?.optionalString("dateTimeOriginal") ?? fields.string("fileCreatedAt");
  const capturedAt = capturedAtOf(takenAt, localDateTime, exif?.optionalString("timeZone") !== undefined);
  return {
    ...(capturedAt !== undefined && { capturedAt }),
    ...(latitude !== undefined && longitude !== undefined && { location: { latitude, longitude } }),
    ...(description !== undefined && { description }),
    ...(fields.isTrue("isFavorite") && { isFavorite: true }),
  };
}

/**
 * The capture time, with its offset from UTC if the server knows the time zone.
 * @param takenAt the instant
 * @param localDateTime the local time, written as if it were in UTC
 */
function capturedAtOf(takenAt: string, localDateTime: string, hasTimeZone: boolean): string | undefined {
  const instantMs = Date.parse(takenAt);
  if (Number.isNaN(instantMs)) return undefined;
  const localMs = Date.parse(localDateTime);
  const offsetMs = Math.round((localMs - instantMs) / MINUTE_MS) * MINUTE_MS;
  if (!hasTimeZone || Number.isNaN(offsetMs) || Math.abs(offsetMs) > OFFSET_MS_MAX) {
    return new Date(instantMs).toISOString();
  }
  return new Date(instantMs + offsetMs).toISOString().replace("Z", describeOffset(offsetMs / MINUTE_MS));
}

function describeOffset(minutes: number): string {
  const size = Math.abs(minutes);
  const [hours, rest] = [Math.floor(size / 60), size % 60].map((value) => String(value).padStart(2, "0"));
  return `${minutes < 0 ? "-" : "+"}${hours}:${rest}`;
}
