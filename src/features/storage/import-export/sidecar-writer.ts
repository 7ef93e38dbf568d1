/** Writes XMP sidecars next to exported photos, and replaces only those that Larder wrote. */
import * as fs from "node:fs";
import { errorCode } from "../../../lib/error.ts";
import { writeAll } from "../../../lib/write-all.ts";
import type { SidecarJob, SidecarResult } from "./types.ts";
import { EMPTY_SIDECAR, isUnchangedSidecar } from "./xmp.ts";

/** Larger files are not sidecars of Larder. */
const SIDECAR_BYTES_MAX = 4 * 1024 * 1024;
const FILE_MODE = 0o666;

/**
 * Writes a sidecar, unless the file exists with this text, or belongs to somebody else.
 * @param staged path of the unfinished file
 * @throws errors of the system
 */
export function writeSidecar(job: SidecarJob, staged: string, isSyncing: boolean): SidecarResult {
  const existing = readRegularFile(job.target);
  if (existing === undefined && job.text === undefined) return { state: "absent" };
  const text = job.text ?? EMPTY_SIDECAR;
  if (existing === text) return { state: "unchanged" };
  if (existing === null || (existing !== undefined && !isUnchangedSidecar(existing))) return { state: "foreign" };
  try {
    const { O_WRONLY, O_CREAT, O_EXCL } = fs.constants;
    const fd = fs.openSync(staged, O_WRONLY | O_CREAT | O_EXCL, FILE_MODE);
    try {
      writeAll(fd, Buffer.from(text));
      if (isSyncing) fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
    fs.renameSync(staged, job.target);
    return { state: "written" };
  } catch (error) {
    fs.rmSync(staged, { force: true });
    throw error;
  }
}

/** Whether a file on disk is a sidecar as Larder wrote it; false if it can't be read. */
export function isSidecarFile(path: string): boolean {
  try {
    const text = readRegularFile(path);
    return text !== undefined && text !== null && isUnchangedSidecar(text);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return false;
  }
}

/** The text of a file; null for a link, a folder, or a file that is too large; undefined if there is none. */
function readRegularFile(path: string): string | null | undefined {
  const stats = fs.lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (!stats.isFile() || stats.size > SIDECAR_BYTES_MAX) return null;
  const fd = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
  try {
    return fs.readFileSync(fd, "utf8");
  } finally {
    fs.closeSync(fd);
  }
}
