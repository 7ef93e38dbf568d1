/** Computes what a backup will write before its first byte: the size, the method, and whether the space suffices. */
import type { Database } from "bun:sqlite";
import * as fs from "node:fs";
import { type Layout, STORE_MARKER } from "../../../blobs/layout.ts";
import { describeSize } from "../../../config/quantities.ts";
import { StartupError } from "../../../config/startup-error.ts";
import { FIRST_BYTES, listNamed, listStored } from "./contents.ts";
import { UNSUPPORTED } from "./blob-copier.ts";
import type { BackupBlob, Plan } from "./types.ts";
import { errorCode } from "../../../lib/error.ts";

/** Dependencies of {@link planContents}. */
interface PlanOptions {
  /** The database whose blobs are copied. */
  readonly sqlite: Database;
  readonly source: Layout;
  readonly target: Layout;
  readonly mayLink: boolean;
  /** Whether blobs that are not on the source's disk are fetched from a bucket. */
  readonly canFetch: boolean;
}

/** The space that a file takes in addition to its bytes. */
const FILE_OVERHEAD_BYTES = 4096;

/** Whether a blob of the target is a hard link to the source's file. */
export function isShared({ digest }: BackupBlob, source: Layout, target: Layout): boolean {
  const stored = fs.lstatSync(target.blob(digest), { throwIfNoEntry: false });
  if (stored === undefined || stored.nlink < 2) return false;
  const own = fs.lstatSync(source.blob(digest), { throwIfNoEntry: false });
  return own !== undefined && own.dev === stored.dev && own.ino === stored.ino;
}

/**
 * Counts the blobs that the target lacks. Reads only names and sizes.
 * @throws the system's error if the target fails
 */
export function planContents({ sqlite, source, target, mayLink, canFetch }: PlanOptions): Plan {
  let [contents, bytes, shared] = [0, 0, 0];
  for (const firstByte of FIRST_BYTES) {
    const named = listNamed(sqlite, firstByte);
    const stored = named.length === 0 ? undefined : listStored(target, firstByte);
    for (const content of named) {
      const isThere = stored?.has(content.digest) === true && sizeOf(target.blob(content.digest)) === content.sizeBytes;
      const isWithSource = isThere && isShared(content, source, target);
      if (isWithSource) shared++;
      if (isThere && (mayLink || !isWithSource)) continue;
      if (!canFetch && sizeOf(source.blob(content.digest)) === undefined) continue;
      contents++;
      bytes += content.sizeBytes;
    }
  }
  const isOneFileSystem = fs.statSync(source.root).dev === fs.statSync(target.root).dev;
  const how = mayLink && isOneFileSystem ? "link" : canClone(source, target) ? "clone" : "copy";
  const { bavail, bsize } = fs.statfsSync(target.root);
  return { how, contents, bytes, shared, availableBytes: bavail * bsize };
}

/** @throws StartupError if the free space does not suffice */
export function requireRoom({ how, contents, bytes, availableBytes }: Plan, root: string): void {
  const neededBytes = bytes + contents * FILE_OVERHEAD_BYTES;
  if (how !== "copy" || neededBytes <= availableBytes) return;
  throw new StartupError(
    `Not enough disk space in ${root}: ${describeSize(neededBytes)} needed, ${describeSize(availableBytes)} ` +
      "free. Nothing was copied; the previous backup is unchanged. Free some space, then run the command again.",
  );
}

function sizeOf(path: string): number | undefined {
  const found = fs.lstatSync(path, { throwIfNoEntry: false });
  return found?.isFile() === true ? found.size : undefined;
}

/** Whether files can share blocks until one of them changes (reflink). Tries it with the smallest file of the store. */
function canClone(source: Layout, target: Layout): boolean {
  const probe = `${target.staging}/${process.pid}-probe.part`;
  const { COPYFILE_EXCL, COPYFILE_FICLONE_FORCE } = fs.constants;
  try {
    fs.mkdirSync(target.staging, { recursive: true, mode: 0o700 });
    fs.copyFileSync(`${source.root}/${STORE_MARKER}`, probe, COPYFILE_EXCL | COPYFILE_FICLONE_FORCE);
    return true;
  } catch (error) {
    const code = errorCode(error) ?? "";
    if (UNSUPPORTED.has(code) || code === "ENOENT") return false;
    throw error;
  } finally {
    fs.rmSync(probe, { force: true });
  }
}
