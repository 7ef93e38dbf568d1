import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { BlobStore } from "../../../../../blobs/blob-store.ts";
import { toDigest } from "../../../../../blobs/digest.ts";
import type { ZipBlobs } from "../../../../library/zip/zip-source.ts";
import { compareUtf8 } from "../../../../../lib/compare-utf8.ts";
import type { FileNode } from "../../../../../tree/model/types.ts";
import { SourceError } from "../../source.ts";
import type { ArchivePart } from "./archive-part.ts";
import { FileBytes } from "./file-bytes.ts";
import { COMMAND_LIMITS, SERVER_LIMITS } from "./takeout-index.ts";
import { TakeoutSource } from "./takeout-source.ts";
import { TarPart } from "./tar-part.ts";
import { ZipPart } from "./zip-part.ts";
import { say } from "../../../../../translations/say.ts";

const ZIP = /\.zip$/i;
const TAR = /\.(?:tgz|tar\.gz)$/i;

/** The archive has no digest of its own: it is not in the store. */
const NO_DIGEST = toDigest("0".repeat(64));

/** Whether a file is an archive, by its name. */
export function isArchiveName(name: string): boolean {
  return ZIP.test(name) || TAR.test(name);
}

/**
 * Opens archives on the machine.
 * @param paths files, and folders that have some
 * @param isByCommand whether the operator chose them: an archive may be a link to a file elsewhere
 * @throws SourceError if one can't be read, or a folder has none
 */
export async function openArchives(paths: readonly string[], isByCommand = true): Promise<TakeoutSource> {
  const files = (await Promise.all(paths.map(findArchives))).flat();
  const parts: ArchivePart[] = [];
  try {
    for (const path of new Set(files)) parts.push(await openArchive(path, isByCommand));
  } catch (error) {
    await Promise.all(parts.map((part) => part.close()));
    throw error;
  }
  return new TakeoutSource(parts, isByCommand ? COMMAND_LIMITS : SERVER_LIMITS);
}

/** Opens archives in the store. @throws SourceError if one is no archive by its name */
export function openStoredArchives(
  blobs: Pick<BlobStore, "read" | "open" | "fetchLocal">,
  files: readonly Pick<FileNode, "name" | "digest" | "sizeBytes">[],
): TakeoutSource {
  return new TakeoutSource(
    files.map(({ name, digest, sizeBytes }) => {
      if (ZIP.test(name)) return new ZipPart({ name, bytes: blobs, digest, sizeBytes, close: nothingToClose });
      if (!TAR.test(name)) throw notAnArchive(name);
      return new TarPart({ name, open: () => blobs.open(digest, 0, sizeBytes), close: nothingToClose });
    }),
  );
}

async function nothingToClose(): Promise<void> {}

async function openArchive(path: string, followsLinks: boolean): Promise<ArchivePart> {
  const name = basename(path);
  if (!isArchiveName(name)) throw notAnArchive(name);
  const bytes = await FileBytes.open(path, followsLinks);
  const close = () => bytes.close();
  if (TAR.test(name)) return new TarPart({ name, open: async () => bytes.stream(), close });
  const reusedBytes: ZipBlobs = {
    fetchLocal: () => undefined,
    read: (...range) => bytes.read(...range),
    open: async (_, offset, lengthBytes) => bytes.streamReused(offset, lengthBytes),
  };
  return new ZipPart({ name, bytes, reusedBytes, digest: NO_DIGEST, sizeBytes: bytes.sizeBytes, close });
}

function notAnArchive(name: string): SourceError {
  return new SourceError(say`"${name}" is not an archive of Google Takeout: choose its .zip or .tgz files.`, false);
}

/** The archives in a folder, by name; a file itself. */
async function findArchives(path: string): Promise<string[]> {
  let names: string[];
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    names = (await readdir(path)).filter(isArchiveName).toSorted(compareUtf8);
  } catch (error) {
    throw new SourceError(say`"${basename(path)}" can't be read. Check its name and permissions.`, false, {
      cause: error,
    });
  }
  if (names.length === 0) throw new SourceError(say`The folder "${basename(path)}" has no .zip or .tgz file.`, false);
  return names.map((name) => join(path, name));
}
