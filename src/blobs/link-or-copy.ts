import * as fs from "node:fs";
import { type Disk } from "./disk.ts";
import { errorCode } from "../lib/error.ts";

const COPY_BUFFER_BYTES = 1024 * 1024;
/** So many copied bytes are synced before more are copied, so that the last sync finds little to do. */
const WRITE_BACK_BYTES = 8 * 1024 * 1024;
/** EXDEV: another file system. The others: a file system without hard links, or with no more for this file. */
const NO_LINK = ["EXDEV", "EPERM", "ENOTSUP", "EOPNOTSUPP", "EMLINK", "ENOSYS"];

/** Gives a file a second name; if the file system can't, makes a durable copy. @throws the system's error */
export async function linkOrCopy(disk: Disk, from: string, to: string): Promise<void> {
  try {
    disk.link(from, to);
  } catch (error) {
    if (!NO_LINK.includes(errorCode(error) ?? "")) throw error;
    await copy(disk, from, to);
  }
}

async function copy(disk: Disk, from: string, to: string): Promise<void> {
  const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW, O_RDONLY } = fs.constants;
  const source = disk.open(from, O_RDONLY | O_NOFOLLOW);
  try {
    const target = disk.open(to, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW);
    try {
      await copyBytes(disk, source, target);
    } finally {
      disk.close(target);
    }
  } finally {
    disk.close(source);
  }
}

async function copyBytes(disk: Disk, source: number, target: number): Promise<void> {
  const buffer = Buffer.allocUnsafeSlow(COPY_BUFFER_BYTES);
  let unsyncedBytes = 0;
  for (let bytes = fs.readSync(source, buffer); bytes > 0; bytes = fs.readSync(source, buffer)) {
    disk.write(target, buffer.subarray(0, bytes));
    unsyncedBytes += bytes;
    if (unsyncedBytes >= WRITE_BACK_BYTES) {
      await disk.dataSync(target);
      unsyncedBytes = 0;
    } else await new Promise(setImmediate);
  }
  await disk.dataSync(target);
}
