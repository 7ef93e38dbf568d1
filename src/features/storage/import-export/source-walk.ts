/** Reads a folder on disk with all below it. Links are never followed: they count as absent, and are told of (D49). */
import * as fs from "node:fs";
import { relative } from "node:path";
import { errorCode } from "../../../blobs/disk.ts";
import { AppError } from "../../../errors.ts";
import { joinPath, normalizeName, segmentsOf } from "../../../lib/path.ts";
import { LEVELS_MAX } from "../../../tree/tables/heights.ts";
import { describeSourceError } from "./content-importer.ts";
import { MANIFEST_NAME, type ManifestEntry, VERSIONS_NAME } from "./manifest.ts";
import type { TransferProblem } from "./types.ts";

/** A folder that was met; before anything in it. */
export interface FoundFolder {
  readonly kind: "folder";
  readonly path: string;
  /** Normalised path in the account. */
  readonly treePath: string;
  /** What an export told of it. */
  readonly labels: ManifestEntry | undefined;
}

/** A file that was met. */
export interface FoundFile {
  readonly kind: "file";
  readonly path: string;
  /** Normalised path, in the account, of the folder that is to hold it. */
  readonly folder: string;
  readonly name: string;
  readonly sizeBytes: number;
  readonly modifiedAtMs: number;
  /** What an export told of it. */
  readonly labels: ManifestEntry | undefined;
}

/** What a walk meets. */
export type Found =
  | FoundFolder
  | FoundFile
  | { readonly kind: "renamed"; readonly path: string; readonly storedAs: string }
  | ({ readonly kind: "problem" } & TransferProblem);

/** How a walk goes. */
export interface SourceWalkOptions {
  /** Absolute path of the folder on disk. */
  readonly source: string;
  /** Normalised path in the account that stands for it. */
  readonly folder: string;
  readonly isRenaming: boolean;
  /** What an export told of what lies at a path below the source; undefined where the source is none. */
  readonly labelsOf: ((relative: string) => ManifestEntry | undefined) | undefined;
  /** A folder that is left out wherever it is met: the data directory itself. */
  readonly leftOut: string;
}

const PATH_BYTES_MAX = 4_096;
const NAME_BYTES_MAX = 255;
// oxlint-disable-next-line no-control-regex -- control characters are exactly what is looked for
const REPLACED = /[\u0000-\u001f\u007f-\u009f/\\]|\p{Surrogate}/gu;
/** What an undecodable byte of a name is read as. */
const UNDECODABLE = "\ufffd";

/** Walks depth first; in a folder by name, its files before its folders. Holds the listings of the folders on its way. */
export function* walkSource(options: SourceWalkOptions): Generator<Found, void, undefined> {
  const avoided = identityOf(options.leftOut);
  const { source, folder: treePath, labelsOf } = options;
  const waiting: FoundFolder[] = [{ kind: "folder", path: source, treePath, labels: labelsOf?.("") }];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    if (avoided !== undefined && identityOf(folder.path) === avoided) {
      yield {
        kind: "problem",
        path: folder.path,
        reason: "not_a_file",
        message: "This is the data directory of Larder.",
      };
      continue;
    }
    let entries: fs.Dirent[];
    try {
      entries = fs.readdirSync(folder.path, { withFileTypes: true });
    } catch (error) {
      const message = describeSourceError(errorCode(error));
      yield { kind: "problem", path: folder.path, reason: "unreadable", message };
      continue;
    }
    yield folder;
    const below = yield* walkEntries(folder, entries, options);
    waiting.push(...below.reverse());
  }
}

function* walkEntries(
  folder: FoundFolder,
  entries: fs.Dirent[],
  { source, isRenaming, labelsOf }: SourceWalkOptions,
): Generator<Found, FoundFolder[], undefined> {
  const below: FoundFolder[] = [];
  const given = new Set<string>();
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = `${folder.path === "/" ? "" : folder.path}/${entry.name}`;
    if (folder.path === source && entry.name === MANIFEST_NAME && labelsOf !== undefined) continue;
    if (folder.path === source && entry.name === VERSIONS_NAME) {
      yield {
        kind: "problem",
        path,
        reason: "not_a_file",
        message: "This folder contains earlier versions from an export.",
      };
      continue;
    }
    const labels = labelsOf?.(relative(source, path));
    const named = nameOf(labels?.name ?? entry.name, folder.treePath, isRenaming);
    if ("message" in named) {
      yield { kind: "problem", path, reason: "bad_name", message: named.message };
      continue;
    }
    const { name } = named;
    if (given.has(name)) {
      const message = `Another file in this folder has a name that counts as equal: "${name}". Rename one of them.`;
      yield { kind: "problem", path, reason: "bad_name", message };
      continue;
    }
    given.add(name);
    const stats = lookAt(path);
    if ("message" in stats) {
      yield { kind: "problem", path, ...stats };
      continue;
    }
    const treePath = joinPath(folder.treePath, name);
    if (name !== entry.name.normalize("NFC") && labels?.name === undefined)
      yield { kind: "renamed", path, storedAs: treePath };
    if (stats.isDirectory() && segmentsOf(treePath).length > LEVELS_MAX) {
      const message = `The folder is more than ${LEVELS_MAX} levels deep and was skipped. Move it to a higher level.`;
      yield { kind: "problem", path, reason: "bad_name", message };
    } else if (stats.isDirectory()) below.push({ kind: "folder", path, treePath, labels });
    else if (stats.isFile()) {
      const modifiedAtMs = Math.floor(stats.mtimeMs);
      yield { kind: "file", path, folder: folder.treePath, name, sizeBytes: stats.size, modifiedAtMs, labels };
    } else yield { kind: "problem", path, reason: "not_a_file", message: describeKind(stats) };
  }
  return below;
}

/** The name that a file gets, or why it can have none. */
function nameOf(onDisk: string, folder: string, isRenaming: boolean): { name: string } | { message: string } {
  const wanted = isRenaming ? replaceHostile(onDisk) : onDisk;
  try {
    const name = normalizeName(wanted);
    if (Buffer.byteLength(joinPath(folder, name)) > PATH_BYTES_MAX) {
      return { message: `The path is longer than ${PATH_BYTES_MAX} bytes. Use a shorter path.` };
    }
    return { name };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { message: `${error.message} Or use --rename.` };
  }
}

function replaceHostile(name: string): string {
  let kept = name.normalize("NFC").replace(REPLACED, "_");
  while (Buffer.byteLength(kept) > NAME_BYTES_MAX) kept = [...kept].slice(0, -1).join("");
  return kept;
}

function lookAt(path: string): fs.Stats | Pick<TransferProblem, "reason" | "message"> {
  try {
    return fs.lstatSync(path);
  } catch (error) {
    const isUndecodable = path.includes(UNDECODABLE) && errorCode(error) === "ENOENT";
    if (isUndecodable) return { reason: "bad_name", message: "The name is not valid UTF-8. Rename the file." };
    return { reason: "unreadable", message: describeSourceError(errorCode(error)) };
  }
}

function describeKind(stats: fs.Stats): string {
  if (stats.isSymbolicLink()) return "Symbolic link; links are not followed.";
  if (stats.isSocket()) return "Socket.";
  if (stats.isFIFO()) return "Named pipe.";
  return "Device.";
}

function identityOf(path: string): string | undefined {
  const stats = fs.statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}
