/**
 * The manifest of an export: tags and metadata of files and folders, albums, pins, the picture of the person, and the names
 * of the sidecars, in one JSON file with a line for each entry. An import of the folder reads it and restores them.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import { AppError } from "../../../errors.ts";
import { checkMetadata, checkTags } from "../../../tree/model/labels.ts";
import { checkDescription, checkName } from "../../library/albums/checks.ts";
import { errorCode } from "../../../lib/error.ts";
import { isInstant } from "../../../lib/instant.ts";
import { normalizeName } from "../../../lib/path.ts";

/** Name of the file, at the top of an export. */
export const MANIFEST_NAME = "larder-export.json";

/** Name of the folder of earlier versions at the top of an export; an import skips it. */
export const VERSIONS_NAME = ".larder-versions";

const FORMAT = "larder-export";

/** One entry; absent fields have their defaults. */
export interface ManifestEntry {
  /** Path below the folder of the export, with slashes. */
  readonly path: string;
  /** Name in the account, if the target could not have it. */
  readonly name?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly capturedAt?: string | undefined;
  /** Name as uploaded, if it differs from the name in the account. */
  readonly originalName?: string | undefined;
  /** If it does not follow from the name. */
  readonly mediaType?: string | undefined;
  /** The modification time as the device sent it, if that is not how it is written otherwise: with an offset. */
  readonly fileModifiedAt?: string | undefined;
  /** Marked as a favorite by the account that was exported. */
  readonly isFavorite?: true | undefined;
}

/** An album; absent fields have their defaults. */
export interface ManifestAlbum {
  readonly name: string;
  readonly description?: string | undefined;
  /** Path of the chosen cover. */
  readonly cover?: string | undefined;
  /** Paths of its files, in order. */
  readonly items: readonly string[];
}

/** A pin: the path of a folder in the export, or the name of an album in it; `number` is 2 for the second of this name. */
export type ManifestPin =
  | { readonly folder: string }
  | { readonly album: string; readonly number?: number | undefined };

/** What a manifest says about the account. */
export interface ManifestAccount {
  readonly albums: readonly ManifestAlbum[];
  /** In their order. */
  readonly pins: readonly ManifestPin[];
  /** Whose files these are, and the picture of that person in Base64; absent without one. */
  readonly person?: { readonly email: string; readonly picture: string };
}

/** The entries of a manifest by their path. */
export type Labels = ReadonlyMap<string, ManifestEntry>;

/** What a manifest contains. */
interface Manifest {
  readonly labels: Labels;
  readonly account: ManifestAccount;
  /** Paths of the sidecars that exports wrote. */
  readonly sidecars: ReadonlySet<string>;
}

/** More than a picture ever has; what is larger was not written by an export. */
const PICTURE_CHARACTERS_MAX = 128 * 1024;

/** Writes a manifest entry by entry, to a file next to the final one. */
export class ManifestWriter {
  readonly #path: string;
  readonly #staged: string;
  readonly #fd: number;
  #lines: string[] = [];
  #count = 0;

  /** @param folder of the export; @param source its path in the account */
  constructor(folder: string, source: string, exportedAt: string) {
    this.#path = join(folder, MANIFEST_NAME);
    this.#staged = `${this.#path}.part`;
    this.#fd = fs.openSync(this.#staged, "w", 0o666);
    const head = { format: FORMAT, version: 1, folder: source, exportedAt };
    this.#lines.push(`${JSON.stringify(head).slice(0, -1)},"entries":[`);
  }

