/** Writes small blobs to their final paths, in the main thread or in the thread that syncs. */
import * as fs from "node:fs";
import { errorCode } from "../lib/error.ts";
import type { Disk } from "./disk.ts";

/** A small blob that no committed row names yet, so nobody reads it before it is durable. */
export interface NewFile {
  readonly buffers: readonly Uint8Array<ArrayBuffer>[];
  readonly path: string;
  /** An unused path in `blobs/incoming/`. */
  readonly temporaryPath: string;
  /** The file's folder and every folder above it that may have a new entry, innermost first. */
  readonly folders: readonly string[];
}

const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW } = fs.constants;

/**
 * Writes the file, and makes the folders that are missing. Nothing is durable yet.
 * @returns its open descriptor
 * @throws the system's error; part of the file may be at its path then
 */
export function writeNewFile(disk: Disk, file: NewFile): number {
  makeMissing(disk, file.folders);
  const { fd, path } = createFile(disk, file);
  try {
    for (const buffer of file.buffers) disk.write(fd, buffer);
    if (path !== file.path) disk.rename(path, file.path);
    return fd;
  } catch (error) {
    disk.close(fd);
    // What is at the final path is removed by the store, which knows whether it is still the only one that wrote it.
    if (path !== file.path) disk.unlink(path);
    throw error;
  }
}

/** A crash may have left part of the same blob at its path: then the new bytes replace it by a rename. */
function createFile(disk: Disk, { path, temporaryPath }: NewFile): { fd: number; path: string } {
  const flags = O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW;
  try {
    return { fd: disk.open(path, flags), path };
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
    return { fd: disk.open(temporaryPath, flags), path: temporaryPath };
  }
}

/**
 * Makes the folder of a blob, and those above it, if they are missing.
 * @param folders innermost first; a single one is known to exist
 */
export function makeMissing(disk: Disk, folders: readonly string[]): void {
  const [leaf, middle] = folders;
  if (leaf === undefined || middle === undefined || makeFolder(disk, leaf)) return;
  makeFolder(disk, middle);
  makeFolder(disk, leaf);
}

/** @returns false if the folder above is missing */
function makeFolder(disk: Disk, folder: string): boolean {
  try {
    disk.makeFolder(folder);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    if (errorCode(error) !== "EEXIST") throw error;
  }
  return true;
}
