import type { Dirent, Stats } from "node:fs";
import { lstat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type ImportSource, type LeftOut, SourceError, type SourceEntry } from "../../source.ts";
import { describeCode, type DiskFile, isEncrypted, listDiskFolder, openDiskFile } from "./disk-file.ts";
import { findFiles, listElsewhere } from "./files-folder.ts";
import { say } from "../../../../../translations/say.ts";

/** Options of {@link NextcloudFolderSource}. */
export interface NextcloudFolderSourceOptions {
  /** The folder of an account in the data directory of a Nextcloud or an ownCloud, or the folder `files` in it. */
  readonly folder: string;
  /**
   * Whether the path may contain symbolic links. True for commands, whose operator chose it. If false, the path must be
   * absolute, and links are never followed.
   */
  readonly followsLinks?: boolean;
}

/** What the walk finds. */
type Walked =
  | { readonly type: "file"; readonly path: string; readonly file: DiskFile }
  | { readonly type: "leftOut"; readonly leftOut: LeftOut };

const ENCRYPTED = say`The file is encrypted by Nextcloud. Decrypt all files with 'occ encryption:decrypt-all', or import by WebDAV with --url.`;

/** The files of an account of a Nextcloud or an ownCloud, read from its disk. Nothing is known of its database. */
export class NextcloudFolderSource implements ImportSource {
  readonly kind = "nextcloud";
  readonly mergesCopies = false;
  readonly identity: string;
  readonly #folder: string;
  readonly #followsLinks: boolean;

  constructor({ folder, followsLinks = true }: NextcloudFolderSourceOptions) {
    this.#folder = folder;
    this.#followsLinks = followsLinks;
    this.identity = `nextcloud ${resolve(folder).replace(/\/files$/, "")}`;
  }

  async *entries(signal: AbortSignal): AsyncGenerator<SourceEntry> {
    const files = await findFiles(this.#folder, this.#followsLinks);
    yield { type: "total", ...(await measure(files.path, signal)) };
    for (const leftOut of await listElsewhere(files)) yield { type: "leftOut", leftOut };
    for await (const walked of walk(files.path, signal)) {
      const leftOut = walked.type === "leftOut" ? walked.leftOut : await whyLeftOut(walked.file, walked.path);
      if (leftOut !== undefined) yield { type: "leftOut", leftOut };
      else if (walked.type === "file") yield toEntry(walked.file, walked.path);
    }
  }

  async close(): Promise<void> {
    // Each stream closes its own file.
  }
}

async function measure(folder: string, signal: AbortSignal): Promise<{ files: number; sizeBytes: number }> {
  const total = { files: 0, sizeBytes: 0 };
  for await (const walked of walk(folder, signal)) {
    if (walked.type !== "file") continue;
    total.files++;
    total.sizeBytes += walked.file.sizeBytes;
  }
  return total;
}

/** Depth first, by name, the files of a folder before its folders. Links are not followed. */
async function* walk(top: string, signal: AbortSignal): AsyncGenerator<Walked> {
  const pending = [""];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    signal.throwIfAborted();
    const below: string[] = [];
    // Sequentially, so that few names are in memory.
    const entries = await listFolder(join(top, folder));
    if ("message" in entries && folder === "") throw new SourceError(entries.message, false);
    if ("message" in entries) yield { type: "leftOut", leftOut: { name: folder, ...entries } };
    for (const entry of "message" in entries ? [] : entries) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) below.push(path);
      else yield await examine(top, path);
    }
    for (const each of below.reverse()) pending.push(each);
  }
}

type Unreadable = Pick<LeftOut, "reason" | "message">;

async function listFolder(path: string): Promise<readonly Dirent[] | Unreadable> {
  try {
    return await listDiskFolder(path);
  } catch (error) {
    return { reason: "unreadable", message: say`The folder can't be read: ${describeCode(error)}` };
  }
}

async function examine(top: string, path: string): Promise<Walked> {
  const stats = await readStats(join(top, path));
  if ("message" in stats) return { type: "leftOut", leftOut: { name: path, ...stats } };
  if (!stats.isFile()) {
    const kind = stats.isSymbolicLink() ? say`A symbolic link: links are not followed.` : say`Not a file.`;
    return { type: "leftOut", leftOut: { name: path, reason: "unsupported", message: kind } };
  }
  const file = { path: join(top, path), sizeBytes: stats.size, modifiedMs: Math.floor(stats.mtimeMs) };
  return { type: "file", path, file };
}

async function readStats(path: string): Promise<Stats | Unreadable> {
  try {
    return await lstat(path);
  } catch (error) {
    const isUndecodable = path.includes("\ufffd");
    const message = isUndecodable ? say`The name is not valid UTF-8. Rename the file.` : describeCode(error);
    return { reason: "unreadable", message };
  }
}

/** Why a file is not imported; undefined if it is. */
async function whyLeftOut(file: DiskFile, name: string): Promise<LeftOut | undefined> {
  if (name.endsWith(".part")) {
    const message = say`An upload that was not finished. Nextcloud does not show it either.`;
    return { name, reason: "unreadable", message };
  }
  try {
    return (await isEncrypted(file)) ? { name, reason: "unreadable", message: ENCRYPTED } : undefined;
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return { name, reason: "unreadable", message: error.text };
  }
}

function toEntry(file: DiskFile, path: string): SourceEntry {
  const { sizeBytes, modifiedMs } = file;
  const version = `${modifiedMs}-${sizeBytes}`;
  const open = () => openDiskFile(file);
  return { type: "file", file: { key: path, version, path, sizeBytes, modifiedMs, details: {}, open } };
}
