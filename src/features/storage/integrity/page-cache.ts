/**
 * Advice to the page cache (posix_fadvise(2)): the nightly scrub must not evict files in use. If the call is
 * missing, everything works without it.
 */
import { dlopen, FFIType } from "bun:ffi";

const SEQUENTIAL = 2;
const DONT_NEED = 4;

type Advise = (fd: number, offset: number, length: number, advice: number) => number;

let found: Advise | null | undefined;

/** Advises the system that a file is read from start to end. */
export function readAhead(fd: number): void {
  advise()?.(fd, 0, 0, SEQUENTIAL);
}

/** Advises the system that a range of a file is not needed in memory. */
export function dropFromCache(fd: number, offset: number, length: number): void {
  advise()?.(fd, offset, length, DONT_NEED);
}

function advise(): Advise | null {
  found ??= find();
  return found;
}

function find(): Advise | null {
  const { i32, i64 } = FFIType;
  for (const library of ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`]) {
    try {
      return dlopen(library, { posix_fadvise: { args: [i32, i64, i64, i32], returns: i32 } }).symbols.posix_fadvise;
    } catch {
      // Not this C library.
    }
  }
  return null;
}
