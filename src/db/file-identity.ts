/**
 * Whether a file is still the very same file, or a copy of it. Device and inode alone can't tell: a removed file's inode
 * is given to the next one, and after a restart a device may have another number (btrfs, overlay, disks found in another
 * order), while some file systems (vfat) even number their files anew. The time of a file's birth, where it can be had,
 * stays for the file's whole life and can't be set by any copying tool, so it decides alone.
 */
import * as fs from "node:fs";

/** What tells a file from its copies. Numbers as text: they have up to 64 bits. */
export interface FileIdentity {
  /** Its number; where the birth can't be had, rather the name of what is mounted there, which outlasts a restart. */
  readonly device: string;
  readonly inode: string;
  /** In nanoseconds since 1970; null where this file system doesn't keep it. */
  readonly bornNs: string | null;
}

/** Longer than the tick by which file systems tell the time. */
const TICK_MS = 20;

/**
 * The identity of the file at `path`; undefined where there is none.
 * @param mayTouch whether the file's times may be moved to tell a real birth from another time; false for who only looks:
 *   the birth of a file that was made just now counts as not known then
 * @throws the system's error
 */
export function identifyFile(path: string, mayTouch = true): FileIdentity | undefined {
  const found = look(path);
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
 * Where the birth can't be had, another of the file's times is given in its place. One that is equal to none of them is
 * real; in a file that is new, the others are moved on to the present to see whether the birth moves along.
 */
function readBirth(path: string, found: fs.BigIntStats, mayTouch: boolean): string | null {
  if (found.birthtimeNs <= 0n) return null;
  if (found.birthtimeNs !== found.ctimeNs && found.birthtimeNs !== found.mtimeNs) return String(found.birthtimeNs);
  if (!mayTouch) return null;
  Bun.sleepSync(TICK_MS);
  const now = new Date();
  fs.utimesSync(path, now, now);
  const later = look(path);
  const haveMoved = later !== undefined && later.ctimeNs !== found.ctimeNs && later.mtimeNs !== found.mtimeNs;
  const isReal = haveMoved && later.birthtimeNs === found.birthtimeNs;
  return isReal ? String(found.birthtimeNs) : null;
}

/**
 * The name of a mounted device as proc(5) has it in mountinfo: a disk, a logical volume, a dataset of ZFS, whose number
 * is another one after each restart. Undefined for names that many have, and where there is no /proc.
 */
function nameDevice(device: bigint): string | undefined {
  const major = ((device >> 8n) & 0xfffn) | ((device >> 32n) & ~0xfffn);
  const minor = (device & 0xffn) | ((device >> 12n) & ~0xffn);
  let mounts: string;
  try {
    mounts = fs.readFileSync("/proc/self/mountinfo", "utf8");
  } catch {
    return undefined; // not Linux: the number has to do
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

function look(path: string): fs.BigIntStats | undefined {
  return fs.statSync(path, { bigint: true, throwIfNoEntry: false });
}
