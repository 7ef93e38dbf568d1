// Writes and reads folders on disk, for imports and exports.
import { mkdir, readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Everything below a folder: path → content and time of a file, or "folder". */
export type DiskTree = Map<string, { content: string; modifiedAt: string } | "folder">;

/**
 * Creates files and folders: path → content; a path that ends with "/" is a folder. Modification times are one minute
 * apart, in the given order, so that all differ.
 */
export async function makeTree(folder: string, files: Record<string, string>): Promise<void> {
  await mkdir(folder, { recursive: true });
  let minute = 0;
  for (const [path, content] of Object.entries(files)) {
    const full = join(folder, path);
    if (path.endsWith("/")) await mkdir(full, { recursive: true });
    else {
      await mkdir(dirname(full), { recursive: true });
      await writeFile(full, content);
      const time = new Date(Date.UTC(2020, 0, 1, 0, minute++, 0, 123));
      await utimes(full, time, time);
    }
  }
}

/** Reads everything below a folder. Links and special files are "other". */
export async function readTree(folder: string): Promise<DiskTree> {
  const tree: DiskTree = new Map();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const full = join(entry.parentPath, entry.name);
    const path = full.slice(folder.length + 1);
    if (entry.isDirectory()) tree.set(path, "folder");
    else if (entry.isFile()) {
      const modifiedAt = new Date(Math.floor((await stat(full)).mtimeMs)).toISOString();
      tree.set(path, { content: await readFile(full, "base64"), modifiedAt });
    } else tree.set(path, { content: "other", modifiedAt: "" });
  }
  return new Map([...tree].sort(([a], [b]) => (a < b ? -1 : 1)));
}
