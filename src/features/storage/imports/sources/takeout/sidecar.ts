/** The JSON files of a photo folder: descriptions of photos, and of albums. */
import { parseBoundedJson } from "../../../../../lib/bounded-json.ts";
import { DESCRIPTION_BYTES_MAX, type SourceDetails } from "../../source.ts";

/** What a description says of a photo. */
export interface PhotoFacts {
  readonly title: string;
  /** Unix milliseconds. */
  readonly takenMs: number | undefined;
  readonly details: SourceDetails;
  readonly isTrashed: boolean;
  readonly isArchived: boolean;
  /** The number of people that Google recognized, or the person named. */
  readonly people: number;
}

/** What a description says of an album. */
export interface AlbumFacts {
  readonly title: string;
  readonly description: string;
}

/** A JSON file of a photo folder. */
export type Sidecar =
  | ({ readonly kind: "photo" } & PhotoFacts)
  | ({ readonly kind: "album" } & AlbumFacts)
  /** Comments of shared albums, print orders, and the like. */
  | { readonly kind: "other" };

type Fields = Readonly<Record<string, unknown>>;

/** Larger files are no descriptions. */
export const SIDECAR_BYTES_MAX = 1024 * 1024;
const SIDECAR_VALUES_MAX = 20_000;
/** Longer titles are no names of files. */
const TITLE_CHARACTERS_MAX = 500;

/** Reads a JSON file; undefined if it is damaged. */
export function readSidecar(text: string): Sidecar | undefined {
  let parsed: unknown;
  try {
    parsed = parseBoundedJson(text, { values: SIDECAR_VALUES_MAX });
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (!isFields(parsed)) return { kind: "other" };
  // Older archives have the fields of an album one level below.
  const fields = isFields(parsed["albumData"]) ? parsed["albumData"] : parsed;
  const title = textOf(fields["title"]).slice(0, TITLE_CHARACTERS_MAX);
  if (isFields(fields["photoTakenTime"])) return { kind: "photo", ...readPhoto(fields, title) };
  const isAlbum = title !== "" || "access" in fields || "date" in fields;
  return isAlbum ? { kind: "album", title, description: textOf(fields["description"]) } : { kind: "other" };
}

function readPhoto(fields: Fields, title: string): PhotoFacts {
  const takenMs = timeOf(fields["photoTakenTime"]);
  const location = locationOf(fields["geoData"]) ?? locationOf(fields["geoDataExif"]);
  const description = textOf(fields["description"]);
  return {
    title,
    takenMs,
    details: {
      ...(takenMs !== undefined && { capturedAt: new Date(takenMs).toISOString().replace(".000Z", "Z") }),
      ...(location !== undefined && { location }),
      ...(description !== "" && { description }),
      ...(fields["favorited"] === true && { isFavorite: true }),
    },
    isTrashed: fields["trashed"] === true,
    isArchived: fields["archived"] === true,
    people: Array.isArray(fields["people"]) ? fields["people"].length : 0,
  };
}

/** A time in seconds, as text or as a number. Takeout writes 0 for an unknown time. */
function timeOf(value: unknown): number | undefined {
  const ms = isFields(value) ? Number(value["timestamp"]) * 1_000 : Number.NaN;
  return Number.isInteger(ms) && ms !== 0 && Math.abs(ms) <= 8.64e15 ? ms : undefined;
}

/** Degrees; 0/0 stands for an unknown place. */
function locationOf(value: unknown): SourceDetails["location"] {
  if (!isFields(value)) return undefined;
  const { latitude, longitude } = value;
  if (typeof latitude !== "number" || typeof longitude !== "number") return undefined;
  const isKnown = Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 && (latitude !== 0 || longitude !== 0);
  return isKnown ? { latitude, longitude } : undefined;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value.slice(0, DESCRIPTION_BYTES_MAX).trim() : "";
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
