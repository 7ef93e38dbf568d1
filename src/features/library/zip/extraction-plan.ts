/**
 * Decides whether an archive may be extracted, before anything is written: names that lead out of the folder, links,
 * encryption, too much compression, and entries that overlap are rejected as a whole.
 */
import { AppError } from "../../../errors.ts";
import { normalizeName } from "../../../lib/path.ts";
import {
  addSizes,
  EMPTY_PATH,
  LEVELS_MAX,
  PATH_BYTES_MAX,
  type PathSize,
  sizeOfStep,
} from "../../../tree/tables/heights.ts";
import { Steps } from "../../../lib/steps.ts";
import { type Message, say } from "../../../translations/say.ts";
import { type ContentRange, DEFLATED, findContent, STORED } from "./zip-content.ts";
import { ZIP_ENTRIES_MAX, type ZipEntry } from "./zip-directory.ts";
import { type ZipBlob, type ZipBlobs, ZipSource } from "./zip-source.ts";

/** A folder to be created. */
export interface PlannedFolder {
  readonly name: string;
  /** Undefined for the outermost folder. */
  readonly parent: PlannedFolder | undefined;
  /** An upper bound of the paths below it. */
  below: PathSize;
}

/** A file to be created. */
export interface PlannedFile {
  readonly name: string;
  readonly parent: PlannedFolder;
  readonly entry: ZipEntry;
  readonly range: ContentRange;
}

/** What an extraction creates. Folders come before those in them. */
export interface ExtractionPlan {
  readonly folders: readonly PlannedFolder[];
  readonly files: readonly PlannedFile[];
  readonly fileBytes: number;
}

/** Content that is larger than its stored bytes by more than this factor is rejected. */
const RATIO_MAX = 200;
/** A smaller file may have any ratio, and so may a smaller archive: a page of blanks is no danger. */
const FREE_FILE_BYTES = 1024 * 1024;
const FREE_ARCHIVE_BYTES = 64 * 1024;
/** Folders of one archive, including those that only the names of other entries imply. */
const FOLDERS_MAX = ZIP_ENTRIES_MAX;
/** How long the plan may block the event loop, in milliseconds. */
const STEP_MS = 10;

const UNIX_FOLDER = 0x4000;
const UNIX_FILE = 0x8000;
const UNIX_LINK = 0xa000;

/**
 * Plans an extraction into a folder of this name.
 * @throws AppError invalid_request, with the problem and the entry
 */
export async function planExtraction(
  blobs: ZipBlobs,
  blob: ZipBlob,
  entries: readonly ZipEntry[],
  folderName: string,
): Promise<ExtractionPlan> {
  const tree = new PlannedTree(folderName);
  const contents = new Map<ZipEntry, { readonly name: string; readonly parent: PlannedFolder }>();
  const steps = new Steps(STEP_MS);
  for (const entry of entries) {
    // oxlint-disable-next-line eslint/no-await-in-loop -- other work runs between two entries
    await steps.next();
    const names = namesOf(entry);
    checkKind(entry);
    if (entry.name.endsWith("/")) {
      tree.addFolder(names, entry);
    } else {
      checkContent(entry);
      contents.set(entry, tree.addFile(names, entry));
    }
  }
  const fileBytes = sum(entries, ({ sizeBytes }) => sizeBytes);
  const compressedBytes = sum(entries, (entry) => entry.compressedBytes);
  if (fileBytes > FREE_ARCHIVE_BYTES) rejectRatio({ sizeBytes: fileBytes, compressedBytes }, undefined);
  const ranges = await findRanges(blobs, blob, [...contents.keys()]);
  const files = [...contents].map(([entry, location]) => {
    const range = ranges.get(entry);
    if (range === undefined) throw rejected("damaged", entry, say`"${entry.name}" in this archive has no content.`);
    return { ...location, entry, range };
  });
  return { folders: tree.folders, files, fileBytes };
}

/** A folder of an archive, with the names in it. */
interface PlannedLevel {
  readonly folder: PlannedFolder;
  /** Undefined for files. */
  readonly below: Map<string, PlannedLevel | undefined>;
  /** Whether an entry of its own names it. */
  isNamed: boolean;
}

/** The folders and names of an archive. */
class PlannedTree {
  readonly folders: PlannedFolder[] = [];
  readonly #top: PlannedLevel;

  constructor(name: string) {
    this.#top = this.#add({ name, parent: undefined, below: EMPTY_PATH });
  }

  addFolder(names: readonly string[], entry: ZipEntry): void {
    const level = this.#level(names, entry);
    if (level.isNamed)
      throw rejected("duplicate", entry, say`"${entry.name}" in this archive is in the archive twice.`);
    level.isNamed = true;
  }

  addFile(names: readonly string[], entry: ZipEntry): { readonly name: string; readonly parent: PlannedFolder } {
    const { folder: parent, below } = this.#level(names.slice(0, -1), entry);
    const name = names.at(-1) ?? "";
    if (below.has(name))
      throw rejected("duplicate", entry, say`"${entry.name}" in this archive is in the archive twice.`);
    below.set(name, undefined);
    return { name, parent };
  }

