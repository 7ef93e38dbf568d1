import { dlopen } from "bun:ffi";
import { statfsSync } from "node:fs";

/** Loads syncfs(2) of glibc or musl, which returns 0 on success. Undefined if neither can be loaded. */
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
 * Whether syncfs(2) writes to the device on the file system of `path`. On FUSE (ntfs-3g, sshfs …) it doesn't: the kernel only
 * hands the bytes to the file system's program. There only fsync(2) of a file makes it durable.
 */
export function syncsWhole(path: string): boolean {
  return statfsSync(path).type >>> 0 !== FUSE_SUPER_MAGIC;
}
