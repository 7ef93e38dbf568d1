import { closeSync, fsyncSync, openSync } from "node:fs";

/** Makes a file, or the entries of a directory, survive a power failure. @throws the system's error */
export function syncPath(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
