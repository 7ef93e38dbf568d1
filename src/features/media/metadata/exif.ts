/** Reads when and where a photo was taken from its Exif tags (Exif 2.32), for what the client does not send. */
import type { Tags } from "exifreader";

/** The time and place of a photo. */
export interface ExifData {
  /** ISO 8601 with an offset. */
  readonly capturedAt: string | undefined;
  /** Latitude and longitude in degrees, separated by a comma. */
  readonly location: string | undefined;
}

/** Bytes read from the beginning: all formats written by phones have their tags before the pixels. */
export const EXIF_HEAD_BYTES = 512 * 1024;

const NOTHING: ExifData = { capturedAt: undefined, location: undefined };

/** Formats that may carry Exif. */
const WITH_EXIF: ReadonlySet<string> = new Set([
  "image/jpeg",
  "image/tiff",
  "image/heic",
  "image/heif",
  "image/avif",
  "image/png",
  "image/webp",
]);

/**
 * Reads the tags of a photo. Invalid tags are ignored rather than guessed. Never throws.
 *
 * The time is that of the shutter in its own offset (OffsetTimeOriginal). Without one, the offset follows from the UTC
 * time of the GPS; else the time is taken as UTC.
 */
export async function readExif(head: Uint8Array<ArrayBuffer>, mediaType: string): Promise<ExifData> {
  if (!WITH_EXIF.has(mediaType)) return NOTHING;
  try {
    const { default: exif } = await import("exifreader");
    const bytes = head.slice(0, EXIF_HEAD_BYTES);
    const tags = exif.load(bytes.buffer, { includeTags: { exif: true, gps: true }, includeUnknown: false });
    return { capturedAt: capturedAtOf(tags), location: locationOf(tags) };
  } catch {
    return NOTHING; // no tags, or invalid ones
  }
}

/** `lat,long` in degrees, each within its range; undefined for anything else. */
export function readLocation(text: string): string | undefined {
  const found = /^\s*([+-]?\d{1,3}(?:\.\d{1,15})?)\s*,\s*([+-]?\d{1,3}(?:\.\d{1,15})?)\s*$/.exec(text);
  const [latitude, longitude] = [Number(found?.[1] ?? Number.NaN), Number(found?.[2] ?? Number.NaN)];
  return Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 ? text.trim() : undefined;
}

function capturedAtOf(tags: Tags): string | undefined {
  const local = parseLocal(textOf(tags.DateTimeOriginal) ?? textOf(tags.DateTimeDigitized));
  if (local === undefined) return undefined;
  const offset = textOf(tags.OffsetTimeOriginal) ?? textOf(tags.OffsetTimeDigitized) ?? textOf(tags.OffsetTime);
  const trusted = offset !== undefined && /^[+-]\d{2}:\d{2}$/.test(offset) ? offset : offsetFromGps(local, tags);
  const text = `${local}${trusted ?? "Z"}`;
  return Number.isNaN(Date.parse(text)) ? undefined : text;
}

/** `2026:01:02 03:04:05` as `2026-01-02T03:04:05`. */
function parseLocal(text: string | undefined): string | undefined {
  const [, year = "", month, day, hour, minute, second] =
    /^(\d{4}):(\d{2}):(\d{2}) (\d{2}):(\d{2}):(\d{2})/.exec(text ?? "") ?? [];
  if (second === undefined || Number(year) === 0) return undefined;
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  return Number.isNaN(Date.parse(`${iso}Z`)) ? undefined : iso;
}

const QUARTER_MS = 15 * 60 * 1000;
const OFFSET_QUARTERS_MAX = 14 * 4;

/** The offset between the camera's clock and the UTC time of the GPS, in whole quarters of an hour. */
function offsetFromGps(local: string, tags: Tags): string | undefined {
  const date = textOf(tags.GPSDateStamp)?.replaceAll(":", "-");
  const time = tags.GPSTimeStamp?.description;
  if (date === undefined || typeof time !== "string") return undefined;
  const [, hour, minute, second] = /^(\d{1,2}):(\d{1,2}):(\d{1,2})/.exec(time) ?? [];
  if (second === undefined) return undefined;
  const utcMs = Date.parse(`${date}T${pad(hour)}:${pad(minute)}:${pad(second)}Z`);
  const quarters = Math.round((Date.parse(`${local}Z`) - utcMs) / QUARTER_MS);
  if (Number.isNaN(quarters) || Math.abs(quarters) > OFFSET_QUARTERS_MAX) return undefined;
  const minutes = Math.abs(quarters) * 15;
  const hours = String(Math.floor(minutes / 60));
  return `${quarters < 0 ? "-" : "+"}${pad(hours)}:${pad(String(minutes % 60))}`;
}

function pad(text = ""): string {
  return text.padStart(2, "0");
}

function locationOf(tags: Tags): string | undefined {
  const latitude = degreesOf(tags.GPSLatitude, tags.GPSLatitudeRef, "S");
  const longitude = degreesOf(tags.GPSLongitude, tags.GPSLongitudeRef, "W");
  if (latitude === undefined || longitude === undefined) return undefined;
  // Some cameras write zeros if they don't know the location.
  if (latitude === 0 && longitude === 0) return undefined;
  return readLocation(`${latitude},${longitude}`);
}

/** Degrees, minutes and seconds as degrees, to about 10 cm. */
function degreesOf(tag: unknown, reference: unknown, negative: string): number | undefined {
  const value = valueOf(tag);
  if (!Array.isArray(value) || value.length !== 3) return undefined;
  const parts = value.map((part: unknown) =>
    Array.isArray(part) && part.length === 2 ? Number(part[0]) / Number(part[1]) : Number(part),
  );
  const [degrees = Number.NaN, minutes = Number.NaN, seconds = Number.NaN] = parts;
  const total = degrees + minutes / 60 + seconds / 3600;
  if (!Number.isFinite(total)) return undefined;
  const isNegative = textOf(reference)?.startsWith(negative) ?? false;
  return Number((isNegative ? -total : total).toFixed(6));
}

function valueOf(tag: unknown): unknown {
  return typeof tag === "object" && tag !== null && "value" in tag ? tag.value : undefined;
}

/** The text of a tag: its value is a list of one text. */
function textOf(tag: unknown): string | undefined {
  const value = valueOf(tag);
  const text: unknown = Array.isArray(value) ? value[0] : value;
  return typeof text === "string" ? text.replaceAll("\0", "").trim() : undefined;
}