  /** The folder of a path. Those that the archive only implies are added, too. */
  #level(names: readonly string[], entry: ZipEntry): PlannedLevel {
    let level = this.#top;
    for (const name of names) {
      const known = level.below.get(name);
      if (known === undefined && level.below.has(name)) {
        throw rejected("duplicate", entry, say`"${entry.name}" in this archive is a file and a folder at once.`);
      }
      // A few megabytes of long names can imply millions of folders.
      if (known === undefined && this.folders.length > FOLDERS_MAX) throw tooManyFolders();
      const next = known ?? this.#add({ name, parent: level.folder, below: EMPTY_PATH });
      level.below.set(name, next);
      level = next;
    }
    return level;
  }

  #add(folder: PlannedFolder): PlannedLevel {
    this.folders.push(folder);
    raise(folder);
    return { folder, below: new Map(), isNamed: false };
  }
}

/** Raises the bounds of the folders above a new one. */
function raise(folder: PlannedFolder): void {
  for (let at = folder; at.parent !== undefined; at = at.parent) {
    const size = addSizes(sizeOfStep(at.name), at.below);
    const { parent } = at;
    if (parent.below.levels >= size.levels && parent.below.bytes >= size.bytes) return;
    parent.below = {
      levels: Math.max(parent.below.levels, size.levels),
      bytes: Math.max(parent.below.bytes, size.bytes),
    };
  }
}

/** The names on the path of an entry. @throws AppError invalid_request */
function namesOf(entry: ZipEntry): string[] {
  const { name } = entry;
  const path = name.endsWith("/") ? name.slice(0, -1) : name;
  if (name.startsWith("/"))
    throw rejected("unsafe_name", entry, say`"${entry.name}" in this archive has an absolute path.`);
  if (name.includes("\\"))
    throw rejected("unsafe_name", entry, say`"${entry.name}" in this archive has a backslash in its name.`);
  if (/^[a-z]:/i.test(name))
    throw rejected("unsafe_name", entry, say`"${entry.name}" in this archive begins with a drive letter.`);
  const names = path.split("/").map((part) => {
    try {
      return normalizeName(part);
    } catch (error) {
      throw rejected("unsafe_name", entry, say`"${entry.name}" in this archive has a name that is not allowed.`, error);
    }
  });
  const isTooLong = names.length > LEVELS_MAX || Buffer.byteLength(path) > PATH_BYTES_MAX;
  if (isTooLong)
    throw rejected("too_deep", entry, say`"${entry.name}" in this archive is deeper than ${LEVELS_MAX} folders.`);
  return names;
}

/** @throws AppError invalid_request for links, devices, and contradictions */
function checkKind(entry: ZipEntry): void {
  const { unixType, name } = entry;
  if (entry.isEncrypted) throw rejected("encrypted", entry, say`"${entry.name}" in this archive is encrypted.`);
  if (unixType === UNIX_LINK) throw rejected("link", entry, say`"${entry.name}" in this archive is a link.`);
  const expected = name.endsWith("/") ? UNIX_FOLDER : UNIX_FILE;
  if (unixType !== 0 && unixType !== expected)
    throw rejected("special", entry, say`"${entry.name}" in this archive is not a plain file or folder.`);
  if (name.endsWith("/") && entry.sizeBytes > 0)
    throw rejected("special", entry, say`"${entry.name}" in this archive is a folder with content.`);
}

/** @throws AppError invalid_request */
function checkContent(entry: ZipEntry): void {
  const { method, sizeBytes, compressedBytes } = entry;
  if (method !== STORED && method !== DEFLATED) {
    throw rejected(
      "compression",
      entry,
      say`"${entry.name}" in this archive is compressed in a way that Larder can't read.`,
    );
  }
  if (method === STORED && sizeBytes !== compressedBytes)
    throw rejected("damaged", entry, say`"${entry.name}" in this archive has two sizes.`);
  if (sizeBytes > FREE_FILE_BYTES) rejectRatio(entry, entry);
}

/** @throws AppError invalid_request */
function rejectRatio(
  { sizeBytes, compressedBytes }: Pick<ZipEntry, "sizeBytes" | "compressedBytes">,
  entry: ZipEntry | undefined,
): void {
  if (sizeBytes <= compressedBytes * RATIO_MAX) return;
  const message =
    entry === undefined
      ? say`The archive is compressed more than ${RATIO_MAX} times, as in archives made to fill disks.`
      : say`"${entry.name}" in this archive is compressed more than ${RATIO_MAX} times, as in archives made to fill disks.`;
  throw rejected("ratio", entry, message);
}

/** Where the content of each entry is. No two may share bytes. @throws AppError invalid_request */
async function findRanges(
  blobs: ZipBlobs,
  blob: ZipBlob,
  entries: readonly ZipEntry[],
): Promise<Map<ZipEntry, ContentRange>> {
  const source = new ZipSource(blobs, blob);
  const ranges = new Map<ZipEntry, ContentRange>();
  let end = 0;
  for (const entry of entries.toSorted((a, b) => a.offset - b.offset)) {
    if (entry.offset < end)
      throw rejected("overlap", entry, say`"${entry.name}" in this archive shares its bytes with another entry.`);
    // oxlint-disable-next-line eslint/no-await-in-loop -- reads the file from front to back
    const range = await findContent(source, blob, entry);
    ({ end } = range);
    ranges.set(entry, range);
  }
  return ranges;
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

/** @throws AppError invalid_request */
function tooManyFolders(): AppError {
  return rejected("too_many_entries", undefined, say`The archive has more than ${FOLDERS_MAX} folders.`);
}

/** The error for an archive that is not extracted. */
function rejected(problem: string, entry: ZipEntry | undefined, what: Message, cause?: unknown): AppError {
  const message = say`${what} Nothing was extracted. Download the archive if you trust it.`;
  const details = { problem, ...(entry !== undefined && { entry: entry.name }) };
  return new AppError("invalid_request", message, details, cause);
}
