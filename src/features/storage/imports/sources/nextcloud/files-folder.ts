/** Where the files of a Nextcloud account are in the data directory of a Nextcloud or an ownCloud. */
import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type LeftOut, SourceError } from "../../source.ts";
import { say } from "../../../../../translations/say.ts";
import { describeCode, linkError, listDiskFolder } from "./disk-file.ts";

/** A folder with the files of an account. */
export interface FilesFolder {
  /** Absolute, without symbolic links. */
  readonly path: string;
  /** The folder around it, if it is that of an account. */
  readonly accountFolder: string | undefined;
}

/** Folders that Nextcloud creates beside the files of an account. */
const BESIDE_FILES = ["cache", "files_encryption", "files_trashbin", "files_versions", "uploads"];

/**
 * Finds the files: a person may choose the folder of the account, the folder `files` in it, or any other folder.
 * @param followsLinks whether the path may have symbolic links
 * @throws SourceError if it can't be read, or if it has the files of several accounts
 */
export async function findFiles(chosen: string, followsLinks: boolean): Promise<FilesFolder> {
  const path = await resolveFolder(chosen);
  if (!followsLinks && path !== chosen) throw unreadable(linkError());
  const names = await list(path);
  const isDataFolder = names.includes(".ncdata") || names.includes(".ocdata");
  if (isDataFolder || names.some((name) => name.startsWith("appdata_"))) {
    const message = say`This is the data directory of all accounts. Choose the folder of one account in it.`;
    throw new SourceError(message, false);
  }
  if (names.includes("files") && BESIDE_FILES.some((name) => names.includes(name))) {
    const files = join(path, "files");
    // The folder may be one that a server lets people import: what is outside of it is not read.
    if (!(await lstat(files)).isDirectory()) throw unreadable(linkError());
    return { path: files, accountFolder: path };
  }
  const isFiles = basename(path) === "files";
  const around = isFiles ? await list(dirname(path)).catch(() => []) : [];
  const isInAccount = BESIDE_FILES.some((name) => around.includes(name));
  return { path, accountFolder: isInAccount ? dirname(path) : undefined };
}

/** What Nextcloud stores elsewhere: in its database, in the folders around the files, and on other disks. */
export async function listElsewhere({ accountFolder }: FilesFolder): Promise<LeftOut[]> {
  const leftOut: LeftOut[] = [
    {
      name: "Favorites, tags, shares, and comments",
      reason: "unsupported",
      message: say`They are in the database of Nextcloud. To import favorites and tags, import by WebDAV with --url.`,
    },
  ];
  if (accountFolder === undefined) return leftOut;
  const message = say`Group folders, external storage, and what others share are not in this folder.`;
  leftOut.push({ name: "Other storage", reason: "unsupported", message });
  const trashed = await count(join(accountFolder, "files_trashbin/files"));
  if (trashed > 0) {
    const inTrash = say`Files and folders in the trash are not imported. Restore there what you need.`;
    leftOut.push({ name: "Trash", reason: "trashed", count: trashed, message: inTrash });
  }
  if ((await count(join(accountFolder, "files_versions"))) > 0) {
    const versions = say`Earlier versions of files are not imported, only the current ones.`;
    leftOut.push({ name: "Earlier versions", reason: "unsupported", message: versions });
  }
  return leftOut;
}

async function count(folder: string): Promise<number> {
  return (await list(folder).catch(() => [])).length;
}

async function resolveFolder(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    throw unreadable(error);
  }
}

/** @param folder absolute, without symbolic links */
async function list(folder: string): Promise<string[]> {
  try {
    return (await listDiskFolder(folder)).map(({ name }) => name);
  } catch (error) {
    throw unreadable(error);
  }
}

function unreadable(error: unknown): SourceError {
  return new SourceError(say`The folder can't be read: ${describeCode(error)}`, false, { cause: error });
}
