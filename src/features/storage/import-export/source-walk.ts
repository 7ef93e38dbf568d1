/** Walks a folder on disk. Links are never followed, only reported. */
import * as fs from "node:fs";
import { relative } from "node:path";
import { AppError } from "../../../errors.ts";
import { joinPath, normalizeName, segmentsOf } from "../../../lib/path.ts";
import { LEVELS_MAX } from "../../../tree/tables/heights.ts";
import { describeSourceError } from "./content-importer.ts";
import { MANIFEST_NAME, type ManifestEntry, VERSIONS_NAME } from "./manifest.ts";
import { isSidecarFile } from "./sidecar-writer.ts";
import type { TransferProblem } from "./types.ts";
import { errorCode } from "../../../lib/error.ts";

/** A folder; it comes before everything in it. */
export interface SourceFolder {
  readonly kind: "folder";
  readonly path: string;
  /** Normalized path in the account. */
  readonly treePath: string;
  /** Its entry in the manifest of an export. */
  readonly labels: ManifestEntry | undefined;
}

/** A file. */
export interface SourceFile {
  readonly kind: "file";
  readonly path: string;
  /** Normalized path of its folder in the account. */
  readonly folder: string;
  readonly name: string;
  readonly sizeBytes: number;
  readonly modifiedAtMs: number;
  /** Its entry in the manifest of an export. */
  readonly labels: ManifestEntry | undefined;
}

/** An entry of the walk. */
export type WalkedEntry =
  | SourceFolder
  | SourceFile
  | { readonly kind: "renamed"; readonly path: string; readonly storedAs: string }
  | ({ readonly kind: "problem" } & TransferProblem);

/** Options of {@link walkSource}. */
interface SourceWalkOptions {
  /** Absolute path of the folder on disk. */
  readonly source: string;
  /** Normalized path of the corresponding folder in the account. */
  readonly folder: string;
  readonly isRenaming: boolean;
  /** The manifest entry of a path below the source; undefined if the source is no export. */
  readonly labelsOf: ((relative: string) => ManifestEntry | undefined) | undefined;
  /** Paths below the source of the sidecars that an export wrote. They are skipped, unless they were changed since. */
  readonly sidecars: ReadonlySet<string>;
  /** A folder that is skipped: the data directory itself. */
  readonly leftOut: string;
}

const PATH_BYTES_MAX = 4_096;
const NAME_BYTES_MAX = 255;
// oxlint-disable-next-line no-control-regex -- control characters are what it replaces
const REPLACED = /[\u0000-\u001f\u007f-\u009f/\\]|\p{Surrogate}/gu;
/** The character that a byte which is not UTF-8 is read as. */
const UNDECODABLE = "\ufffd";

/** Walks depth first, by name, the files of a folder before its folders. */
export function* walkSource(options: SourceWalkOptions): Generator<WalkedEntry, void, undefined> {
  const skipped = identityOf(options.leftOut);
  const { source, folder: treePath, labelsOf } = options;
  const pending: SourceFolder[] = [{ kind: "folder", path: source, treePath, labels: labelsOf?.("") }];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    if (skipped !== undefined && identityOf(folder.path) === skipped) {
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
    pending.push(...below.reverse());
  }
}

function* walkEntries(
  folder: SourceFolder,
  entries: fs.Dirent[],
  { source, isRenaming, labelsOf, sidecars }: SourceWalkOptions,
): Generator<WalkedEntry, SourceFolder[], undefined> {
  const below: SourceFolder[] = [];
  const used = new Set<string>();
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
    if (used.has(name)) {
      const message = `Another file in this folder has a name that counts as equal: "${name}". Rename one of them.`;
      yield { kind: "problem", path, reason: "bad_name", message };
      continue;
    }
    used.add(name);
    const stats = readStats(path);
    if ("message" in stats) {
      yield { kind: "problem", path, ...stats };
      continue;
    }
    if (sidecars.has(relative(source, path)) && isSidecarFile(path)) continue;
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

/** The name of a file in the account, or the reason why it can have none. */
function nameOf(onDisk: string, folder: string, isRenaming: boolean): { name: string } | { message: string } {
  const candidate = isRenaming ? replaceInvalid(onDisk) : onDisk;
  try {
    const name = normalizeName(candidate);
    if (Buffer.byteLength(joinPath(folder, name)) > PATH_BYTES_MAX) {
      return { message: `The path is longer than ${PATH_BYTES_MAX} bytes. Use a shorter path.` };
    }
    return { name };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { message: `${error.message} Or use --rename.` };
  }
}

function replaceInvalid(name: string): string {
  let valid = name.normalize("NFC").replace(REPLACED, "_");
  while (Buffer.byteLength(valid) > NAME_BYTES_MAX) valid = [...valid].slice(0, -1).join("");
  return valid;
}

function readStats(path: string): fs.Stats | Pick<TransferProblem, "reason" | "message"> {
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
