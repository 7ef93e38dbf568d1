/**
 * Distinguishes a file from its copies. Device and inode are not enough: the inode of a removed file is reused, a
 * device may get another number after a restart (btrfs, overlay, disks found in another order), and some file systems
 * (vfat) renumber their files. The creation time never changes and no copying tool can set it, so where the file system
 * has one, it alone decides.
 */
import * as fs from "node:fs";

/** Identifies a file. Numbers are text, because they have up to 64 bits. */
export interface FileIdentity {
  /** Its number; without a creation time, the name of the mounted device, which survives a restart. */
  readonly device: string;
  readonly inode: string;
  /** Creation time in nanoseconds since 1970; null if the file system has none. */
  readonly bornNs: string | null;
}

/** Longer than the clock resolution of file systems. */
const TICK_MS = 20;

/**
 * The identity of the file at `path`; undefined if there is none.
 * @param mayTouch whether the file's times may be changed to find out whether its creation time is real. If false, the
 *   creation time of a file that was created just now counts as unknown.
 * @throws the system's error
 */
export function identifyFile(path: string, mayTouch = true): FileIdentity | undefined {
  const found = statFile(path);
  if (found === undefined) return undefined;
  const { dev, ino } = found;
  const bornNs = readBirth(path, found, mayTouch);
  const device = (bornNs === null ? nameDevice(dev) : undefined) ?? String(dev);
  return { device, inode: String(ino), bornNs };
}

/** Whether both are the same file. */
export function isSameFile(a: FileIdentity, b: FileIdentity): boolean {
  if (a.bornNs !== null && b.bornNs !== null) return a.bornNs === b.bornNs;
  return a.device === b.device && a.inode === b.inode;
}

/**
 * File systems without creation times report another of the file's times instead. A value that equals none of the
 * others is real. In a new file all are equal, so the others are set to now to see whether the creation time follows
 * them.
 */
function readBirth(path: string, found: fs.BigIntStats, mayTouch: boolean): string | null {
  if (found.birthtimeNs <= 0n) return null;
  if (found.birthtimeNs !== found.ctimeNs && found.birthtimeNs !== found.mtimeNs) return String(found.birthtimeNs);
  if (!mayTouch) return null;
  Bun.sleepSync(TICK_MS);
  const now = new Date();
  fs.utimesSync(path, now, now);
  const later = statFile(path);
  const haveMoved = later !== undefined && later.ctimeNs !== found.ctimeNs && later.mtimeNs !== found.mtimeNs;
  const isReal = haveMoved && later.birthtimeNs === found.birthtimeNs;
  return isReal ? String(found.birthtimeNs) : null;
}

/**
 * The name of a mounted device in /proc/self/mountinfo (proc(5)): a disk, a logical volume or a ZFS dataset, whose
 * number changes with each restart. Undefined for names that are not unique, and without /proc.
 */
function nameDevice(device: bigint): string | undefined {
  const major = ((device >> 8n) & 0xfffn) | ((device >> 32n) & ~0xfffn);
  const minor = (device & 0xffn) | ((device >> 12n) & ~0xffn);
  let mounts: string;
  try {
    mounts = fs.readFileSync("/proc/self/mountinfo", "utf8");
  } catch {
    return undefined; // not Linux: use the number
  }
  for (const line of mounts.split("\n")) {
    // "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue"
    const [before = "", after = ""] = line.split(" - ");
    const [kind, source] = after.split(" ");
    if (before.split(" ")[2] !== `${major}:${minor}` || source === undefined) continue;
    return kind === "zfs" || source.startsWith("/dev/") ? source : undefined;
  }
  return undefined;
}

function statFile(path: string): fs.BigIntStats | undefined {
  return fs.statSync(path, { bigint: true, throwIfNoEntry: false });
}
