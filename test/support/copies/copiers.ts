// The ways in which people copy a directory, and the most unlucky orders in which a tool may do it.
import { copyFile, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../mounts.ts";
import type { SeededRandom } from "../random.ts";

/** A way to copy a directory from under a running server. */
export interface Copier {
  readonly name: string;
  /** @throws Error for anything but files that went while it ran */
  copy(from: string, to: string, random: SeededRandom): Promise<void>;
}

/** What each tool says where a file went between its listing and its reading. */
const vanished =
  /No such file or directory|file has vanished|File removed before we read it|file changed as we read it/;

async function tool(words: string[], codes: readonly number[]): Promise<void> {
  const { code, output } = await run(words);
  const others = output
    .split("\n")
    .filter((line) => line.trim() !== "" && !vanished.test(line) && !/some files (vanished|could not)/.test(line))
    .filter((line) => !/Exiting with failure status due to previous errors/.test(line));
  if (!codes.includes(code) || others.length > 0) throw new Error(`${words.join(" ")}: ${code}\n${output}`);
}

async function hasTool(name: string): Promise<boolean> {
  return (await run(["sh", "-c", `command -v ${name}`])).code === 0;
}

/** Files below a folder, by their path in it. */
async function walk(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

/**
 * Copies the parts in the given order, each listed only when its turn comes, with rests between files.
 * @param order names of the directory's entries; `*` is all that is not named
 */
function inOrder(name: string, order: readonly string[], restMs: number): Copier {
  return {
    name,
    async copy(from, to, random) {
      const parts = order.flatMap((part) => (part === "*" ? ["*"] : [part]));
      for (const part of parts) {
        const top = part === "*" ? (await readdir(from)).filter((entry) => !order.includes(entry)) : [part];
        for (const entry of random.shuffled(top)) await copyPart(from, to, entry, restMs, random);
        await Bun.sleep(restMs * 20);
      }
    },
  };
}

async function copyPart(from: string, to: string, entry: string, restMs: number, random: SeededRandom): Promise<void> {
  const source = join(from, entry);
  let files: string[];
  try {
    files = (await walk(source)).map((path) => join(entry, path));
  } catch (error) {
    if (!isGone(error, "ENOTDIR")) throw error;
    files = [entry];
  }
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const path of random.shuffled(files)) {
    await mkdir(join(to, path, ".."), { recursive: true, mode: 0o700 });
    try {
      await copyFile(join(from, path), join(to, path));
    } catch (error) {
      if (!isGone(error)) throw error;
    }
    if (random.chance(0.05)) await Bun.sleep(restMs);
  }
}

function isGone(error: unknown, ...more: string[]): boolean {
  return error instanceof Error && "code" in error && ["ENOENT", ...more].includes(String(error.code));
}

/** All ways that this machine knows. */
export async function availableCopiers(): Promise<{ copiers: Copier[]; absent: string[] }> {
  const rsync = (...flags: string[]) => ["rsync", "-a", ...flags];
  const copiers: (Copier & { readonly needs?: string })[] = [
    { name: "cp -a", copy: async (from, to) => tool(["cp", "-a", from, to], [0, 1]) },
    { name: "rsync -a", needs: "rsync", copy: async (from, to) => tool([...rsync(), `${from}/`, to], [0, 23, 24]) },
    {
      name: "tar",
      needs: "tar",
      copy: async (from, to) => {
        await mkdir(to, { mode: 0o700 });
        const pack = `tar -C '${from}' -cf - . ; code=$? ; [ $code -le 1 ]`;
        await tool(["bash", "-c", `set -o pipefail; { ${pack}; } | tar -C '${to}' -xpf -`], [0]);
      },
    },
    inOrder("contents first, snapshots last", ["blobs", "*", "snapshots"], 25),
    inOrder("snapshots first, contents last", ["snapshots", "*", "blobs"], 25),
    { name: "cp -r", copy: async (from, to) => tool(["cp", "-r", from, to], [0, 1]) },
    {
      name: "rsync -a twice",
      needs: "rsync",
      copy: async (from, to) => {
        for (const flags of [[], ["--delete"]]) await tool([...rsync(...flags), `${from}/`, to], [0, 23, 24]);
      },
    },
    inOrder("database between", ["blobs", "larder.db-wal", "larder.db", "larder.state", "snapshots", "*"], 10),
    {
      name: "copy of a copy",
      copy: async (from, to) => {
        await tool(["cp", "-a", from, `${to}-first`], [0, 1]);
        await tool(["cp", "-a", `${to}-first`, to], [0]);
        await tool(["rm", "-r", `${to}-first`], [0]);
      },
    },
  ];
  const found = await Promise.all(copiers.map(async ({ needs }) => needs === undefined || (await hasTool(needs))));
  return {
    copiers: copiers.filter((_, index) => found[index] === true),
    absent: copiers.filter((_, index) => found[index] !== true).map(({ name }) => name),
  };
}
