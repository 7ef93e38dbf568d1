// File systems made for a test: what a full disk, a read-only one or a power cut does can only be seen on a real one.
import { copyFile, mkdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { eventually } from "./expect.ts";
import { temporaryDirectory } from "./server.ts";

/** Runs a system command. Returns its exit code and what it wrote. */
export async function run(words: string[]): Promise<{ code: number; output: string }> {
  try {
    const child = Bun.spawn(words, { stdout: "pipe", stderr: "pipe" });
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { code: await child.exited, output: out + err };
  } catch (error) {
    return { code: 127, output: String(error) };
  }
}

/** Something mounted: where, from which image file, and how to be rid of it. */
export interface Mounted {
  /** Where it is mounted. */
  path: string;
  /** The image file of a loop mount; empty for others. */
  image: string;
  /** Unmounts it and removes what was made for it. Its users must have ended. */
  unmount: () => Promise<void>;
}

/** Why nothing can be mounted here; undefined when mounting works. Found out once by trying. */
export const mountingFails: string | undefined = await whyMountingFails();

/** A new ext4 file system in a sparse file of this folder, to be mounted by {@link mountExt4}. @returns its path */
export async function makeExt4Image(sizeMiB: number, folder: string): Promise<string> {
  const file = join(folder, "disk.img");
  await writeFile(file, "");
  await truncate(file, sizeMiB * 1024 * 1024);
  await must(["mkfs.ext4", "-q", "-F", "-m", "0", file]);
  return file;
}

/**
 * An ext4 file system in a loop file.
 *
 * @param image an existing image to mount in place of a new one; it stays after the unmounting
 * @param at where to mount it, a path that is made; its removal is the caller's. Somewhere temporary by default
 */
export async function mountExt4(sizeMiB: number, image?: string, at?: string): Promise<Mounted> {
  const folder = await temporaryDirectory();
  const file = image ?? (await makeExt4Image(sizeMiB, folder));
  // A fault makes it read-only, as it is with the root of most machines.
  return mount(folder, file, ["-o", "loop,errors=remount-ro", file], at);
}

/** Makes a mounted ext4 read-only at once, files open for writing or not, as the kernel does after a fault of the disk. */
export async function makeReadOnly({ path }: Mounted): Promise<void> {
  const mounts = await readFile("/proc/mounts", "utf8");
  const device =
    mounts
      .split("\n")
      .find((line) => line.split(" ")[1] === path)
      ?.split(" ")[0] ?? "";
  await writeFile(`/sys/fs/ext4/${basename(device)}/trigger_fs_error`, "1");
}

/**
 * Copies the image of a mounted file system as it is at one moment. The kernel writes to it whenever it likes; a copy
 * that was made meanwhile, the beginning older than the end, is nothing that a power cut leaves, and is made anew.
 */
export async function copyConsistently(image: string, copy: string): Promise<void> {
  await eventually("nothing was written to the image while it was copied", async () => {
    await copyFile(image, copy);
    return (await run(["cmp", image, copy])).code === 0;
  });
}

/** Looks through an unmounted ext4 and mends what can be mended by itself, as a machine does before it mounts one. */
export async function repairExt4(image: string): Promise<void> {
  const { code, output } = await run(["e2fsck", "-p", "-f", image]);
  // 1: mended.
  if (code > 1) throw new Error(`e2fsck ${image}: ${output}`);
}

/**
 * A tmpfs of a bounded size.
 *
 * @param at where to mount it, a path that is made; its removal is the caller's. Somewhere temporary by default
 */
export async function mountTmpfs(sizeMiB: number, at?: string): Promise<Mounted> {
  return mount(await temporaryDirectory(), "", ["-t", "tmpfs", "-o", `size=${sizeMiB}m`, "tmpfs"], at);
}

async function mount(folder: string, image: string, words: string[], at?: string): Promise<Mounted> {
  const path = at ?? join(folder, "mounted");
  await mkdir(path, { recursive: true });
  await must(["mount", ...words, path]);
  return {
    path,
    image,
    unmount: async () => {
      // Somebody may just be looking at it, as udev does at a device that was attached.
      await eventually(`${path} is unmounted`, async () => (await run(["umount", path])).code === 0);
      await rm(folder, { recursive: true });
    },
  };
}

async function must(words: string[]): Promise<void> {
  const { code, output } = await run(words);
  if (code !== 0) throw new Error(`${words.join(" ")}: ${output}`);
}

async function whyMountingFails(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return "only root may mount";
  try {
    const probe = await mountExt4(4);
    await probe.unmount();
    return undefined;
  } catch (error) {
    return String(error);
  }
}
