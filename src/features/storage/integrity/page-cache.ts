/**
 * Advice to the system's cache (posix_fadvise(2)): a nightly reading of everything must not push out what people use.
 * Advice only: where the call can't be had, everything works without it.
 */
import { dlopen, FFIType } from "bun:ffi";

const SEQUENTIAL = 2;
const DONT_NEED = 4;

type Advise = (fd: number, offset: number, length: number, advice: number) => number;

let found: Advise | null | undefined;

/** Tells the system that a file is read from its start to its end. */
export function readAhead(fd: number): void {
  advise()?.(fd, 0, 0, SEQUENTIAL);
}

/** Tells the system that a part of a file is not needed in memory. */
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
