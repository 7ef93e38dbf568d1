/** Reads the archives of Google Takeout as they were downloaded, all parts at once: Google Photos, and Google Drive. */
import { AppError } from "../../../../../errors.ts";
import { Steps } from "../../../../../lib/steps.ts";
import type { ImportSource, SourceEntry, SourceFile } from "../../source.ts";
import type { ArchivePart } from "./archive-part.ts";
import type { DescribedMedia } from "./photo-folder.ts";
import { Remarks } from "./remarks.ts";
import { type IndexLimits, SERVER_LIMITS, TakeoutIndex } from "./takeout-index.ts";
import { type Message, say } from "../../../../../translations/say.ts";

/** A photo or video, once for all folders that have it. */
interface MergedMedia {
  media: DescribedMedia;
  /** Whether {@link media} is in the folder of a year. */
  isOfYear: boolean;
  readonly year: string | undefined;
  isFavorite: boolean;
  readonly albums: Set<string>;
}

const DRIVE_FOLDER = "Drive";
/** How long work on the index may block the event loop. */
const STEP_MS = 10;
const UNDATED_FOLDER = "Unknown date";
const PART_NUMBER = /^(?<set>.*?)(?<number>\d{1,4})\.(?:zip|tgz|tar\.gz)$/i;

/** The archives of a Takeout. */
export class TakeoutSource implements ImportSource {
  readonly kind = "takeout";
  readonly mergesCopies = true;
  /** Keys have the checksums of the contents, so that archives of several accounts can be imported into one. */
  readonly identity = "takeout";
  readonly isSequential?: true;
  readonly #parts: readonly ArchivePart[];
  readonly #limits: IndexLimits;

  constructor(parts: readonly ArchivePart[], limits = SERVER_LIMITS) {
    this.#parts = parts;
    this.#limits = limits;
    if (parts.some(({ isSequential }) => isSequential)) this.isSequential = true;
  }

