import { writeSync } from "node:fs";

/** Writes all bytes at the position of the descriptor, however many the system takes at once. @throws errors of the system */
export function writeAll(fd: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
}
