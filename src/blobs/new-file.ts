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
/** Creates a file, and never opens an existing one or follows a link. */
export const CREATE_FLAGS = O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW;

/**
 * Writes the file, and makes the folders that are missing. Nothing is durable yet.
 * @returns its open descriptor
 * @throws the system's error; part of the file may be at its path then, which the store removes: it knows whether it is
 *   still the only one that wrote it
 */
export function writeNewFile(disk: Disk, file: NewFile): number {
  makeMissing(disk, file.folders);
  let fd: number;
  try {
    fd = disk.open(file.path, CREATE_FLAGS);
  } catch (error) {
    // A crash may have left part of the same blob at its path.
    if (errorCode(error) === "EEXIST") return writeByRename(disk, file);
    throw error;
  }
  try {
    for (const buffer of file.buffers) disk.write(fd, buffer);
    return fd;
  } catch (error) {
    disk.close(fd);
    throw error;
  }
}

/**
 * Writes the file to its temporary path and renames it, which replaces what is at its path. Nothing is durable yet.
 * @returns its open descriptor
 * @throws the system's error; nothing of the file remains then
 */
export function writeByRename(disk: Disk, { buffers, path, temporaryPath }: Omit<NewFile, "folders">): number {
  const fd = disk.open(temporaryPath, CREATE_FLAGS);
  try {
    for (const buffer of buffers) disk.write(fd, buffer);
    disk.rename(temporaryPath, path);
    return fd;
  } catch (error) {
    disk.close(fd);
    disk.unlink(temporaryPath);
    throw error;
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
