/**
 * The capture time of a photo that its source knows only in UTC. The photo itself often has the local time, without an
 * offset: together they give both.
 */
import { readExif } from "../../media/metadata/exif.ts";

const MINUTE_MS = 60_000;
const QUARTER_MS = 15 * MINUTE_MS;
const OFFSET_MS_MAX = 14 * 60 * MINUTE_MS;
/** Cameras and services round differently. */
const TOLERANCE_MS = 2_000;

/** Whether a time is in UTC, so that the local time is unknown. */
export function isUtc(capturedAt: string): boolean {
  return capturedAt.endsWith("Z");
}

/**
 * The capture time to store.
 * @param given by the source, in UTC
 * @param head the first bytes of the photo; none if it has no tags
 * @returns undefined if the photo itself says the same
 */
export async function refineCapturedAt(
  given: string,
  head: Uint8Array<ArrayBuffer>,
  mediaType: string,
): Promise<string | undefined> {
  if (head.length === 0) return given;
  const { capturedAt: own } = await readExif(head, mediaType);
  return own === undefined ? given : combine(given, own);
}

/** The given time, with the offset that the photo's own time implies. */
export function combine(given: string, own: string): string | undefined {
  const [givenMs, ownMs] = [Date.parse(given), Date.parse(own)];
  if (Number.isNaN(givenMs) || Number.isNaN(ownMs)) return given;
  const differenceMs = ownMs - givenMs;
  // Another time than that of the camera was set by a person.
  if (!isUtc(own)) return Math.abs(differenceMs) <= TOLERANCE_MS ? undefined : given;
  const offsetMs = Math.round(differenceMs / QUARTER_MS) * QUARTER_MS;
  if (Math.abs(differenceMs - offsetMs) > TOLERANCE_MS || Math.abs(offsetMs) > OFFSET_MS_MAX) return given;
  return `${own.slice(0, -1)}${describeOffset(offsetMs / MINUTE_MS)}`;
}

function describeOffset(minutes: number): string {
  const size = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${pad(Math.floor(size / 60))}:${pad(size % 60)}`;
}

function pad(value: number): string {
  return String(value).padStart(2, "0");
}
