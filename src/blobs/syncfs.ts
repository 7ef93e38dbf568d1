import { dlopen } from "bun:ffi";

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
