/**
 * Whether a file is still the very same file, or a copy of it. Device and inode alone can't tell: a removed file's inode
 * is given to the next one, and after a restart a device may have another number (btrfs, overlay, disks found in another
 * order), while some file systems (vfat) even number their files anew. The time of a file's birth, where it can be had,
 * stays for the file's whole life and can't be set by any copying tool, so it decides alone.
 */
import * as fs from "node:fs";

/** What tells a file from its copies. Numbers as text: they have up to 64 bits. */
export interface FileIdentity {
  readonly device: string;
  readonly inode: string;
  /** In nanoseconds since 1970; null where this file system doesn't keep it. */
  readonly bornNs: string | null;
}

/** Longer than the tick by which file systems tell the time. */
const TICK_MS = 20;

/** The identity of the file at `path`; undefined where there is none. @throws the system's error */
export function identifyFile(path: string): FileIdentity | undefined {
  const found = look(path);
  if (found === undefined) return undefined;
  const { dev, ino } = found;
  return { device: String(dev), inode: String(ino), bornNs: readBirth(path, found) };
}

/** Whether both are the same file. */
export function isSameFile(a: FileIdentity, b: FileIdentity): boolean {
  if (a.bornNs !== null && b.bornNs !== null) return a.bornNs === b.bornNs;
  return a.device === b.device && a.inode === b.inode;
}

/**
 * Where the birth can't be had, another of the file's times is given in its place. One that is equal to none of them is
 * real; in a file that is new, the others are moved on to the present to see whether the birth moves along.
 */
function readBirth(path: string, found: fs.BigIntStats): string | null {
  if (found.birthtimeNs <= 0n) return null;
  if (found.birthtimeNs !== found.ctimeNs && found.birthtimeNs !== found.mtimeNs) return String(found.birthtimeNs);
  Bun.sleepSync(TICK_MS);
  const now = new Date();
  fs.utimesSync(path, now, now);
  const later = look(path);
  const haveMoved = later !== undefined && later.ctimeNs !== found.ctimeNs && later.mtimeNs !== found.mtimeNs;
  const isReal = haveMoved && later.birthtimeNs === found.birthtimeNs;
  return isReal ? String(found.birthtimeNs) : null;
}

function look(path: string): fs.BigIntStats | undefined {
  return fs.statSync(path, { bigint: true, throwIfNoEntry: false });
}