  async *entries(signal: AbortSignal): AsyncGenerator<SourceEntry> {
    const remarks = new Remarks();
    const index = new TakeoutIndex(remarks, this.#limits);
    for (const part of this.#parts) await index.add(part, signal);
    for (const name of missingParts(this.#parts.map(({ name }) => name))) {
      const message = say`This part is missing. Import it too: what is imported already is not stored twice.`;
      remarks.add({ name, reason: "unreadable", message });
    }
    const steps = new Steps(STEP_MS);
    const { merged, albums } = await mergeFolders(index, remarks, steps);
    const files: PlannedFile[] = [];
    let totalBytes = 0;
    for (const planned of [photoFiles(merged), driveFiles(index)]) {
      for (const file of planned) {
        files.push(file);
        totalBytes += file.sizeBytes ?? 0;
        await steps.next();
      }
    }
    yield { type: "total", files: files.length, sizeBytes: totalBytes };
    for (const [name, description] of albums) yield { type: "album", album: { name, description } };
    for (const leftOut of remarks.all()) yield { type: "leftOut", leftOut };
    yield* this.#inOrder(files, signal);
  }

  async close(): Promise<void> {
    await Promise.all(this.#parts.map((part) => part.close()));
  }

  /** Offers the files of one archive after another, each in the order of its bytes. */
  async *#inOrder(files: readonly PlannedFile[], signal: AbortSignal): AsyncGenerator<SourceEntry> {
    const byPart = Map.groupBy(files, ({ part }) => part);
    for (const part of this.#parts) {
      const own = (byPart.get(part) ?? []).toSorted((a, b) => a.position - b.position);
      byPart.delete(part);
      if (!part.isSequential) {
        for (const file of own) yield { type: "file", file };
        continue;
      }
      yield* readInOrder(part, own, signal);
    }
  }
}

/** Offers the files of a sequential archive. Where it is damaged, it ends: the index has said so. */
async function* readInOrder(
  part: ArchivePart,
  files: readonly PlannedFile[],
  signal: AbortSignal,
): AsyncGenerator<SourceEntry> {
  const byPosition = new Map(files.map((file) => [file.position, file]));
  try {
    for await (const { position } of part.list(signal)) {
      const file = byPosition.get(position);
      if (file !== undefined) yield { type: "file", file };
    }
  } catch (error) {
    if (!(error instanceof AppError) || error.reason !== "invalid_request") throw error;
  }
}

interface PlannedFile extends SourceFile {
  readonly part: ArchivePart;
  readonly position: number;
}

/** Joins the copies of a photo in the folders of its year and of its albums. */
async function mergeFolders(index: TakeoutIndex, remarks: Remarks, steps: Steps) {
  const merged = new Map<string, MergedMedia>();
  const albums = new Map<string, string>();
  const counts = { people: 0, archived: 0, other: 0 };
  for (const folder of index.folders.values()) {
    const { year, album } = folder;
    if (album !== undefined) albums.set(album.title, album.description);
    for (const media of folder.describe()) {
      await steps.next();
      const { facts, entry } = media;
      if (facts?.isTrashed === true) {
        const message = say`This photo was in the trash of Google Photos. It is not imported.`;
        remarks.add({ name: entry.path, reason: "trashed", message });
        continue;
      }
      counts.people += facts !== undefined && facts.people > 0 ? 1 : 0;
      counts.archived += facts?.isArchived === true ? 1 : 0;
      addMedia(merged, media, year, album?.title);
    }
    counts.other += folder.otherFiles;
    for (const path of folder.unmatched()) {
      const message = say`The photo of this description is in none of the archives. Import all parts of the export.`;
      remarks.add({ name: path, reason: "unmatched", message });
    }
  }
  addSummaries(index, counts, remarks);
  return { merged: merged.values(), albums };
}

function addMedia(
  merged: Map<string, MergedMedia>,
  media: DescribedMedia,
  year: string | undefined,
  album: string | undefined,
): void {
  const { entry, title, facts, relation } = media;
  const key = `${entry.crc32}-${entry.sizeBytes}-${title.toLowerCase()}`;
  const isOfYear = year !== undefined;
  const known = merged.get(key);
  const one = known ?? { media, isOfYear, year, isFavorite: false, albums: new Set() };
  if (known === undefined) merged.set(key, one);
  const isBetter = (isOfYear && !one.isOfYear) || (isOfYear === one.isOfYear && one.media.facts === undefined);
  if (isBetter) Object.assign(one, { media, isOfYear });
  // The video of a Live Photo is shown with its photo.
  if (relation === "motion") return;
  one.isFavorite ||= facts?.details.isFavorite === true;
  if (album !== undefined) one.albums.add(album);
}

/** Adds what is said once for all files. */
function addSummaries(
  { otherProducts }: TakeoutIndex,
  { people, archived, other }: { readonly people: number; readonly archived: number; readonly other: number },
  remarks: Remarks,
): void {
  const add = (name: string, count: number, message: Message) => {
    if (count > 0) remarks.add({ name, reason: "unsupported", message });
  };
  add("People", people, say`${people} photos name people. Larder does not store who is in a photo.`);
  add("Archive", archived, say`${archived} photos were archived in Google Photos. They are imported like all others.`);
  add("Comments", other, say`${other} files with comments of albums, or orders of prints, are not imported.`);
  for (const [product, count] of otherProducts) {
    const message = say`${count} files of this Google product are not imported. Larder imports Google Photos and Google Drive.`;
    remarks.add({ name: product, reason: "unsupported", count, message });
  }
}

function* photoFiles(merged: Iterable<MergedMedia>): Generator<PlannedFile> {
  for (const { media, year, isFavorite, albums } of merged) {
    const { part, entry, title, facts } = media;
    const { isFavorite: _, ...known } = facts?.details ?? {};
    const details = {
      ...known,
      ...(isFavorite && { isFavorite: true as const }),
      ...(albums.size > 0 && { albums: [...albums].toSorted() }),
    };
    yield {
      key: `photos/${entry.crc32.toString(16)}-${entry.sizeBytes}-${title}`,
      version: Bun.hash(JSON.stringify([title, details])).toString(36),
      path: `${folderOf(facts?.takenMs, year)}/${title}`,
      sizeBytes: entry.sizeBytes,
      modifiedMs: facts?.takenMs,
      details,
      open: async () => part.read(entry),
      part,
      position: entry.position,
    };
  }
}

function folderOf(takenMs: number | undefined, year: string | undefined): string {
  if (takenMs === undefined) return year ?? UNDATED_FOLDER;
  return new Date(takenMs).toISOString().slice(0, "2019-03".length).replace("-", "/");
}

function* driveFiles({ drive }: TakeoutIndex): Generator<PlannedFile> {
  for (const { part, entry, path } of drive) {
    yield {
      key: `drive/${path}`,
      version: `${entry.crc32.toString(16)}-${entry.sizeBytes}`,
      path: `${DRIVE_FOLDER}/${path}`,
      sizeBytes: entry.sizeBytes,
      modifiedMs: entry.modifiedMs,
      details: {},
      isOwnCopy: true,
      open: async () => part.read(entry),
      part,
      position: entry.position,
    };
  }
}

/** The names of parts that are missing between others: `takeout-20260101T000000Z-001.zip`, then `-003.zip`. */
function missingParts(names: readonly string[]): string[] {
  const sets = new Map<string, Map<number, string>>();
  for (const name of names) {
    const { set = name, number } = PART_NUMBER.exec(name)?.groups ?? {};
    if (number === undefined) continue;
    const numbers = sets.get(set) ?? new Map<number, string>();
    sets.set(set, numbers.set(Number(number), name));
  }
  const missing: string[] = [];
  for (const [set, numbers] of sets) {
    const last = Math.max(...numbers.keys());
    for (let number = 1; number < last; number++) {
      const [sample = ""] = numbers.values();
      const extension = sample.slice(sample.lastIndexOf("."));
      if (!numbers.has(number)) missing.push(`${set}${String(number).padStart(3, "0")}${extension}`);
    }
  }
  return missing;
}