  add(entry: ManifestEntry): void {
    this.#lines.push(`${this.#count++ === 0 ? "" : ","}\n${JSON.stringify(entry)}`);
    if (this.#lines.length >= 1_000) this.#flush();
  }

  /**
   * Adds the account and the sidecars, and moves the file to its final name.
   * @param account undefined for an earlier state; @param sidecars their paths
   */
  finish(account: ManifestAccount | undefined, sidecars: readonly string[]): void {
    const { albums = [], pins = [], person } = account ?? {};
    const end = person === undefined ? "" : `,"person":${JSON.stringify(person)}`;
    this.#lines.push(
      `\n]${listField("albums", albums)}${listField("pins", pins)}${listField("sidecars", sidecars)}${end}}\n`,
    );
    this.#flush();
    fs.fsyncSync(this.#fd);
    fs.closeSync(this.#fd);
    fs.renameSync(this.#staged, this.#path);
  }

  /** Deletes the unfinished file; an earlier manifest stays. */
  discard(): void {
    fs.closeSync(this.#fd);
    fs.rmSync(this.#staged, { force: true });
  }

  #flush(): void {
    const bytes = Buffer.from(this.#lines.join(""));
    this.#lines = [];
    for (let written = 0; written < bytes.length; ) written += fs.writeSync(this.#fd, bytes, written);
  }
}

/** A list as the next field of the manifest, an item a line; nothing if it is empty. */
function listField(name: string, items: readonly (object | string)[]): string {
  return items.length === 0 ? "" : `,"${name}":[${items.map((item) => `\n${JSON.stringify(item)}`).join(",")}\n]`;
}

/** Reads the manifest of an exported folder; undefined if there is none, or the file is no manifest. */
export function readManifest(source: string): Manifest | undefined {
  let text: string;
  try {
    text = fs.readFileSync(join(source, MANIFEST_NAME), "utf8");
  } catch (error) {
    if (["ENOENT", "EACCES", "EISDIR", "ELOOP"].includes(errorCode(error) ?? "")) return undefined;
    throw error;
  }
  const parsed = parse(text);
  if (parsed === undefined) return undefined;
  const labels = new Map<string, ManifestEntry>();
  for (const entry of listOf(parsed["entries"])) {
    const checked = validate(entry);
    if (checked !== undefined) labels.set(checked.path, checked);
  }
  const albums = listOf(parsed["albums"]).flatMap((album) => validateAlbum(album) ?? []);
  const pins = listOf(parsed["pins"]).flatMap((pin) => validatePin(pin) ?? []);
  const sidecars = new Set(listOf(parsed["sidecars"]).filter(isText));
  return { labels, account: { albums, pins, ...validatePerson(parsed["person"]) }, sidecars };
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isRecord(parsed) && parsed["format"] === FORMAT && Array.isArray(parsed["entries"]) ? parsed : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Validates an entry; leaves out invalid fields. */
function validate(entry: unknown): ManifestEntry | undefined {
  if (!isRecord(entry) || typeof entry["path"] !== "string") return undefined;
  const { path, name, tags, metadata, capturedAt, originalName, mediaType, fileModifiedAt, isFavorite } = entry;
  return {
    path,
    ...(typeof name === "string" && { name }),
    ...(Array.isArray(tags) && { tags: attempt(() => checkTags(tags.filter(isText))) ?? [] }),
    ...(isRecord(metadata) && { metadata: attempt(() => validMetadata(metadata)) ?? {} }),
    ...(isText(capturedAt) && isInstant(capturedAt) && { capturedAt }),
    ...(isText(originalName) && { originalName: attempt(() => normalizeName(originalName)) }),
    ...(isText(mediaType) && { mediaType }),
    ...(isText(fileModifiedAt) && isInstant(fileModifiedAt) && { fileModifiedAt }),
    ...(isFavorite === true && { isFavorite }),
  };
}

function validateAlbum(album: unknown): ManifestAlbum | undefined {
  if (!isRecord(album) || !Array.isArray(album["items"])) return undefined;
  const { name: given, description, cover, items } = album;
  const name = typeof given === "string" ? attempt(() => checkName(given)) : undefined;
  if (name === undefined) return undefined;
  return {
    name,
    ...(typeof description === "string" && { description: attempt(() => checkDescription(description)) }),
    ...(typeof cover === "string" && { cover }),
    items: items.filter(isText),
  };
}

function validatePin(pin: unknown): ManifestPin | undefined {
  if (!isRecord(pin)) return undefined;
  const { folder, album, number } = pin;
  if (typeof folder === "string") return { folder };
  return typeof album === "string" ? { album, ...(typeof number === "number" && { number }) } : undefined;
}

function validatePerson(person: unknown): Pick<ManifestAccount, "person"> {
  if (!isRecord(person)) return {};
  const { email, picture } = person;
  if (typeof email !== "string" || typeof picture !== "string" || picture.length > PICTURE_CHARACTERS_MAX) return {};
  return { person: { email, picture } };
}

function validMetadata(values: Readonly<Record<string, unknown>>): Record<string, string> {
  // Not by assignment, which ignores the key "__proto__".
  const metadata = Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => isText(entry[1])),
  );
  checkMetadata(metadata);
  return metadata;
}

/** The result of a check, or undefined if it rejects the value. */
function attempt<T>(check: () => T): T | undefined {
  try {
    return check();
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
