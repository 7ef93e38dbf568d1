/** The kind of file system of the data directory, its free space, and reservations of space. */
import { statfsSync } from "node:fs";
import { describeSize } from "../../config/quantities.ts";
import { StartupError } from "../../config/startup-error.ts";
import { AppError } from "../../errors.ts";
import { say, size } from "../../translations/say.ts";

/** A kind of file system, by its number on Linux (statfs(2), linux/magic.h). */
interface FileSystemKind {
  /** "ext4", "nfs" …, or the number in hexadecimal. */
  readonly name: string;
  /** Whether it is on a network or in user space: locks and syncs may be unreliable there. */
  readonly isForeign: boolean;
}

const FOREIGN_KINDS: Readonly<Record<number, string>> = {
  0x6969: "nfs",
  0x517b: "smb",
  0xff534d42: "cifs",
  0xfe534d42: "smb2",
  0x65735546: "fuse",
  0x01021997: "9p",
  0x5346414f: "afs",
  0x00c36400: "ceph",
  0x0bd00bd0: "lustre",
};
const LOCAL_KINDS: Readonly<Record<number, string>> = {
  0xef53: "ext4",
  0x58465342: "xfs",
  0x9123683e: "btrfs",
  0x2fc12fc1: "zfs",
  0xca451a4e: "bcachefs",
  0xf2f52010: "f2fs",
  0x01021994: "tmpfs",
  0x794c7630: "overlayfs",
  0x4d44: "vfat",
  0x2011bab0: "exfat",
  0x7366746e: "ntfs3",
};

/** The kind of the file system of `path`. @throws the system's error if `path` does not exist */
export function fileSystemKind(path: string): FileSystemKind {
  const type = statfsSync(path).type >>> 0;
  const foreign = FOREIGN_KINDS[type];
  return { name: foreign ?? LOCAL_KINDS[type] ?? `0x${type.toString(16)}`, isForeign: foreign !== undefined };
}

/**
 * Rejects a database on a network or FUSE file system, where SQLite's locks and syncs may be unreliable.
 * @returns a warning if `isAllowed` overrides the check
 * @throws StartupError
 */
export function rejectNetworkFileSystem(
  path: string,
  isAllowed: boolean,
  { name, isForeign }: FileSystemKind = fileSystemKind(path),
): string | undefined {
  if (!isForeign) return undefined;
  if (isAllowed) {
    return `The database in ${path} is on ${name}, where it can be damaged. Make regular backups.`;
  }
  throw new StartupError(
    `The data directory ${path} is on ${name}. SQLite can lose data on network and FUSE file systems.\n` +
      "Use a local disk for the data directory; only its subdirectory blobs/ may be on another file system.\n" +
      "To continue anyway, set LARDER_ALLOW_NETWORK_FILESYSTEM=on.",
  );
}

/** Free space for ordinary users on the file system of `path`, in bytes. Takes some microseconds. */
export function availableBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

/** Size of the file system of `path`, in bytes. */
export function totalBytes(path: string): number {
  const { blocks, bsize } = statfsSync(path);
  return blocks * bsize;
}

const MIB = 1024 * 1024;
const FLOOR_SHARE = 0.02;
const FLOOR_BYTES_MIN = 8 * MIB;
const FLOOR_BYTES_MAX = 512 * MIB;

/** The space to leave free on a file system of this size: 2%, from 8 to 512 MiB. */
export function defaultFloorBytes(fileSystemBytes: number): number {
  return Math.min(Math.max(fileSystemBytes * FLOOR_SHARE, FLOOR_BYTES_MIN), FLOOR_BYTES_MAX);
}

/** Reads the sizes of a disk for {@link DiskReservations}; replaced in tests. */
interface DiskProbe {
  availableBytes(path: string): number;
  totalBytes(path: string): number;
}

/**
 * Releases `bytes` of a reservation when they reach the disk, where the system counts them as used. Releases the rest
 * without an argument, or if `bytes` exceeds the rest. Further calls do nothing.
 */
type ReleaseReservation = (bytes?: number) => void;

/**
 * Reserves disk space for uploads. Together they leave the free space that the database needs. An upload that does not
 * fit is rejected before its first byte.
 */
export class DiskReservations {
  readonly #path: string;
  readonly #probe: DiskProbe;
  /** The space to leave free. */
  readonly floorBytes: number;
  #reservedBytes = 0;

  /**
   * @param path a directory on the file system of the uploads
   * @param minFreeBytes the space to leave free; {@link defaultFloorBytes} by default
   */
  constructor(path: string, minFreeBytes?: number | null, probe: DiskProbe = { availableBytes, totalBytes }) {
    this.#path = path;
    this.#probe = probe;
    this.floorBytes = Math.floor(minFreeBytes ?? defaultFloorBytes(probe.totalBytes(path)));
  }

  /** The sum of all reservations. */
  get reservedBytes(): number {
    return this.#reservedBytes;
  }

  /**
   * Reserves space for an upload; 0 only checks the free space. The caller must release the reservation.
   * @throws AppError disk_full with requiredBytes and availableBytes; nothing is reserved then
   */
  reserve(bytes: number): ReleaseReservation {
    const free = this.#probe.availableBytes(this.#path) - this.floorBytes - this.#reservedBytes;
    if (bytes > free) {
      const availableBytes = Math.max(0, free);
      throw new AppError(
        "disk_full",
        say`This needs ${size(bytes, describeSize(bytes))}, but the server's disk has ${size(availableBytes, describeSize(availableBytes))} left. Delete files, or ask your administrator for more space.`,
        { requiredBytes: bytes, availableBytes },
      );
    }
    return this.hold(bytes);
  }

  /** Reserves space that an earlier run of the program promised, without checking the free space. */
  hold(bytes: number): ReleaseReservation {
    let restBytes = bytes;
    this.#reservedBytes += bytes;
    return (released = restBytes) => {
      const freedBytes = Math.min(released, restBytes);
      restBytes -= freedBytes;
      this.#reservedBytes -= freedBytes;
    };
  }
}
