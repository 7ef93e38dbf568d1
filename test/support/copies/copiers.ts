// Tools with which people copy a directory, and copies in the least favorable orders.
import { copyFile, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../mounts.ts";
import type { SeededRandom } from "../random.ts";

/** A way to copy the data directory of a running server. */
export interface Copier {
  readonly name: string;
  /** @throws Error on any failure except files that disappear during the copy */
  copy(from: string, to: string, random: SeededRandom): Promise<void>;
}

/** The tools' messages about a file that disappears between listing and reading. */
const vanished =
  /No such file or directory|file has vanished|File removed before we read it|file changed as we read it/;

async function runTool(words: string[], codes: readonly number[]): Promise<void> {
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

/** The paths of all files below a folder, relative to it. */
async function walk(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

/**
 * Copies the parts in the given order with pauses between files. Lists each part just before copying it.
 * @param order names of entries of the directory; `*` stands for all others
 */
function copyInOrder(name: string, order: readonly string[], pauseMs: number): Copier {
  return {
    name,
    async copy(from, to, random) {
      const parts = order.flatMap((part) => (part === "*" ? ["*"] : [part]));
      for (const part of parts) {
        const top = part === "*" ? (await readdir(from)).filter((entry) => !order.includes(entry)) : [part];
        for (const entry of random.shuffled(top)) await copyPart(from, to, entry, pauseMs, random);
        await Bun.sleep(pauseMs * 20);
      }
    },
  };
}

async function copyPart(from: string, to: string, entry: string, pauseMs: number, random: SeededRandom): Promise<void> {
  const source = join(from, entry);
  let files: string[];
  try {
    files = (await walk(source)).map((path) => join(entry, path));
  } catch (error) {
    if (!isMissing(error, "ENOTDIR")) throw error;
    files = [entry];
  }
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const path of random.shuffled(files)) {
    await mkdir(join(to, path, ".."), { recursive: true, mode: 0o700 });
    try {
      await copyFile(join(from, path), join(to, path));
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
    if (random.chance(0.05)) await Bun.sleep(pauseMs);
  }
}

function isMissing(error: unknown, ...more: string[]): boolean {
  return error instanceof Error && "code" in error && ["ENOENT", ...more].includes(String(error.code));
}

/** The copiers whose tools this machine has, and the names of the others. */
export async function availableCopiers(): Promise<{ copiers: Copier[]; absent: string[] }> {
  const rsync = (...flags: string[]) => ["rsync", "-a", ...flags];
  const copiers: (Copier & { readonly needs?: string })[] = [
    { name: "cp -a", copy: async (from, to) => runTool(["cp", "-a", from, to], [0, 1]) },
    { name: "rsync -a", needs: "rsync", copy: async (from, to) => runTool([...rsync(), `${from}/`, to], [0, 23, 24]) },
    {
      name: "tar",
      needs: "tar",
      copy: async (from, to) => {
        await mkdir(to, { mode: 0o700 });
        const pack = `tar -C '${from}' -cf - . ; code=$? ; [ $code -le 1 ]`;
        await runTool(["bash", "-c", `set -o pipefail; { ${pack}; } | tar -C '${to}' -xpf -`], [0]);
      },
    },
    copyInOrder("blobs first, snapshots last", ["blobs", "*", "snapshots"], 25),
    copyInOrder("snapshots first, blobs last", ["snapshots", "*", "blobs"], 25),
    { name: "cp -r", copy: async (from, to) => runTool(["cp", "-r", from, to], [0, 1]) },
    {
      name: "rsync -a twice",
      needs: "rsync",
      copy: async (from, to) => {
        for (const flags of [[], ["--delete"]]) await runTool([...rsync(...flags), `${from}/`, to], [0, 23, 24]);
      },
    },
    copyInOrder("database between", ["blobs", "larder.db-wal", "larder.db", "larder.state", "snapshots", "*"], 10),
    {
      name: "copy of a copy",
      copy: async (from, to) => {
        await runTool(["cp", "-a", from, `${to}-first`], [0, 1]);
        await runTool(["cp", "-a", `${to}-first`, to], [0]);
        await runTool(["rm", "-r", `${to}-first`], [0]);
      },
    },
  ];
  const found = await Promise.all(copiers.map(async ({ needs }) => needs === undefined || (await hasTool(needs))));
  return {
    copiers: copiers.filter((_, index) => found[index] === true),
    absent: copiers.filter((_, index) => found[index] !== true).map(({ name }) => name),
  };
}
