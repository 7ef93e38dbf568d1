import { dlopen } from "bun:ffi";
import { statfsSync } from "node:fs";

/** syncfs(2) of glibc or musl: 0 where all went well. Undefined where neither can be loaded; files are then synced one by one. */
export function loadSyncfs(): ((fd: number) => number) | undefined {
  for (const library of ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`]) {
    try {
      const { symbols } = dlopen(library, { syncfs: { args: ["i32"], returns: "i32" } });
      return (fd) => symbols.syncfs(fd);
    } catch {
      continue; // the other C library's name, or none at all
    }
  }
  return undefined;
}

const FUSE_SUPER_MAGIC = 0x65735546;

/**
 * Whether syncfs(2) brings everything as far as the disk where `path` lies. On FUSE (ntfs-3g, sshfs …) the kernel hands the
 * bytes to the program that serves them and asks it for no sync; only fsync(2) of a file does.
 */
export function syncsWhole(path: string): boolean {
  return statfsSync(path).type >>> 0 !== FUSE_SUPER_MAGIC;
}
