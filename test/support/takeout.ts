// Makes archives of Google Takeout: photos with their descriptions, in folders of years and albums, in several parts.
import { makeTar } from "./tar-files.ts";
import { makeZip, type MadeEntry } from "./zip-files.ts";

/** What Google says of a photo. */
export interface PhotoDescription {
  title: string;
  /** ISO 8601. */
  taken?: string;
  description?: string;
  location?: readonly [latitude: number, longitude: number];
  favorited?: boolean;
  archived?: boolean;
  trashed?: boolean;
  people?: readonly string[];
}

/** A file in an archive. */
export interface TakeoutFile {
  readonly path: string;
  readonly content: string | Buffer;
}

const PHOTOS = "Takeout/Google Photos";

/** A photo in a folder. @param folder below the photos, such as `Photos from 2019` */
export function photoFile(folder: string, name: string, content: string | Uint8Array): TakeoutFile {
  return { path: `${PHOTOS}/${folder}/${name}`, content: typeof content === "string" ? content : Buffer.from(content) };
}

/** The description of a photo. @param name the whole name, with `.json` */
export function description(folder: string, name: string, photo: PhotoDescription): TakeoutFile {
  const { title, taken, location = [0, 0], favorited, archived, trashed, people } = photo;
  const geo = { latitude: location[0], longitude: location[1], altitude: 0, latitudeSpan: 0, longitudeSpan: 0 };
  const seconds = taken === undefined ? 0 : Date.parse(taken) / 1_000;
  const fields = {
    title,
    description: photo.description ?? "",
    imageViews: "3",
    creationTime: { timestamp: "1700000000", formatted: "14.11.2023, 22:13:20 UTC" },
    photoTakenTime: { timestamp: String(seconds), formatted: "…" },
    geoData: geo,
    geoDataExif: geo,
    ...(people !== undefined && { people: people.map((person) => ({ name: person })) }),
    ...(favorited === true && { favorited }),
    ...(archived === true && { archived }),
    ...(trashed === true && { trashed }),
    url: "https://photos.google.com/photo/x",
    googlePhotosOrigin: { mobileUpload: { deviceType: "ANDROID_PHONE" } },
  };
  return { path: `${PHOTOS}/${folder}/${name}`, content: JSON.stringify(fields, undefined, 2) };
}

/** The description of an album. */
export function albumFile(folder: string, title: string, text = "", name = "metadata.json"): TakeoutFile {
  const fields = { title, description: text, access: "protected", date: { timestamp: "1600000000", formatted: "…" } };
  return { path: `${PHOTOS}/${folder}/${name}`, content: JSON.stringify(fields) };
}

/** A photo and its description with the usual names, in the folder of its year. */
export function photoWithDescription(content: string | Uint8Array, photo: PhotoDescription): TakeoutFile[] {
  const folder = `Photos from ${(photo.taken ?? "2020").slice(0, 4)}`;
  const { title } = photo;
  return [photoFile(folder, title, content), description(folder, `${title}.supplemental-metadata.json`, photo)];
}

/** A ZIP archive of these files. */
export function takeoutZip(files: readonly TakeoutFile[], options: Partial<MadeEntry> = {}): Buffer {
  return makeZip(
    files.map(({ path, content }) => ({ name: path, content, isDeflated: path.endsWith(".json"), ...options })),
  );
}

/** A compressed TAR archive of these files. */
export function takeoutTgz(files: readonly TakeoutFile[]): Buffer {
  return Buffer.from(Bun.gzipSync(new Uint8Array(makeTar(files))));
}
