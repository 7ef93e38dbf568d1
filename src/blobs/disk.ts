/**
 * The file-system calls of the store, behind an interface so that tests can make each of them fail; and the translation of
 * system errors to those of the API.
 */
import * as fs from "node:fs";
import { AppError } from "../errors.ts";
import { errorCode } from "../lib/error.ts";
import { say } from "../translations/say.ts";

/** Calls of the operating system, as Node names them. Each throws the system's error, untranslated. */
export interface Disk {
  open(path: string, flags: number): number;
  write(fd: number, bytes: Uint8Array): void;
  /** Writes all bytes at a position. */
  writeAt(fd: number, bytes: Uint8Array, position: number): void;
  close(fd: number): void;
  rename(from: string, to: string): void;
  /** Gives a file a second name. */
  link(from: string, to: string): void;
  unlink(path: string): void;
  makeFolder(path: string): void;
  /** Writes the bytes of an open file to the device, off the event loop. */
  dataSync(fd: number): Promise<void>;
}

/** The real disk. */
export const realDisk: Disk = {
  open: (path, flags) => fs.openSync(path, flags, 0o600),
  write(fd, bytes) {
    for (let written = 0; written < bytes.length; ) written += fs.writeSync(fd, bytes, written);
  },
  writeAt(fd, bytes, position) {
    for (let written = 0; written < bytes.length; ) {
      written += fs.writeSync(fd, bytes, written, bytes.length - written, position + written);
    }
  },
  close: (fd) => fs.closeSync(fd),
  rename: (from, to) => fs.renameSync(from, to),
  link: (from, to) => fs.linkSync(from, to),
  unlink: (path) => fs.unlinkSync(path),
  makeFolder: (path) => fs.mkdirSync(path, { mode: 0o700 }),
  dataSync: (fd) =>
    new Promise((resolve, reject) => fs.fdatasync(fd, (error) => (error === null ? resolve() : reject(error)))),
};

/** Whether an error only means that too many files and connections are open now. */
export function isExhausted(error: unknown): boolean {
  const code = errorCode(error);
  return code === "EMFILE" || code === "ENFILE";
}

/** The API error for a failed call to the disk. An AppError is returned as it is. */
export function translateDiskError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const code = errorCode(error);
  if (code === "ENOSPC" || code === "EDQUOT") {
    return new AppError(
      "disk_full",
      say`The server's disk is full. Ask your administrator to free up space, then send the file again.`,
      {},
      error,
    );
  }
  if (code === "EROFS") {
    return new AppError(
      "storage_error",
      say`The server's disk is read-only. Ask your administrator to check it.`,
      {},
      error,
    );
  }
  if (code === "EIO") {
    return new AppError("storage_error", say`The server's disk failed. Ask your administrator to check it.`, {}, error);
  }
  if (isExhausted(error)) {
    return new AppError("overloaded", say`The server is overloaded. Try again in a few seconds.`, {}, error);
  }
  return new AppError(
    "storage_error",
    say`The server could not store or read the file. Ask your administrator to check the server log.`,
    {},
    error,
  );
}

/** Runs a call to the disk and translates its error. @throws AppError disk_full | storage_error | overloaded */
export function tryDisk<Result>(call: () => Result): Result {
  try {
    return call();
  } catch (error) {
    throw translateDiskError(error);
  }
}
