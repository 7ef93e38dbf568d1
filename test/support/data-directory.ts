// Files of a data directory, and temporary folders for copies of one.
import { afterEach } from "bun:test";
import { readFile, rm, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { digestOf } from "./client.ts";
import { temporaryDirectory } from "./server.ts";

/** The path of a blob in a data directory. */
export function blobPath(dataDir: string, content: string | Uint8Array): string {
  const digest = digestOf(content);
  return join(dataDir, "blobs", "sha256", digest.slice(0, 2), digest.slice(2, 4), digest);
}

/** Flips a bit of a file. Other hard links to it do not change. */
export async function flipBit(path: string): Promise<void> {
  const bytes = await readFile(path);
  bytes[100] = (bytes[100] ?? 0) ^ 1;
  await unlink(path);
  await writeFile(path, bytes);
}

/** Returns a function that creates temporary folders, which are removed after the test. */
export function temporaryFolders(): () => Promise<string> {
  const folders: string[] = [];
  afterEach(async () => {
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
  });
  return async () => {
    const folder = await temporaryDirectory();
    folders.push(folder);
    return folder;
  };
}
