// Folders on disk, as imports read and exports write them.
import { mkdir, readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** What lies below a folder: path → content and time of a file, or "folder". */
export type DiskTree = Map<string, { content: string; modifiedAt: string } | "folder">;

/**
 * Makes files and folders: path → content; a path that ends with "/" is a folder. Their times are whole minutes apart,
 * in the order given, so that each is told from the others.
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

/** All that lies below a folder, links and the like as "other". */
export async function readTree(folder: string): Promise<DiskTree> {
  const found: DiskTree = new Map();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const full = join(entry.parentPath, entry.name);
    const path = full.slice(folder.length + 1);
    if (entry.isDirectory()) found.set(path, "folder");
    else if (entry.isFile()) {
      const modifiedAt = new Date(Math.floor((await stat(full)).mtimeMs)).toISOString();
      found.set(path, { content: await readFile(full, "base64"), modifiedAt });
    } else found.set(path, { content: "other", modifiedAt: "" });
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}
