/**
 * Reads the metadata of a file. Runs in its own process, because files may be hostile. It reads the first 512 KiB of
 * photos, and of audio and videos only the parts with metadata.
 */
import { open } from "node:fs/promises";
import { EXIF_HEAD_BYTES, readExif } from "./exif.ts";
import { readMovie } from "./read-movie.ts";
import { readLiveParts } from "./read-motion.ts";
import { type LiveParts, type MediaInfo, NO_MEDIA_INFO } from "./types.ts";

const TEXT_MAX = 200;
const PIXELS_MAX = 1_000_000;

/** @throws Error if no metadata can be read */
export async function readMedia(path: string, mediaType: string): Promise<LiveParts & { readonly info: MediaInfo }> {
  const type = mediaType.split(";")[0]?.trim().toLowerCase() ?? "";
  return type.startsWith("image/") ? readPicture(path, type) : readRecording(path, type);
}

async function readPicture(path: string, mediaType: string): Promise<LiveParts & { readonly info: MediaInfo }> {
  const { head, parts } = await readHead(path);
  const { capturedAt, location } = await readExif(head, mediaType);
  const { default: exif } = await import("exifreader");
  const tags: Readonly<Record<string, unknown>> = exif.load(head.buffer, { includeUnknown: false });
  const stored = {
    width: pixels(tags["Image Width"]) ?? pixels(tags["PixelXDimension"]) ?? pixels(tags["ImageWidth"]),
    height: pixels(tags["Image Height"]) ?? pixels(tags["PixelYDimension"]) ?? pixels(tags["ImageLength"]),
  };
  const orientation = orientationOf(tags["Orientation"]);
  const isTurned = orientation !== null && orientation >= 5;
  const [latitude, longitude] = location?.split(",").map(Number) ?? [];
  const info = {
    ...NO_MEDIA_INFO,
    width: isTurned ? stored.height : stored.width,
    height: isTurned ? stored.width : stored.height,
    orientation,
    takenAt: capturedAt ?? null,
    camera: cameraOf(textOf(tags["Make"]), textOf(tags["Model"])),
    latitude: latitude ?? null,
    longitude: longitude ?? null,
  };
  return { ...parts, info };
}

async function readRecording(path: string, mediaType: string): Promise<LiveParts & { readonly info: MediaInfo }> {
  const { parseFile } = await import("music-metadata");
  const [parsed, movie] = await Promise.all([
    // Videos of phones are described by their headers; the audio parser may find nothing in them.
    parseFile(path, { skipCovers: true, mkvUseIndex: true }).catch((error: unknown) => ({ error })),
    /^(video|audio)\/(mp4|quicktime|x-m4a|x-m4v|3gpp2?)$/.test(mediaType) ? readMovieAt(path) : undefined,
  ]);
  if ("error" in parsed && movie === undefined) throw parsed.error;
  const { contentId = null, ...described } = movie ?? {};
  const parts = { contentId, motion: null };
  if ("error" in parsed) return { ...parts, info: { ...NO_MEDIA_INFO, ...described } };
  const { format, common } = parsed;
  const video = format.trackInfo.find((track) => track.video?.pixelWidth !== undefined);
  const durationMs = format.duration === undefined ? null : count(format.duration * 1000);
  const info = {
    ...NO_MEDIA_INFO,
    width: movie?.width ?? pixels(video?.video?.pixelWidth),
    height: movie?.height ?? pixels(video?.video?.pixelHeight),
    durationMs: movie?.durationMs ?? durationMs,
    takenAt: movie?.takenAt ?? null,
    latitude: within(movie?.latitude, 90),
    longitude: within(movie?.longitude, 180),
    codec: text(video?.codecName?.replaceAll(/[<>]/g, "") ?? format.codec),
    bitrate: format.bitrate === undefined ? null : count(format.bitrate),
    title: text(common.title),
    artist: text(common.artist),
    album: text(common.album),
  };
  return { ...parts, info };
}

/** The beginning of a picture, and what may be at its end. */
async function readHead(path: string): Promise<{ head: Uint8Array<ArrayBuffer>; parts: LiveParts }> {
  const file = await open(path, "r");
  try {
    const bytes = new Uint8Array(EXIF_HEAD_BYTES);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    const head = bytes.slice(0, bytesRead);
    return { head, parts: await readLiveParts(file, (await file.stat()).size, Buffer.from(head.buffer)) };
  } finally {
    await file.close();
  }
}

async function readMovieAt(path: string) {
  const file = await open(path, "r");
  try {
    return await readMovie(file, (await file.stat()).size);
  } finally {
    await file.close();
  }
}

function cameraOf(make: string | null, model: string | null): string | null {
  if (make === null || model === null) return model ?? make;
  // "Canon" and "Canon EOS R5".
  return model.toLowerCase().startsWith(make.toLowerCase()) ? model : text(`${make} ${model}`);
}

function orientationOf(tag: unknown): number | null {
  const value = valueOf(tag);
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= 8 ? value : null;
}

function pixels(tag: unknown): number | null {
  const value = valueOf(tag);
  const number = Array.isArray(value) ? Number(value[0]) : Number(value ?? Number.NaN);
  return Number.isInteger(number) && number > 0 && number <= PIXELS_MAX ? number : null;
}

function valueOf(tag: unknown): unknown {
  return typeof tag === "object" && tag !== null && "value" in tag ? tag.value : tag;
}

function textOf(tag: unknown): string | null {
  const value = valueOf(tag);
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === "string" ? text(first) : null;
}

/** A short text of one line; null for none. */
function text(given: string | undefined): string | null {
  const clean = (given ?? "")
    .toWellFormed()
    .replaceAll(/[\p{Cc}\s]+/gu, " ")
    .trim();
  return clean === "" ? null : Array.from(clean).slice(0, TEXT_MAX).join("");
}

function count(number: number): number | null {
  const rounded = Math.round(number);
  return Number.isSafeInteger(rounded) && rounded >= 0 ? rounded : null;
}

function within(degrees: number | null | undefined, max: number): number | null {
  return degrees === undefined || degrees === null || !(Math.abs(degrees) <= max) ? null : degrees;
}
